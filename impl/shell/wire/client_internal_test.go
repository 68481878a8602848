package wire

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

func TestBegin_GivesUpOnAServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer s.Close()
	defer close(over)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	_, err = begin(t.Context(), request, 50*time.Millisecond, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A command may take none of its input for any time: the connection lasts, though no ping can be answered meanwhile.
func TestRun_CommandThatTakesNoInputForAWhileIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Protocol}})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		ws.SetReadLimit(2 * mostMessage)
		full, _ := compute.SystemClock{}.After(time.Second) // what takes what the client says meanwhile
		<-full
		ctx, stop := context.WithTimeout(r.Context(), 7*time.Second) // longer than the library waits for the answer to a ping
		_ = ws.Ping(ctx)
		<-ctx.Done()
		stop()

		ended := false
		for !ended {
			channel, _, err := receive(r.Context(), ws)
			if err != nil {
				t.Error(err)
				return
			}
			ended = channel == StdinEnd
		}
		_ = send(r.Context(), ws, Status, document(Result{ExitCode: new(3)}))
		_, _, _ = receive(r.Context(), ws)
	}))
	defer s.Close()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	code, err := Run(t.Context(), request, runtime.Exec{Stdin: io.LimitReader(zeros{}, 64<<20)})
	require.NoError(t, err)
	require.Equal(t, 3, code)
}

// zeros is a reader without an end.
type zeros struct{}

// Read gives zeros.
func (zeros) Read(p []byte) (int, error) { return len(p), nil }
