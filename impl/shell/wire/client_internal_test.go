package wire

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBegin_GivesUpOnAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer s.Close()
	defer close(over)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	_, err = begin(t.Context(), request, 50*time.Millisecond)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
