package replica

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestKeptBody_SecondReadingDoesNotBeginInTheMiddle: the first one, of a request that was declined, still waits for more as it begins, and what
// it gets then is not kept any more.
func TestKeptBody_SecondReadingDoesNotBeginInTheMiddle(t *testing.T) {
	t.Parallel()
	beginning, middle := bytes.Repeat([]byte("b"), 60<<10), bytes.Repeat([]byte("m"), 8<<10)
	for name, c := range map[string]struct {
		most int64 // of all bodies
		had  int   // that the second has read before
	}{
		"it is too long":               {mostKeptHere, 0},
		"there is no room":             {62 << 10, 0},
		"it has read what was kept":    {mostKeptHere, len(beginning)},
		"it has read some of what was": {mostKeptHere, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				body := keep(httptest.NewRequest(http.MethodPost, "/", in), &bound{most: c.most})
				first, second := &reading{body: body}, &reading{body: body}
				go func() { _, _ = out.Write(beginning) }()
				_, err := io.ReadFull(first, make([]byte, len(beginning)))
				require.NoError(t, err)
				require.True(t, body.repeats())
				had := make([]byte, c.had)
				_, err = io.ReadFull(second, had)
				require.NoError(t, err)
				require.Equal(t, beginning[:c.had], had)

				rest := make(chan []byte, 1)
				go func() {
					text := make([]byte, 2*len(middle))
					n, _ := first.Read(text)
					rest <- text[:n]
				}()
				synctest.Wait()
				_, err = out.Write(middle)
				require.NoError(t, err)
				require.Equal(t, middle, <-rest, "who has had the beginning goes on")
				go func() { _, _ = out.Write(middle) }()
				n, err := second.Read(make([]byte, 100))
				require.ErrorIs(t, err, errLong)
				require.Zero(t, n)
				_, err = io.ReadFull(first, make([]byte, len(middle)))
				require.NoError(t, err)
				require.NoError(t, out.Close())
				_, err = first.Read(make([]byte, 100))
				require.ErrorIs(t, err, io.EOF)
				_, err = second.Read(make([]byte, 100))
				require.ErrorIs(t, err, errLong, "it is not at the end, either")
			})
		})
	}
}
