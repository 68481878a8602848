package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/berthdev/berth/impl/runtime"
)

// execProtocol is how the streams of a command share a websocket: the first byte of each message says of which stream it is. Earlier versions
// cannot say that an input has ended.
const execProtocol = "v5.channel.k8s.io"

// The streams of a command.
const (
	streamStdin  = 0
	streamStdout = 1
	streamStderr = 2
	streamStatus = 3 // how it ended
	streamResize = 4
	streamClose  = 255 // the stream of the next byte ends
)

const (
	mostFrame = 1 << 20  // bytes of one message of the server
	mostInput = 32 << 10 // bytes of one message to it
)

// attach runs a command in a Pod and gives its exit code. The errors are errNotBegun, *apiError, ErrUnavailable where the connection was cut, those of the
// writers and that of ctx.
func (c *client) attach(ctx context.Context, name string, e runtime.Exec) (int, error) {
	what := "run a command in pod " + name
	conn, err := c.dial(ctx, what, c.path(pods, name, "exec")+"?"+execQuery(e).Encode())
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(mostFrame)

	ctx, over := context.WithCancel(ctx)
	defer over()
	if e.TTY != nil {
		resize := func(size runtime.Size) {
			text, _ := json.Marshal(size)                                                       // two numbers
			_ = conn.Write(ctx, websocket.MessageBinary, append([]byte{streamResize}, text...)) // or the terminal stays as it is
		}
		if e.TTY.Size != (runtime.Size{}) {
			resize(e.TTY.Size)
		}
		go e.TTY.Follow(ctx.Done(), resize)
	}
	if e.Stdin != nil {
		go feed(ctx, conn, e)
	}
	return receive(ctx, conn, what, e)
}

// dial opens a websocket at a path.
func (c *client) dial(ctx context.Context, what, path string) (*websocket.Conn, error) {
	short, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	request, err := http.NewRequestWithContext(short, http.MethodGet, c.server+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "berth")
	if err := c.authorize(request); err != nil {
		return nil, fmt.Errorf("%w: kubernetes: %s: %w", runtime.ErrUnavailable, what, err)
	}

	conn, answer, err := websocket.Dial(short, request.URL.String(), &websocket.DialOptions{ //nolint:bodyclose // it never is to be closed
		HTTPClient: c.sockets, HTTPHeader: request.Header, Subprotocols: []string{execProtocol}, CompressionMode: websocket.CompressionDisabled,
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && answer != nil && answer.StatusCode >= http.StatusBadRequest:
		return nil, refusal(what, answer)
	case err != nil:
		return nil, unreachable(what, err)
	case conn.Subprotocol() != execProtocol:
		_ = conn.CloseNow()
		return nil, fmt.Errorf("kubernetes: %s: the API server does not speak %s, which Kubernetes 1.30 and later do", what, execProtocol)
	}
	return conn, nil
}

// feed sends the input until it ends.
func feed(ctx context.Context, conn *websocket.Conn, e runtime.Exec) {
	message := make([]byte, 1+mostInput)
	message[0] = streamStdin
	for {
		n, err := e.Stdin.Read(message[1:])
		if n > 0 && conn.Write(ctx, websocket.MessageBinary, message[:1+n]) != nil {
			return
		}
		if err != nil {
			break
		}
	}
	if e.TTY == nil {
		_ = conn.Write(ctx, websocket.MessageBinary, []byte{streamClose, streamStdin}) // it need not take everything
	}
}

// receive takes what the command writes until the server closes the connection, and gives its exit code.
func receive(ctx context.Context, conn *websocket.Conn, what string, e runtime.Exec) (code int, err error) {
	stdout, stderr := e.Outputs()
	ended, result := false, error(nil)
	for {
		_, message, err := conn.Read(ctx)
		switch {
		case err != nil && ended:
			return code, result
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			return 0, unreachable(what, err)
		case len(message) == 0:
			continue
		}

		switch text := message[1:]; message[0] {
		case streamStdout:
			_, err = stdout.Write(text)
		case streamStderr:
			_, err = stderr.Write(text)
		case streamStatus:
			code, result = exitOf(what, text)
			ended = true
		}
		if err != nil {
			return 0, err
		}
	}
}

// exitOf reads how a command ended: its exit code, or why it did not begin.
func exitOf(what string, text []byte) (int, error) {
	var s status
	if err := json.Unmarshal(text, &s); err != nil {
		return 0, fmt.Errorf("kubernetes: %s: the answer cannot be read: %w", what, err)
	}
	if s.Status == "Success" {
		return 0, nil
	}
	for _, cause := range s.Details.Causes {
		if code, err := strconv.Atoi(cause.Message); err == nil && s.Reason == "NonZeroExitCode" && cause.Reason == "ExitCode" {
			return code, nil
		}
	}
	return 0, fmt.Errorf("%w: %s", errNotBegun, s.Message)
}
