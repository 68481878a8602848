//go:build unix

package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestReplica_AuditHasTheClientOfWhoeverTookTheRequest(t *testing.T) {
	t.Parallel()
	replicas, key := startReplicas(t, 2, app.Config{TrustedProxies: []string{"127.0.0.2"}})
	trusting, _ := startReplicas(t, 2, app.Config{TrustedProxies: []string{"127.0.0.1"}})
	for _, c := range []struct {
		all  []*app.Server
		key  string
		want string
	}{{replicas, key, "127.0.0.1"}, {trusting, trusting[0].FirstKey(), "198.51.100.1"}} {
		for _, s := range c.all { // one of them passes it on
			refusedFrom(t, s.URL(), "198.51.100.1")
			require.Equal(t, 200, forwardedFor(t, s.URL(), c.key, "198.51.100.1"))
		}

		counted := 0.0
		for _, r := range refusalsOf(t, c.all[0].URL(), c.key, "") {
			require.Equal(t, c.want, r["client"])
			counted += r["count"].(float64)
		}
		require.InDelta(t, len(c.all), counted, 0)
		_, list := call(t, http.MethodGet, c.all[0].URL()+"/_berth/audit?kind=ssh-keys", c.key, "")
		require.Len(t, list["entries"], len(c.all))
		for _, e := range list["entries"].([]any) {
			require.Equal(t, c.want, e.(map[string]any)["client"])
		}
	}
}
