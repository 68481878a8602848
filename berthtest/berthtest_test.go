package berthtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// judged is a test whose failures are kept.
type judged struct {
	testing.TB
	failures []string
}

func (j *judged) Errorf(format string, args ...any) {
	j.failures = append(j.failures, fmt.Sprintf(format, args...))
}

func TestVerify_MayComeOnceTheTestIsOver(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	t.Cleanup(func() {
		j := &judged{TB: t}
		berthtest.Verify(j, s, berth.Expectation{Operation: new("getPod")})
		require.Len(t, j.failures, 1)
	})
}

func TestVerify_FailsWithTheNearestRequest(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v2/pods/nosuchpod", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Key())
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())

	j := &judged{TB: t}
	berthtest.Verify(j, s, berth.Expectation{Operation: new("getPod"), Status: new("404")})
	require.Empty(t, j.failures)
	berthtest.Verify(j, s,
		berth.Expectation{Operation: new("getPod"), Status: new("200")},
		berth.Expectation{Body: []berth.BodyExpectation{{Pointer: "/a", Equals: json.RawMessage("1")}}},
	)
	require.Equal(t, []string{
		"requests with operation getPod, status 200: expected at least 1, found 0",
		"  the nearest request, number 1: status is 404, expected 200",
		"requests with body /a 1: expected at least 1, found 0",
	}, j.failures)
}
