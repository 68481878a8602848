package conformance

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a rule set and left, the next one does not meet, however the first ended; where nothing was set, nothing is sent.
func TestCheck_BeginsWhereTheRuleBeforeSetNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var puts []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		puts = append(puts, r.Method+" "+strings.TrimPrefix(r.URL.Path, controlsPath))
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	documents, err := LoadDocuments("")
	require.NoError(t, err)

	s := &Suite{Target: Target{URL: server.URL, ControlsKey: "key"}, Documents: documents}
	rule := func(test func(c *Check)) []string {
		mu.Lock()
		puts = nil
		mu.Unlock()
		r := &recorder{}
		c := s.NewCheck(t.Context(), r, r.skip)
		c.begin()
		test(c)
		failure, _ := r.outcome()
		require.Empty(t, failure)
		mu.Lock()
		defer mu.Unlock()
		return puts
	}

	all := []string{"PUT faults", "PUT storage", "PUT quotas"}
	require.Equal(t, all, rule(func(*Check) {}), "nobody knows what was before")
	require.Empty(t, rule(func(*Check) {}))
	for _, sent := range []string{"PUT faults", "POST faults", "PUT storage", "PUT quotas"} {
		method, path, _ := strings.Cut(sent, " ")
		set := rule(func(c *Check) { _, _ = c.exchange(Request{Method: method, URL: c.URL + controlsPath + path}) })
		require.Equal(t, []string{sent}, set)
		require.Equal(t, all, rule(func(*Check) {}), "after %s", sent)
	}

	require.True(t, disturbs("POST", "reset"))
	require.True(t, disturbs("PUT", "quotas?user=a"))
	require.False(t, disturbs("GET", "faults"))
	require.False(t, disturbs("POST", "clock/advance"))
}
