package ship

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// punctual is a server of S3 that refuses a date more than 15 minutes from its own, as S3 does.
type punctual struct{}

func (punctual) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		answer.StatusCode = http.StatusForbidden
		answer.Body = io.NopCloser(strings.NewReader("<Error><Code>RequestTimeTooSkewed</Code></Error>"))
	}
	return answer, nil
}

// stepped is the clock of a machine whose time of day was set forward by an hour, or that slept so long, since the process began.
type stepped struct{ compute.SystemClock }

func (stepped) Now() time.Time { return time.Now().Add(-time.Hour) }

func TestBucket_SignsByTheTimeOfDay(t *testing.T) {
	t.Parallel()
	b, err := openBucket("s3://jobs", "http://host", func(string) string { return "x" })
	require.NoError(t, err)
	require.Equal(t, compute.SystemClock{}, b.clock)
	b.client.Transport, b.clock = punctual{}, stepped{}
	require.NoError(t, b.Put(t.Context(), "a", nil))
}
