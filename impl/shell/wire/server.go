package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/coder/websocket"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// Serve answers a request that Check lets pass, and speaks of a command until run gives how it ended, or the client has gone. run gets
// the command's streams and, where tty is not nil, its terminal. What run gives as an error is shown to the client. still reports
// whether who asks may go on, and is asked from time to time.
func Serve(w http.ResponseWriter, r *http.Request, stdin bool, tty *Size, still func() bool, run func(context.Context, runtime.Exec) (int, error)) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{Protocol},
		InsecureSkipVerify: true, // the caller has looked at the origin
	})
	if err != nil {
		return // it is answered
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(mostMessage)
	base := context.WithoutCancel(r.Context()) // which ends where the connection is taken over; with that of a message the connection would
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)

	in, feed := io.Pipe()
	defer func() { _ = in.Close() }()
	e := runtime.Exec{Stdout: sender{base, ws, Stdout}, Stderr: sender{base, ws, Stderr}}
	if stdin {
		e.Stdin = in
	} else {
		_ = in.Close()
	}
	l := &listening{ws: ws, feed: feed, sizes: make(chan runtime.Size, 1)}
	if tty != nil {
		e.TTY = &runtime.TTY{Size: runtime.Size(*tty), Resize: l.sizes}
	}
	go func() { cancel(l.listen(base)) }()
	go func() { cancel(l.watch(ctx, still)) }()

	code, err := run(ctx, e)
	result := Result{ExitCode: &code}
	if err != nil {
		result = Result{Error: err.Error()}
	}
	if cause := context.Cause(ctx); cause != nil {
		if !errors.Is(cause, errRevoked) {
			return // it has gone
		}
		result = Result{Error: cause.Error()}
	}
	if send(base, ws, Status, document(result)) == nil {
		_ = ws.Close(websocket.StatusNormalClosure, "") // it may have gone before
	}
}

var (
	errRevoked = errors.New("the key may not do this any more")
	errGone    = errors.New("the client has gone")
)

// listening is the server's ear.
type listening struct {
	ws      *websocket.Conn
	feed    *io.PipeWriter
	sizes   chan runtime.Size
	feeding atomic.Bool // the command does not take its input: nothing is heard meanwhile, pongs neither
}

// listen hears the client until it goes, or says what cannot be understood.
func (l *listening) listen(ctx context.Context) error {
	defer func() { _ = l.feed.Close() }()
	for {
		channel, text, err := receive(ctx, l.ws)
		if err != nil {
			if errors.Is(err, errMessage) {
				_ = l.ws.Close(websocket.StatusUnsupportedData, err.Error())
			}
			return errGone
		}
		switch channel {
		case Stdin:
			l.feeding.Store(true)
			_, _ = l.feed.Write(text) // a command that takes no input does not mind
			l.feeding.Store(false)
		case StdinEnd:
			_ = l.feed.Close()
		case Resize:
			var size Size
			if json.Unmarshal(text, &size) == nil && size.Width > 0 && size.Height > 0 {
				select { // the last one counts
				case <-l.sizes:
				default:
				}
				l.sizes <- runtime.Size(size)
			}
		default:
			_ = l.ws.Close(websocket.StatusUnsupportedData, "a channel that clients do not speak on")
			return errGone
		}
	}
}

// watch looks from time to time whether the client is there still, and may go on.
func (l *listening) watch(ctx context.Context, still func() bool) error {
	for {
		over, stop := compute.SystemClock{}.After(pingTick)
		select {
		case <-over:
		case <-ctx.Done():
			stop()
			return nil
		}
		if !still() {
			return errRevoked
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTime)
		err := l.ws.Ping(within)
		late := within.Err() != nil
		cancel()
		if err != nil && ctx.Err() == nil && (!late || !l.feeding.Load()) {
			return errGone
		}
	}
}
