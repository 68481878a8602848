package berth_test

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// cut is a transport by which nothing is reached.
type cut struct{}

func (cut) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("not to be used") }

// It has no t.Parallel: it changes what the whole process has.
func TestStart_NeedsNoDefaultTransport(t *testing.T) {
	before := http.DefaultTransport
	http.DefaultTransport = cut{}
	defer func() { http.DefaultTransport = before }()

	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}})
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"])
	require.NoError(t, s.Reset(t.Context()))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/readyz", nil)
	require.NoError(t, err)
	res, err := s.Client().Do(req)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NoError(t, res.Body.Close())
}

// angry is a log that panics once an endpoint gets its worker.
type angry struct{ slog.Handler }

func (a angry) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, one := range attrs {
		if one.Key == "endpoint" {
			panic("dear me")
		}
	}
	return a
}

func TestStart_ThatPanicsLeavesNothing(t *testing.T) {
	t.Parallel()
	o := berth.Options{Dir: t.TempDir(), Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}}
	o.Log = slog.New(angry{slog.DiscardHandler})
	require.PanicsWithValue(t, "dear me", func() { _, _ = berth.Start(t.Context(), o) })
	o.Log = nil
	s := berthtest.Start(t, o) // nobody has the directory
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"])
}
