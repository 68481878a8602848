package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPages_AreReadToTheLast(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"":  `{"networkVolumes":[%s],"pagination":{"nextCursor":"b","hasNextPage":true}}`,
		"b": `{"networkVolumes":[],"pagination":{"nextCursor":"c","hasNextPage":true}}`,
		"c": `{"networkVolumes":[%s],"pagination":{"nextCursor":null,"hasNextPage":false}}`,
	}
	one := `{"id":"v%s","name":"n","size":10,"dataCenter":"EU-RO-1","type":"STANDARD"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cursor := r.URL.Query().Get("cursor")
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, strings.ReplaceAll(pages[cursor], "%s", strings.ReplaceAll(one, "%s", cursor)))
	}))
	t.Cleanup(server.Close)

	r := call(t.Context(), "", "volumes", "list", "--json", "--server", server.URL, "--key", "k")
	require.Equal(t, 0, r.code, r.err)
	var document struct {
		NetworkVolumes []struct{ ID string }
		Pagination     map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &document))
	require.Equal(t, []struct{ ID string }{{"v"}, {"vc"}}, document.NetworkVolumes)
	require.Equal(t, map[string]any{"nextCursor": nil, "hasNextPage": false}, document.Pagination)
	r = call(t.Context(), "", "volumes", "list", "--server", server.URL, "--key", "k")
	require.Len(t, strings.Split(strings.TrimSpace(r.out), "\n"), 3)

	pages["b"] = pages[""]
	r = call(t.Context(), "", "volumes", "list", "--server", server.URL, "--key", "k")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.err, "the same cursor again")
}
