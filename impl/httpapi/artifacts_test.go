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

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
)

func TestArtifacts_AreRefusedForTheReason(t *testing.T) {
	t.Parallel()
	var flash *control.Flash
	e := openWith(t, func(s *httpapi.Services) { flash = s.Flash })
	app, err := flash.CreateApp(t.Context(), "u", "app")
	require.NoError(t, err)
	const text = "\x1f\x8babcd"
	upload, err := flash.PrepareUpload(t.Context(), "u", app.ID, int64(len(text)))
	require.NoError(t, err)

	for _, c := range []struct {
		body   io.Reader
		length int64
		status int
		says   string
	}{
		{strings.NewReader(text), 5, 400, "the body has 5 bytes, and 6 were announced as tarballSize"},
		{strings.NewReader(text), 7, 400, "the body has 7 bytes, and 6 were announced as tarballSize"},
		{strings.NewReader(text[:5]), -1, 400, "the body has not the 6 bytes that were announced as tarballSize"},
		{failing{strings.NewReader(text[:3]), fmt.Errorf("read: %w", os.ErrDeadlineExceeded)}, 6, 408, "the body came too slowly"},
		{failing{strings.NewReader(text[:3]), errors.New("the secret reason")}, 6, 400, "the body ended early"},
		{strings.NewReader(text), 6, 200, ""},
		{strings.NewReader(text), -1, 200, ""},
	} {
		req := httptest.NewRequest(http.MethodPut, upload.Path, c.body)
		req.ContentLength = c.length
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, req)
		require.Equal(t, c.status, rec.Code, "%s %s", c.says, rec.Body)
		require.Contains(t, rec.Body.String(), c.says)
		require.NotContains(t, rec.Body.String(), "secret")
	}
}
