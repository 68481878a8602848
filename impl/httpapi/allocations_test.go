package httpapi_test

import (
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// mostOfASubmission is how many pieces of memory /run may allocate, from the handler to the file and back, with those of the test
// itself: 83, and a few more under the race detector. What comes with each request is paid for by each: so nothing is to be added to it unseen.
const mostOfASubmission = 95

func TestServices_ASubmissionAllocatesLittle(t *testing.T) {
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	body := `{"input":{"prompt":"` + strings.Repeat("lorem ips ", 100) + `"}}`
	submit := func() {
		r := httptest.NewRequest("POST", "/v2/"+string(e.endpoint)+"/run", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		e.handler.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Error(w.Code, w.Body)
		}
	}

	submit() // what is made once
	got := math.Inf(1)
	for range 3 { // what else the process does meanwhile counts as well
		got = min(got, testing.AllocsPerRun(200, submit))
	}
	t.Logf("%.0f allocations", got)
	require.LessOrEqual(t, got, float64(mostOfASubmission))
}
