package docker

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/docker/cli/cli/connhelper"
	"github.com/docker/cli/cli/connhelper/ssh"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// What listens on a machine whose engine is reached by the ssh program is reached by it, too: over the network there may be no way to its
// ports, and where there is one, it is nobody's to read along. Each connection is a program, which has the machine's SSH server connect
// to the port; the programs of a machine share one connection there.

// How many connections there may be at a time. Nobody is asked for a key before one is made.
const (
	mostThrough = 256
	mostOfOne   = 128 // to the ports of one allocation
)

// sharedTime is how long, in seconds, the connection to a machine outlives the last program that used it.
const sharedTime = "60"

// throughName ends the names of addresses that mean a port of a machine beyond SSH. Nobody else knows such a name: it cannot be looked up.
const throughName = ".ssh.invalid"

// errManyThrough is no failure of what was to be reached.
var errManyThrough = compute.Errorf(compute.Unavailable, "there are as many connections to the pod or worker, or to all of them, as there may be at a time")

// beyondSSH is a port of an allocation on a machine that is reached by SSH.
type beyondSSH struct {
	engine     string
	allocation string
	at         string // host and port, as the machine has them
}

// through gives the address that means a port of an allocation on the machine of an engine.
func through(engine, allocation string, at netip.AddrPort) string {
	name := strings.Join([]string{engine, allocation, at.Addr().String()}, " ")
	return net.JoinHostPort(hex.EncodeToString([]byte(name))+throughName, strconv.Itoa(int(at.Port())))
}

// beyond reads what through gave; ok is false for any other address.
func beyond(address string) (to beyondSSH, ok bool) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return to, false
	}
	name, ok := strings.CutSuffix(host, throughName)
	if !ok {
		return to, false
	}
	text, err := hex.DecodeString(name)
	if err != nil {
		return to, false
	}
	parts := strings.Split(string(text), " ")
	if len(parts) != 3 {
		return to, false
	}
	return beyondSSH{parts[0], parts[1], net.JoinHostPort(parts[2], port)}, true
}

// tunnels are the connections to machines beyond SSH. The zero tunnels has none.
type tunnels struct {
	mu     sync.Mutex
	closed bool
	dir    string            // of the sockets of shared connections; empty: there is none yet
	shared map[string]string // arguments that tell the ssh program which one it shares, by the address of the engine
	open   compute.Share[string]
}

// dial connects to an address.
func (t *tunnels) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to, ok := beyond(address)
	if !ok {
		return (&net.Dialer{Timeout: runtime.DialTime}).DialContext(ctx, network, address)
	}
	spec, err := ssh.ParseURL(to.engine)
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	sharing, err := t.begin(to)
	if err != nil {
		return nil, err
	}

	args := append([]string{"-T", "-o", "ConnectTimeout=" + strconv.Itoa(int(runtime.DialTime.Seconds()))}, sshOptions...)
	args = append(append(append(args, sharing...), "-W", to.at), spec.Args()...)
	program, err := connhelper.GetCommandConnectionHelper("ssh", args...)
	if err == nil {
		var conn net.Conn
		if conn, err = program.Dialer(context.WithoutCancel(ctx), network, to.at); err == nil { // it lives as long as the connection
			return &tunnel{Conn: conn, over: func() { t.end(to) }}, nil
		}
	}
	t.end(to)
	return nil, fmt.Errorf("docker: %w", err)
}

// begin makes room for a connection, until end, and gives the options by which it is one of those that are shared.
func (t *tunnels) begin(to beyondSSH) (options []string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, errClosed
	case !t.open.Enter(to.allocation, mostThrough, mostOfOne):
		return nil, errManyThrough
	}
	if goruntime.GOOS == "windows" { // whose ssh shares none
		return nil, nil
	}

	if _, err := os.Stat(t.dir); t.dir != "" && err != nil { // somebody tidied up, and ssh does not go on without it
		t.dir = ""
	}
	if t.dir == "" {
		if t.dir, err = os.MkdirTemp("", "berth-ssh-"); err != nil {
			t.open.Leave(to.allocation)
			return nil, fmt.Errorf("docker: %w", err)
		}
		t.shared = map[string]string{}
	}
	if t.shared[to.engine] == "" {
		t.shared[to.engine] = "ControlPath=" + filepath.Join(t.dir, strconv.Itoa(len(t.shared))) // short: it is that of a socket
	}
	return []string{"-o", "ControlMaster=auto", "-o", "ControlPersist=" + sharedTime, "-o", t.shared[to.engine]}, nil
}

func (t *tunnels) end(to beyondSSH) { t.open.Leave(to.allocation) }

// close ends the shared connections.
func (t *tunnels) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.dir == "" {
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	for engine, sharing := range t.shared {
		if spec, err := ssh.ParseURL(engine); err == nil { // it was read before
			_ = exec.CommandContext(ctx, "ssh", append([]string{"-o", sharing, "-O", "exit"}, spec.Args()...)...).Run() // or it has ended by itself
		}
	}
	_ = os.RemoveAll(t.dir)
}

// tunnel is a connection that is counted.
type tunnel struct {
	net.Conn
	once sync.Once
	over func()
}

// CloseWrite tells the other side that nothing more comes.
func (c *tunnel) CloseWrite() error { return closeWrite(c.Conn) }

// Close ends the connection.
func (c *tunnel) Close() error {
	defer c.once.Do(c.over)
	return c.Conn.Close()
}
