package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"

	"github.com/coder/websocket"
	"github.com/creack/pty"
)

// execProtocol is the one of the streams of commands that the server speaks.
const execProtocol = "v5.channel.k8s.io"

// exec runs a command of this machine, with the environment of the Pod, as an API server and a node do.
func (s *Server) exec(w http.ResponseWriter, r *http.Request, name string) {
	s.mu.Lock()
	o := s.stored[pods][name]
	var run *process
	if o != nil {
		run = s.running[uidOf(o)]
	}
	asked := r.URL.Query()["command"]
	s.commands = append(s.commands, asked)
	lacks := s.lacking == asked[0]
	s.mu.Unlock()
	switch {
	case o == nil:
		notFound(pods, name).write(w)
		return
	case run == nil:
		refuse(http.StatusInternalServerError, "InternalError", "container not found").write(w)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{execProtocol}})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 20)

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-run.term:
		case <-run.end:
		case <-ctx.Done():
		}
		cancel()
	}()
	query := r.URL.Query()
	cmd := exec.CommandContext(ctx, asked[0], asked[1:]...) //nolint:gosec // a double of tests, which runs what they ask for
	cmd.Env = os.Environ()
	for name, value := range run.env {
		if name != "PATH" { // the commands are this machine's
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	c := command{conn: conn, cmd: cmd, cancel: cancel}
	if lacks {
		err = exec.ErrNotFound
	} else if query.Get("tty") == "true" {
		err = c.onTerminal()
	} else {
		err = c.onPipes(query.Get("stdin") == "true")
	}
	_ = c.send(3, verdict(err))
	_ = conn.Close(websocket.StatusNormalClosure, "")
}

// Commands gives the commands that were asked for.
func (s *Server) Commands() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Lack has images lack a program.
func (s *Server) Lack(program string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lacking = program
}

// command is one that runs.
type command struct {
	conn   *websocket.Conn
	cmd    *exec.Cmd
	cancel func()
	mu     sync.Mutex
}

// send sends a message of a stream.
func (c *command) send(stream byte, text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn.Write(context.Background(), websocket.MessageBinary, append([]byte{stream}, text...))
}

// stream is one that the client reads.
type stream struct {
	*command
	number byte
}

func (s stream) Write(text []byte) (int, error) { return len(text), s.send(s.number, text) }

// receive hands what the client sends to f, until it goes, which ends the command.
func (c *command) receive(f func(stream byte, text []byte)) {
	defer c.cancel()
	for {
		_, message, err := c.conn.Read(context.Background())
		if err != nil {
			return
		}
		f(message[0], message[1:])
	}
}

func (c *command) onPipes(input bool) error {
	c.cmd.Stdout, c.cmd.Stderr = stream{c, 1}, stream{c, 2}
	end := func() {}
	in := io.Discard
	if input {
		pipe, err := c.cmd.StdinPipe()
		if err != nil {
			return err
		}
		in, end = pipe, func() { _ = pipe.Close() }
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	go c.receive(func(stream byte, text []byte) {
		switch stream {
		case 0:
			_, _ = in.Write(text)
		case 255:
			end()
		}
	})
	return c.cmd.Wait()
}

func (c *command) onTerminal() error {
	terminal, err := pty.Start(c.cmd)
	if err != nil {
		return err
	}
	var mu sync.Mutex // to change the size needs the terminal's number, which is another file's once it is closed
	open := true
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		open = false
		_ = terminal.Close()
	}()
	go c.receive(func(stream byte, text []byte) {
		switch stream {
		case 0:
			_, _ = terminal.Write(text)
		case 4:
			var size struct{ Width, Height uint16 }
			mu.Lock()
			defer mu.Unlock()
			if json.Unmarshal(text, &size) == nil && open {
				_ = pty.Setsize(terminal, &pty.Winsize{Cols: size.Width, Rows: size.Height})
			}
		}
	})
	_, _ = io.Copy(stream{c, 1}, terminal) // it ends with an error
	return c.cmd.Wait()
}

// verdict is what the server says of how a command ended.
func verdict(err error) []byte {
	said := object{"metadata": object{}, "status": "Success"}
	if ended, is := errors.AsType[*exec.ExitError](err); is {
		code := ended.ExitCode()
		if code < 0 {
			code = 137
		}
		said = object{"metadata": object{}, "status": "Failure", "reason": "NonZeroExitCode", "message": "command terminated with non-zero exit code",
			"details": object{"causes": []any{object{"reason": "ExitCode", "message": strconv.Itoa(code)}}}}
	} else if err != nil {
		said = object{"metadata": object{}, "status": "Failure", "reason": "InternalError", "message": err.Error(), "code": 500.0}
	}
	text, _ := json.Marshal(said)
	return text
}
