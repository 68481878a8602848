package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/observe"
)

func TestObservers_ServiceThatEndsLeavesNoSeriesOfItsEndpoints(t *testing.T) {
	t.Parallel()
	o := observers{metrics: observe.NewMetrics("v1")}
	scrape := func() string {
		rec := httptest.NewRecorder()
		o.metrics.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		return rec.Body.String()
	}
	for range 2 {
		one := o.metrics.Endpoint("one")
		one.Submitted()
		require.Contains(t, scrape(), `berth_jobs_submitted_total{endpoint="one"} 1`)

		var u undo
		o.watch(observe.Sources{}, &u)
		require.NoError(t, u.all(false))
		one.Lost() // by what ends late
		require.NotContains(t, scrape(), `endpoint="one"`)
	}
}
