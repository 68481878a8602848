package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is printed of an address is read by others, such as in the log of a build.
func TestClient_PasswordOfAnAddressIsNotPrinted(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v2/pods":
			_, _ = fmt.Fprint(w, "no document")
		case "/v2/templates":
			http.Redirect(w, r, "http://u:hush4@elsewhere.example/", http.StatusMovedPermanently)
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(other.Close)
	at := "http://u:hush4@" + other.Listener.Addr().String()

	for _, args := range [][]string{
		{"pods", "list", "--server", "http://u:hush4@127.0.0.1:1"}, {"pods", "list", "--server", "ftp://u:hush4@127.0.0.1"}, {"pods", "list", "--server", "u:hush4@127.0.0.1"},
		{"pods", "list", "--queue-server", "ftp://u:hush4@127.0.0.1"}, {"pods", "list", "--server", at}, {"templates", "create", "--name", "n", "--image", "i", "--server", at}, {"hosts", "list", "--server", at},
		{"healthcheck", "ftp://u:hush4@127.0.0.1"}, {"healthcheck", at}, {"healthcheck", "http://u:hush4@127.0.0.1:1"},
		{"record", "--upstream", "ftp://u:hush4@127.0.0.1", "file"}, {"conformance", "--target", "ftp://u:hush4@127.0.0.1", "--key", "k"}, {"pods", "exec", "aaaaaaaaaaaaaa", "--server", "http://u:hush4@127.0.0.1:1", "--", "true"},
	} {
		r := call(t.Context(), "", args...)
		require.NotZero(t, r.code, args)
		require.NotContains(t, r.err+r.out, "hush4", "%v", args)
		require.NotEmpty(t, r.err, args)
	}
	require.Contains(t, call(t.Context(), "", "pods", "list", "--server", "http://127.0.0.1:1/?api_key=hush4&x=1").err, "http://127.0.0.1:1/?api_key=***&x=1 was not reached")
	require.Contains(t, call(t.Context(), "", "pods", "list", "--server", "http://u:hush4@127.0.0.1:1").err, "http://u:xxxxx@127.0.0.1:1 was not reached")
	require.Contains(t, call(t.Context(), "", "pods", "list", "--server", "127.0.0.1:1").err, `"127.0.0.1:1" is not an http or https URL`)
}

// The server may be any, also one whose answer takes all memory.
func TestClient_AnAnswerThatIsTooLongIsRefused(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"pods":[]`)
		piece := strings.Repeat(" ", 1<<20)
		for range 65 { // MiB
			if _, err := io.WriteString(w, piece); err != nil {
				return // the client has hung up
			}
		}
	}))
	t.Cleanup(other.Close)
	r := call(t.Context(), "", "pods", "list", "--server", other.URL)
	require.Equal(t, exitRefused, r.code, r.err)
	require.Contains(t, r.err, other.URL+" answered with more than 64 MiB\n")
}
