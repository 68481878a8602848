package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// ErrEnded says that a connection ended before it was said how the command did.
var ErrEnded = errors.New("the connection ended before the command did")

// Refused is the answer of a server that does not begin: its status and its body.
type Refused struct {
	Status string
	Code   int
	Header http.Header
	Body   []byte // the first of it
}

// Error gives the status.
func (r *Refused) Error() string { return "the server answers " + r.Status }

// Params is what a request says of the command.
func Params(e runtime.Exec) (p controls.ExecPodParams) {
	p.Command = e.Command
	if e.Stdin != nil {
		p.Stdin = new(true)
	}
	if e.TTY == nil {
		return p
	}
	p.Tty = new(true)
	if e.TTY.Width > 0 && e.TTY.Height > 0 {
		p.Width, p.Height = new(int64(e.TTY.Width)), new(int64(e.TTY.Height))
	}
	return p
}

// Run has the command run by the server, whose answer to the request, which has the Params of the command, is a websocket, and gives its exit code.
// The error is a *Refused, ErrEnded, that of ctx, what the server says of the command, or that of the reader or a writer. A server that does not
// answer within half a minute is given up; then the command may take as long as it does.
func Run(ctx context.Context, request *http.Request, e runtime.Exec) (int, error) {
	v := &voice{turn: make(chan struct{}, 1)}
	ws, err := begin(ctx, request, beginTime, v.pinged)
	if err != nil {
		return 0, err
	}
	v.ws = ws
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(2 * mostMessage)
	if ws.Subprotocol() != Protocol {
		return 0, fmt.Errorf("the server does not speak %s", Protocol)
	}

	over := make(chan struct{})
	defer close(over)
	outer := ctx
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if e.Stdin != nil {
		go func() {
			in := &input{from: e.Stdin}
			_, err := io.Copy(sender(func(text []byte) error { return v.say(ctx, Stdin, text) }), in)
			switch {
			case in.err != nil: // the command would wait for the rest
				giveUp(fmt.Errorf("the standard input: %w", in.err))
			case err == nil:
				_ = v.say(ctx, StdinEnd, nil) // the command may have ended
			}
		}()
	}
	if e.TTY != nil {
		go e.TTY.Follow(over, func(s runtime.Size) { _ = v.say(ctx, Resize, document(Size(s))) })
	}
	code, err := hear(ctx, ws, e)
	if err != nil && ctx.Err() != nil && outer.Err() == nil {
		err = context.Cause(ctx)
	}
	return code, err
}

// voice is what the client says, a message at a time. A command that takes no input for a while is waited for: the server knows of it.
type voice struct {
	ws   *websocket.Conn
	turn chan struct{} // has one element while something is said
}

// say says it, however long the other side does not take it.
func (v *voice) say(ctx context.Context, c Channel, text []byte) error {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return write(ctx, v.ws, c, text)
}

// Times of the answer to a ping. The library ends a connection that does not take the answer within 5 s.
const (
	pongWait = 2 * time.Second       // for what is being said
	pongTurn = 50 * time.Millisecond // in which nothing else is said
)

// pinged reports whether a ping can be answered now. Where the command takes no input, what is being said holds the answer up: there is none, which
// the server takes for no sign of death then.
func (v *voice) pinged(context.Context, []byte) bool {
	late, stop := compute.SystemClock{}.After(pongWait)
	defer stop()
	select {
	case v.turn <- struct{}{}:
		compute.SystemClock{}.Call(pongTurn, func() { <-v.turn })
		return true
	case <-late:
		return false
	}
}

// input is what a command reads. It keeps the error of the reader, which is none of the connection.
type input struct {
	from io.Reader
	err  error
}

// Read reads.
func (i *input) Read(p []byte) (n int, err error) {
	if n, err = i.from.Read(p); err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	return n, err
}

// begin asks the server for the websocket, which it must answer within that time. The websocket may last.
func begin(ctx context.Context, request *http.Request, within time.Duration, pinged func(context.Context, []byte) bool) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ws, answer, err := websocket.Dial(ctx, request.URL.String(), &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPHeader: request.Header, Subprotocols: []string{Protocol}, OnPingReceived: pinged,
	})
	if err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, mostMessage)) // the library keeps the first part of it
		return nil, &Refused{Status: answer.Status, Code: answer.StatusCode, Header: answer.Header, Body: body}
	}
	return ws, err
}

// hear takes what the server says until it says how the command ended.
func hear(ctx context.Context, ws *websocket.Conn, e runtime.Exec) (int, error) {
	stdout, stderr := e.Outputs()
	for {
		channel, text, err := receive(ctx, ws)
		if err != nil {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return 0, fmt.Errorf("%w: %w", ErrEnded, err)
		}

		switch channel {
		case Stdout:
			_, err = stdout.Write(text)
		case Stderr:
			_, err = stderr.Write(text)
		case Status:
			var r Result
			if err := json.Unmarshal(text, &r); err != nil {
				return 0, fmt.Errorf("how the command ended cannot be read: %w", err)
			}
			_ = ws.Close(websocket.StatusNormalClosure, "") // it need not be heard
			if r.ExitCode == nil {
				return 0, errors.New(r.Error)
			}
			return *r.ExitCode, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
