package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

// taken is the answer to a request whose connection is a pipe, which holds nothing that its other side has not read.
type taken struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

// Hijack gives the pipe.
func (t taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return t.conn, bufio.NewReadWriter(bufio.NewReader(t.conn), bufio.NewWriter(t.conn)), nil
}

// served has a command be spoken of. It gives the client's side, and what is closed once the server has done with it.
func served(t *testing.T, ending context.Context, still func() bool, run func(context.Context, runtime.Exec) (int, error)) (peer, <-chan struct{}) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close() })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": Protocol,
	} {
		r.Header.Set(name, value)
	}
	require.NoError(t, Check(r))
	over := make(chan struct{})
	go func() {
		defer close(over)
		Serve(ending, taken{httptest.NewRecorder(), theirs}, r, false, nil, still, run)
	}()
	return peer{ours}, over
}

// peer is a client that reads when it is told to.
type peer struct{ net.Conn }

// The kinds of frames.
const (
	binaryFrame = 2
	closeFrame  = 8
	pingFrame   = 9
	pongFrame   = 10
)

// frame reads one.
func (p peer) frame() (kind byte, text string, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(p, head); err != nil {
		return 0, "", err
	}
	size := int(head[1])
	if size == 126 {
		long := make([]byte, 2)
		if _, err := io.ReadFull(p, long); err != nil {
			return 0, "", err
		}
		size = int(binary.BigEndian.Uint16(long))
	}
	body := make([]byte, size)
	_, err = io.ReadFull(p, body)
	return head[0] & 15, string(body), err
}

// hear gives the messages until the connection ends, and answers pings and the end.
func (p peer) hear() (said []string) {
	for {
		kind, text, err := p.frame()
		if err != nil {
			return said
		}
		switch kind {
		case binaryFrame:
			said = append(said, text)
		case pingFrame, closeFrame:
			answer := map[byte]byte{pingFrame: pongFrame, closeFrame: closeFrame}[kind]
			_, _ = p.Write(append([]byte{128 | answer, 128 | byte(len(text)), 0, 0, 0, 0}, text...)) // it may have gone
		}
	}
}

func always() bool { return true }

// output says something twice, and notes when that was over, and how.
func output(since time.Time, took *time.Duration, failure *error) func(context.Context, runtime.Exec) (int, error) {
	return func(_ context.Context, e runtime.Exec) (int, error) {
		for _, text := range []string{"one", "two"} {
			if _, *failure = io.WriteString(e.Stdout, text); *failure != nil {
				break
			}
		}
		*took = time.Since(since)
		return 0, nil
	}
}

func TestServe_ReaderThatPausesGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		var failure error
		client, over := served(t, t.Context(), always, output(time.Now(), &took, &failure))
		time.Sleep(pingTick + pingTime - 2*time.Second) // a ping is due meanwhile, which could not get out
		require.Equal(t, []string{"\x01one", "\x01two", "\x03" + `{"exitCode":0}`}, client.hear())
		<-over
	})
}

// TestServe_WhoTakesNothingIsGivenUp: after a minute, and where the session is over for them or for all, after a second.
func TestServe_WhoTakesNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	never := func() bool { return false }
	for name, c := range map[string]struct {
		still func() bool
		ends  time.Duration
		want  time.Duration
	}{
		"no end":              {always, time.Hour, sendTime},
		"the server ends":     {always, 10 * time.Second, 10*time.Second + lastTime},
		"the key was revoked": {never, time.Hour, pingTick + lastTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			ending, cancel := context.WithTimeout(t.Context(), c.ends)
			defer cancel()
			var took time.Duration
			var failure error
			begin := time.Now()
			_, over := served(t, ending, c.still, output(begin, &took, &failure))
			<-over
			require.Error(t, failure, name)
			require.Equal(t, c.want, took, name)
			require.Equal(t, c.want, time.Since(begin), name)
		})
	}
}

// TestServe_WhoReadsHearsHowTheServersEndEndsTheCommand: a command may take two seconds to end, and say something.
func TestServe_WhoReadsHearsHowTheServersEndEndsTheCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ending, end := context.WithCancel(t.Context())
		client, over := served(t, ending, always, func(_ context.Context, e runtime.Exec) (int, error) {
			<-ending.Done()
			for range 4 {
				time.Sleep(runtime.HangUpTime / 4)
				if _, err := io.WriteString(e.Stdout, "a last word"); err != nil {
					return 0, err
				}
			}
			return 0, errors.New("the server ends")
		})
		time.AfterFunc(10*time.Second, end)
		word := "\x01a last word"
		require.Equal(t, []string{word, word, word, word, "\x03" + `{"error":"the server ends"}`}, client.hear())
		<-over
	})
}
