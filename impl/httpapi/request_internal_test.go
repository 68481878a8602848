package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
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
