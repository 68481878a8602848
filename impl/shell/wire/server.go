package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// Serve answers a request that Check lets pass, and speaks of a command until run gives how it ended, or the client has gone. run gets
// the command's streams and, where tty is not nil, its terminal. What run gives as an error is shown to the client. still reports
// whether who asks may go on, and is asked from time to time. Once ending has ended, and run with it, a client that takes nothing is waited for
// no longer.
func Serve(ending context.Context, w http.ResponseWriter, r *http.Request, stdin bool, tty *Size, still func() bool, run func(context.Context, runtime.Exec) (int, error)) {
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
	l := &listening{ws: ws, feed: feed, sizes: make(chan runtime.Size, 1)}
	say, quiet := l.mouth(ending, ctx)
	defer quiet()
	says := func(c Channel) sender { return func(text []byte) error { return say(c, text) } }
	e := runtime.Exec{Stdout: says(Stdout), Stderr: says(Stderr)}
	if stdin {
		e.Stdin = in
	} else {
		_ = in.Close()
	}
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
	if say(Status, document(result)) == nil {
		_ = ws.Close(websocket.StatusNormalClosure, "") // it may have gone before
	}
}

var (
	errRevoked = errors.New("the key may not do this any more")
	errGone    = errors.New("the client has gone")
)

// lastTime is for the client to take a message once its session is over.
const lastTime = time.Second

// mouth gives what says something to the client, until quiet is called. It gives up on who does not take a message in time, of which there is little
// once one of the two contexts has ended: then also for what is being said already.
func (l *listening) mouth(ending, ctx context.Context) (say func(Channel, []byte) error, quiet func()) {
	base := context.WithoutCancel(ctx)
	over, end := context.WithCancel(ctx)
	patience, lose := context.WithCancel(base)
	stopEnding := context.AfterFunc(ending, end)
	stopOver := context.AfterFunc(over, func() { compute.SystemClock{}.Call(lastTime, lose) })

	say = func(c Channel, text []byte) error {
		l.saying.Add(1)
		defer l.saying.Add(-1)
		if over.Err() == nil {
			return send(patience, l.ws, c, text)
		}
		last, cancel := context.WithTimeout(base, lastTime)
		defer cancel()
		return send(last, l.ws, c, text)
	}
	return say, func() {
		stopEnding()
		stopOver()
		end()
		lose()
	}
}

// listening is the server's ear.
type listening struct {
	ws      *websocket.Conn
	feed    *io.PipeWriter
	sizes   chan runtime.Size
	feeding atomic.Bool  // the command does not take its input: nothing is heard meanwhile, pongs neither
	heard   atomic.Int64 // messages so far
	saying  atomic.Int64 // messages that the client is yet to take
}

// listen hears the client until it goes, or says what cannot be understood.
func (l *listening) listen(ctx context.Context) error {
	defer func() { _ = l.feed.Close() }()
	for {
		channel, text, err := receive(ctx, l.ws)
		l.heard.Add(1)
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
		if l.saying.Load() > 0 {
			continue // no ping gets past it, and it has a time of its own
		}
		heard := l.heard.Load()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTime)
		err := l.ws.Ping(within)
		late := within.Err() != nil
		cancel()

		switch {
		case err == nil, ctx.Err() != nil, l.saying.Load() > 0:
		case late:
			if !l.feeding.Load() && l.heard.Load() == heard {
				return errGone
			}
		case !errors.Is(err, context.DeadlineExceeded): // the library has 5 s for a ping to get out: it waited for what was said, or the ear hears of the end
			return errGone
		}
	}
}
