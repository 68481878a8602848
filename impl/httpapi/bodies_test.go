package httpapi_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
)

// failing is a body that begins, and then cannot be read any more.
type failing struct {
	begins io.Reader
	err    error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.begins.Read(p)
	if errors.Is(err, io.EOF) {
		return n, f.err
	}
	return n, err
}

func TestBodies_ThatDoNotComeAreRefusedForTheReason(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{fmt.Errorf("read: %w", os.ErrDeadlineExceeded), 408, "the body came too slowly"},
		{errors.New("the secret reason"), 400, "the body ended early"},
		{io.ErrUnexpectedEOF, 400, "the body ended early"},
		{compute.Errorf(compute.Unavailable, "there is no room for the body"), 503, "there is no room for the body"},
	} {
		for _, path := range []string{"/v2/pods", "/v2/" + string(e.endpoint) + "/run"} {
			req := httptest.NewRequest(http.MethodPost, path, failing{strings.NewReader(`{"input":`), c.err})
			req.ContentLength = 100
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			e.handler.ServeHTTP(answer, req)
			require.Equal(t, c.status, answer.Code, "%s: %v", path, c.err)
			require.Contains(t, answer.Body.String(), c.says)
			require.NotContains(t, answer.Body.String(), "secret")
		}
	}
}

func TestBodies_AreLimitedToTheByte(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	for path, most := range map[string]int{"/v2/pods": 102_400, "/v2/serverless": 1 << 20} {
		for _, known := range []bool{true, false} {
			for length, want := range map[int]int{most: 400, most + 1: 413} {
				req := with("POST", path, token, strings.Repeat(" ", length))
				if !known {
					req.ContentLength = -1
				}
				answer := e.serve(req)
				require.Equal(t, want, answer.Code, "%s %d, known: %t", path, length, known)
				if want == 413 {
					require.Contains(t, answer.Body.String(), fmt.Sprintf("the body is over the limit of %d bytes", most))
				}
			}
		}
	}
}

func TestBodies_AreJSONAndNotCompressed(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	text := with("POST", "/v2/pods", token, pod)
	text.Header.Set("Content-Type", "text/plain")
	answer := e.serve(text)
	require.Equal(t, 415, answer.Code)
	require.Empty(t, answer.Header().Get("Accept-Encoding"))
	packed := with("POST", "/v2/pods", token, pod)
	packed.Header.Set("Content-Encoding", "gzip")
	answer = e.serve(packed)
	require.Equal(t, 415, answer.Code)
	require.Equal(t, "identity", answer.Header().Get("Accept-Encoding"))
}

func TestBodies_AKeyThatIsRevokedWhileOneComesIsNotGood(t *testing.T) {
	t.Parallel()
	maker := &builder{}
	e := openWith(t, func(s *httpapi.Services) {
		archives, err := limit.NewArchives(t.TempDir(), 100, 2)
		require.NoError(t, err)
		s.Builds, s.Archives = maker, archives
	})
	for path, kind := range map[string]string{"/v2/" + string(e.endpoint) + "/run": "application/json", "/_berth/endpoints/one/builds": "application/x-tar"} {
		key, token, err := e.keyring.Create(t.Context(), control.NewKey{UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
		require.NoError(t, err)
		body, sent := io.Pipe()
		r := with("POST", path, token, "")
		r.Header.Set("Content-Type", kind)
		r.Body, r.ContentLength = body, -1
		answered := make(chan *httptest.ResponseRecorder, 1)
		go func() { answered <- e.serve(r) }()

		_, err = io.WriteString(sent, `{"input":`)
		require.NoError(t, err)
		<-time.After(time.Second)
		require.NoError(t, e.keyring.Revoke(t.Context(), key.ID))
		_, err = io.WriteString(sent, `{}}`)
		require.NoError(t, err)
		require.NoError(t, sent.Close())
		require.Equal(t, 401, (<-answered).Code, path)
	}
	require.Empty(t, maker.text)
}
