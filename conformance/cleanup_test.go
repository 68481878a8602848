package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// untidy is a Check whose rule left one of everything.
func untidy(t *testing.T, url string) *Check {
	documents, err := LoadDocuments("")
	require.NoError(t, err)
	s := &Suite{Target: Target{URL: url, QueueURL: url, Key: "key", ControlsKey: "controls"}, Documents: documents}
	r := &recorder{}
	c := s.NewCheck(t.Context(), r, r.skip)
	c.sshKeys = map[string]any{"keys": []any{`a "b"`, "c"}}
	c.ran = map[string]bool{url + "/v2/e/cancel/1": true, url + "/v2/e/cancel/2": true}
	c.made = []resource{{url, templates + "/t", "Bearer key"}, {url, "/v2/pods/p", "Bearer key"}, {url, "/v2/pods/other", "Bearer other"}}
	c.keys, c.users = []string{"k1", "k2"}, []string{"u"}
	return c
}

// takesBack cleans up as after a rule that failed, and gives what was sent, without what says how.
func takesBack(t *testing.T, why error, answer http.HandlerFunc) []string {
	var mu sync.Mutex
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var document struct{ Query string }
		_ = json.Unmarshal(body, &document)
		mu.Lock()
		sent = append(sent, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+document.Query))
		mu.Unlock()
		answer(w, r)
	}))
	defer server.Close()

	c := untidy(t, server.URL)
	if why != nil {
		c.suite.stop(why)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		defer c.cleanUp()
		c.FailNow()
	}()
	<-ended
	mu.Lock()
	defer mu.Unlock()
	return sent
}

// everything is what untidy has to be taken back, where nothing that is sent succeeds.
var everything = []string{
	"PUT " + sshKeyPath, `POST /graphql mutation{updateUserSettings(input:{pubKey:"a \"b\"\nc"}){id pubKey}}`,
	"POST /v2/e/cancel/1", "POST /v2/e/cancel/2", `POST /graphql mutation{ a0:podTerminate(input:{podId:"p"})}`,
	"DELETE /v2/pods/p", "DELETE /v2/pods/other", "DELETE " + templates + "/t",
	"DELETE /_berth/keys/k1", "DELETE /_berth/keys/k2", "DELETE /_berth/users/u",
}

func TestCleanUp_TriesEachStepAfterOneThatFailed(t *testing.T) {
	t.Parallel()
	sent := takesBack(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	require.ElementsMatch(t, everything, sent)
	require.Equal(t, everything[0], sent[0], "what the user had goes first")
}

func TestCleanUp_IsTriedThoughLimitsEndedTheRun(t *testing.T) {
	t.Parallel()
	sent := takesBack(t, (*Suite)(nil).refusedFor(time.Hour), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == graphqlPath:
			_, _ = io.WriteString(w, `{"data":{"a0":null,"updateUserSettings":{"id":"u","pubKey":""}}}`)
		case !strings.HasPrefix(r.URL.Path, controlsPath):
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	})
	deleted := slices.DeleteFunc(slices.Clone(everything), func(line string) bool { return line == "DELETE /v2/pods/p" })
	require.ElementsMatch(t, deleted, sent, "over GraphQL the pod was deleted")
}

func TestCleanUp_AsksNothingOfATargetThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	require.Empty(t, takesBack(t, ErrUnreached, func(http.ResponseWriter, *http.Request) {}))
}
