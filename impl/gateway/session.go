package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/shell"
)

// connection is one client that has shown who it is.
type connection struct {
	*Gateway
	conn    *ssh.ServerConn
	pod     compute.PodID
	by      shell.By
	noted   atomic.Bool // the log of who changed what has that files are transferred, or ports forwarded
	running sync.WaitGroup
}

// serve answers what the client opens until it goes.
func (c *connection) serve(ctx context.Context, channels <-chan ssh.NewChannel) {
	for opened := range channels {
		if !c.channels.Enter(c.by.User, mostChannels, channelsOfUser) {
			_ = opened.Reject(ssh.ResourceShortage, "there are as many channels as there may be")
			continue
		}
		c.running.Go(func() {
			defer c.channels.Leave(c.by.User)
			switch opened.ChannelType() {
			case "session":
				c.session(ctx, opened)
			case "direct-tcpip":
				c.forward(ctx, opened)
			default:
				_ = opened.Reject(ssh.UnknownChannelType, "there are sessions and forwarding to the pod")
			}
		})
	}
}

// The bounds of a session.
const (
	mostVariables = 64
	mostVariable  = 4 << 10   // bytes of a name and its value
	mostCommand   = 128 << 10 // bytes: what a program takes as one argument
	exitRefused   = 255       // as ssh has it for what it failed of itself
)

// session is what the client asks for on one channel.
type session struct {
	*connection
	channel ssh.Channel
	env     []string
	tty     *runtime.TTY
	sizes   chan runtime.Size
}

// session runs one command, shell or file transfer.
func (c *connection) session(ctx context.Context, opened ssh.NewChannel) {
	channel, requests, err := opened.Accept()
	if err != nil {
		return
	}
	defer func() { _ = channel.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{connection: c, channel: channel, sizes: make(chan runtime.Size, 1)}

	prepared, closed := make(chan struct{}), make(chan struct{})
	go c.within(prepared)
	run := s.prepare(requests)
	close(prepared)
	if run == nil {
		return
	}
	go func() {
		defer close(closed)
		defer cancel() // the client has closed the channel
		for r := range requests {
			_ = r.Reply(r.Type == "window-change" && s.resize(r.Payload), nil)
		}
	}()

	code := run(ctx)
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(code)})) // it may have gone
	_ = channel.Close()
	<-closed // the client closes its side once it has taken the output, for which it may take any time: the channel keeps its place until then
}

// within ends the connection if the client has not said in time what is to run: a channel that nobody reads goes on taking what it sends.
func (c *connection) within(prepared <-chan struct{}) {
	late, stop := c.Clock.After(graceTime)
	defer stop()
	select {
	case <-prepared:
	case <-late:
		_ = c.conn.Close()
	}
}

// prepare takes what is said before there is something to run, and gives that; nil: the client has gone.
func (s *session) prepare(requests <-chan *ssh.Request) func(context.Context) int {
	for r := range requests {
		var (
			run func(context.Context) int
			ok  bool
		)

		switch r.Type {
		case "env":
			ok = s.takeVariable(r.Payload)
		case "pty-req":
			ok = s.takeTerminal(r.Payload)
		case "window-change":
			ok = s.resize(r.Payload)
		case "shell":
			run = func(ctx context.Context) int { return s.run(ctx, nil) }
		case "exec":
			var asked struct{ Command string }
			if ssh.Unmarshal(r.Payload, &asked) == nil && len(asked.Command) <= mostCommand {
				run = func(ctx context.Context) int { return s.run(ctx, commandOf(asked.Command)) }
			}
		case "subsystem":
			var asked struct{ Name string }
			if ssh.Unmarshal(r.Payload, &asked) == nil && asked.Name == "sftp" {
				run = s.files
			}
		}

		_ = r.Reply(ok || run != nil, nil) // it may have gone
		if run != nil {
			return run
		}
	}
	return nil
}

// permittedVariables begin the names of variables that a client may set.
var permittedVariables = []string{"LANG", "LC_", "TERM", "COLORTERM", "TZ", "GIT_", "NO_COLOR", "EDITOR", "VSCODE_"}

func (s *session) takeVariable(payload []byte) bool {
	var v struct{ Name, Value string }
	if ssh.Unmarshal(payload, &v) != nil || len(s.env) >= mostVariables || len(payload) > mostVariable || strings.ContainsAny(v.Name, "=\x00") || strings.Contains(v.Value, "\x00") {
		return false
	}
	if !slices.ContainsFunc(permittedVariables, func(prefix string) bool { return strings.HasPrefix(v.Name, prefix) }) {
		return false
	}
	s.env = append(s.env, v.Name+"="+v.Value)
	return true
}

func (s *session) takeTerminal(payload []byte) bool {
	var asked struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	if ssh.Unmarshal(payload, &asked) != nil || s.tty != nil || len(asked.Term) > 64 || strings.ContainsAny(asked.Term, "=\x00") {
		return false
	}
	s.tty = &runtime.TTY{Size: sizeOf(asked.Columns, asked.Rows), Resize: s.sizes}
	if asked.Term != "" {
		s.env = append(s.env, "TERM="+asked.Term)
	}
	return true
}

func (s *session) resize(payload []byte) bool {
	var asked struct{ Columns, Rows, Width, Height uint32 }
	if ssh.Unmarshal(payload, &asked) != nil || s.tty == nil || asked.Columns == 0 || asked.Rows == 0 {
		return false
	}
	select { // the last one counts
	case <-s.sizes:
	default:
	}
	s.sizes <- sizeOf(asked.Columns, asked.Rows)
	return true
}

func sizeOf(columns, rows uint32) runtime.Size {
	return runtime.Size{Width: uint16(min(columns, 1<<16-1)), Height: uint16(min(rows, 1<<16-1))}
}

// commandOf has the shell that a session without a command gets run a line, as SSH has it.
func commandOf(line string) []string {
	return []string{"sh", "-c", `command -v bash >/dev/null 2>&1 && exec bash -c "$1"; exec sh -c "$1"`, "sh", line}
}

// run runs a command with the streams of the channel, and gives its exit code.
func (s *session) run(ctx context.Context, command []string) int {
	code, err := s.exec(ctx, runtime.Exec{Command: command, Env: s.env, Stdin: s.channel, Stdout: s.channel, Stderr: s.channel.Stderr(), TTY: s.tty})
	return s.told(code, err)
}

// told tells the client why there is no exit code, and gives one.
func (s *session) told(code int, err error) int {
	if err == nil {
		return code
	}
	_, _ = fmt.Fprintf(s.channel.Stderr(), "berth: %s\r\n", detail(err)) // it may have gone
	return exitRefused
}

// detail is what of an error is for who asks.
func detail(err error) string {
	if rule, is := errors.AsType[*compute.Error](err); is && rule.Code != compute.Internal {
		return rule.Detail
	}
	if refusal, is := errors.AsType[shell.Refusal](err); is {
		return refusal.Error()
	}
	return string(shell.Broken)
}

// exec runs a command in the pod.
func (c *connection) exec(ctx context.Context, e runtime.Exec) (int, error) {
	return c.execBy(ctx, c.by, e)
}

// part runs a command that is a part of what its connection does: the log of who changed what has an entry of the first alone.
func (c *connection) part(ctx context.Context, e runtime.Exec) (int, error) {
	by := c.by
	by.Part = c.noted.Swap(true)
	return c.execBy(ctx, by, e)
}

func (c *connection) execBy(ctx context.Context, by shell.By, e runtime.Exec) (int, error) {
	target, err := c.Shells.Pod(ctx, c.by.User, c.pod)
	if err != nil {
		return 0, err
	}
	room, err := c.Shells.Begin(target, by)
	if err != nil {
		return 0, err
	}
	defer room.End()
	return room.Run(ctx, e)
}

// relay connects its streams with a port of the pod's own loopback, by what the image has. What comes first closes one direction of a connection
// alone, and keeps the other one for ten minutes of silence, since a server may keep a connection whose client has gone for ever. A shell cannot
// close one direction: once the client has, the other one stays for as long as something comes. The Python is one of any version 3. localhost is
// ::1 where a server listens on the port of that alone, as those of Node do: not all of these programs try both.
const relay = `if [ "$1" = localhost ]; then
  port=$(printf %04X "$2") to=127.0.0.1
  grep -q ":$port 0*:0000 0A" /proc/net/tcp 2>/dev/null || ! grep -q ": 0*1000000:$port 0*:0000 0A" /proc/net/tcp6 2>/dev/null || to=::1
  set -- "$to" "$2"
fi
case $1 in *:*) at="[$1]";; *) at=$1;; esac
command -v socat >/dev/null 2>&1 && exec socat -t 600 - "TCP:$at:$2"
command -v python3 >/dev/null 2>&1 && exec python3 -c 'import os,select,socket,sys,threading
s=socket.create_connection((sys.argv[1],int(sys.argv[2])))
def up():
  for b in iter(lambda: os.read(0,65536),b""): s.sendall(b)
  s.shutdown(socket.SHUT_WR)
t=threading.Thread(target=up,daemon=True)
t.start()
quiet=0
while quiet<600:
  if not select.select([s],[],[],5)[0]:
    quiet=0 if t.is_alive() else quiet+5
    continue
  quiet=0
  b=s.recv(65536)
  if not b: break
  while b: b=b[os.write(1,b):]' "$1" "$2"
command -v bash >/dev/null 2>&1 && exec bash -c 'exec 3<>"/dev/tcp/$1/$2" || exit 1
cat <&3 & down=$!
cat <&0 >&3 & up=$!
wait -n
before=
while kill -0 $down 2>/dev/null && read -r now <"/proc/$down/io" && [ "$now" != "$before" ]; do before=$now; sleep 5; done
kill $down $up 2>/dev/null' bash "$1" "$2"
command -v nc >/dev/null 2>&1 && exec nc "$1" "$2"
exit 127`

// loopback gives what of the pod's loopback a client means: an address, or localhost for the one that a server listens on. False: it means something
// else, where nothing leads.
func (c *connection) loopback(host string) (string, bool) {
	switch host {
	case "localhost", string(c.pod):
		return "localhost", true
	case "127.0.0.1", "::1":
		return host, true
	}
	return "", false
}

// forward connects the client with a port of the pod's own loopback.
func (c *connection) forward(ctx context.Context, opened ssh.NewChannel) {
	var asked struct {
		Host   string
		Port   uint32
		Origin string
		From   uint32
	}
	if ssh.Unmarshal(opened.ExtraData(), &asked) != nil {
		_ = opened.Reject(ssh.ConnectionFailed, "that cannot be read")
		return
	}

	address, ok := c.loopback(asked.Host)
	if !ok || asked.Port == 0 || asked.Port > 1<<16-1 {
		c.Log.Info("a forwarding by ssh was refused", "pod", c.pod, "user", c.by.User, "from", c.by.From)
		_ = opened.Reject(ssh.Prohibited, "forwarding leads to localhost of the pod alone")
		return
	}

	channel, requests, err := opened.Accept()
	if err != nil {
		return
	}
	defer func() { _ = channel.Close() }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		defer cancel()
		ssh.DiscardRequests(requests)
	}()
	_, _ = c.part(ctx, runtime.Exec{ // who connects sees an end
		Command: []string{"sh", "-c", relay, "sh", address, fmt.Sprint(asked.Port)}, Stdin: channel, Stdout: channel, Stderr: io.Discard,
	})
	_ = channel.Close()
	<-closed // as for a session
}
