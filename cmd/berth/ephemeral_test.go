package main

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServe_EphemeralKeepsNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	left := func() []os.DirEntry {
		entries, err := os.ReadDir(temporary)
		require.NoError(t, err)
		return entries
	}

	var keys []string
	for range 2 {
		var ready struct{ URL, Key string }
		runServer(t, func(line []byte) {
			require.NoError(t, json.Unmarshal(line, &ready))
			require.Len(t, left(), 1)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ready.URL+"/v2/pods", nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+ready.Key)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, 200, res.StatusCode)
		}, "serve", "--json", "--ephemeral", "--listen", "127.0.0.1:0")
		require.Empty(t, left())
		keys = append(keys, ready.Key)
	}
	require.NotEqual(t, keys[0], keys[1], "the second server has the database of the first")
}

func TestServe_EphemeralRefusesWhatSaysWhereToKeep(t *testing.T) {
	t.Setenv("BERTH_CONFIG", os.DevNull)
	for _, c := range []struct{ flag, value, says string }{
		{"--data", t.TempDir(), "and --data says where"},
		{"--store", "postgres://nobody@nowhere/none", "and --store says where"},
	} {
		got := call(t.Context(), "", "serve", "--ephemeral", c.flag, c.value)
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, "--ephemeral keeps nothing, "+c.says)
	}

	t.Setenv("BERTH_DATA", t.TempDir())
	got := call(t.Context(), "", "serve", "--ephemeral")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "and BERTH_DATA: data says where")
	require.Contains(t, got.err, "leave one of them out")
}
