package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

func TestHead_HasEachValueInItsOwnHeader(t *testing.T) {
	t.Parallel()
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder())
	var h head
	for _, name := range []string{"A", "B", "C", "D"} { // one more than there is room for
		h.set(c, name, "of "+name)
	}

	sent := c.Response().Header()
	sent.Add("A", "more") // beside B, which stays
	require.Equal(t, http.Header{"A": {"of A", "more"}, "B": {"of B"}, "C": {"of C"}, "D": {"of D"}}, sent)
}

func TestDates_AreThoseOfTheClock(t *testing.T) {
	t.Parallel()
	var d dates
	now := time.Date(2026, 11, 26, 5, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, 999 * time.Millisecond, time.Second, time.Hour, 0} { // back, too
		at := now.Add(after)
		require.Equal(t, at.Format(http.TimeFormat), d.text(at))
	}
}

func TestRequest_LongAnswersHaveTheirMemoryCounted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bodies")
	bodies, err := limit.NewBodies(dir, time.Minute)
	require.NoError(t, err)
	answer := func(size int) (*httptest.ResponseRecorder, error) {
		rec := httptest.NewRecorder()
		r := &request{Context: echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), rec), bodies: bodies, caller: caller{Key: compute.Key{ID: "k"}}}
		const around = 3 // the quotes and the end of the line
		return rec, r.JSON(http.StatusAccepted, strings.Repeat("x", size-around))
	}

	for _, size := range []int{10, 64 << 10, 64<<10 + 1, 1_000_000} {
		rec, err := answer(size)
		require.NoError(t, err)
		require.Equal(t, []int{http.StatusAccepted, size}, []int{rec.Code, rec.Body.Len()})
		require.Contains(t, rec.Header().Get("Content-Type"), "application/json")
	}
	one, err := bodies.Text("one", make([]byte, 20_000_000))
	require.NoError(t, err)
	other, err := bodies.Text("other", make([]byte, 12_000_000))
	require.NoError(t, err)
	require.True(t, one.InMemory() && other.InMemory(), "what the answers had is given back")

	// Others have all memory, and there is no place for files.
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	rec, err := answer(64<<10 + 1)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.Zero(t, rec.Body.Len(), "there is an answer to come")
	rec, err = answer(64 << 10)
	require.NoError(t, err)
	require.Equal(t, 64<<10, rec.Body.Len(), "a short one counts for nothing")
	one.Close()
	other.Close()
}
