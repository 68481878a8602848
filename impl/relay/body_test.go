package relay_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/relay"
)

// taken is a body of which somebody else reads the rest.
type taken struct {
	io.Reader
	err error
}

func (t taken) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err != nil {
		err = t.err
	}
	return n, err
}

func (taken) Close() error { return nil }

func TestBody_WaitsForWhatWasTakenAway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		length int64
		err    error
		waits  bool
	}{
		"read to its end":      {4, io.EOF, false},
		"of no known length":   {-1, io.EOF, false},
		"read by the server":   {8, io.EOF, true},
		"closed by the server": {-1, http.ErrBodyReadAfterClose, true},
		"cut by the client":    {8, io.ErrUnexpectedEOF, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, over := context.WithCancel(t.Context())
				defer over()
				read := make(chan string, 1)
				go func() {
					text, _ := io.ReadAll(relay.Body(ctx, taken{strings.NewReader("some"), c.err}, c.length))
					read <- string(text)
				}()

				synctest.Wait()
				if c.waits {
					require.Empty(t, read)
					over()
				}
				require.Equal(t, "some", <-read)
			})
		})
	}
}
