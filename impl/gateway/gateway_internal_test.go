package gateway

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/impl/compute"
)

// podsBy finds who may log in as the test says.
type podsBy func() ([]string, error)

func (p podsBy) SSHPod(_ context.Context, id compute.PodID) (compute.Pod, []string, error) {
	lines, err := p()
	return compute.Pod{ID: id, Status: compute.PodRunning}, lines, err
}

// limited is a connection that tells of each deadline that it gets.
type limited struct {
	net.Conn
	limits chan time.Time
}

func (l *limited) SetDeadline(at time.Time) error {
	err := l.Conn.SetDeadline(at)
	l.limits <- at
	return err
}

// gate is a gateway with one client that tries to log in.
type gate struct {
	*Gateway
	end    context.CancelFunc // of everything
	clock  *compute.SettableClock
	limits <-chan time.Time
	shake  func() (ssh.Conn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) // log in, and answer nothing
	login  func() (*ssh.Client, error)
}

func openGate(t *testing.T, pods func(line string) podsBy) *gate {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)

	g := &gate{clock: compute.NewFrozenClock(time.Now())}
	var ending context.Context
	ending, g.end = context.WithCancel(context.Background())
	g.Gateway, err = New(Config{
		Key: private, Pods: pods(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), Ending: ending, Clock: g.clock, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(g.Wait)
	t.Cleanup(g.end)

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	server, err := listener.Accept()
	require.NoError(t, err)
	limits := make(chan time.Time, 10)
	g.limits = limits
	g.Take(&limited{server, limits})

	g.shake = func() (ssh.Conn, <-chan ssh.NewChannel, <-chan *ssh.Request, error) {
		return ssh.NewClientConn(client, "", &ssh.ClientConfig{
			User: "k3v9x2m1q8w7rt", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
		})
	}
	g.login = func() (*ssh.Client, error) {
		conn, channels, requests, err := g.shake()
		if err != nil {
			return nil, err
		}
		return ssh.NewClient(conn, channels, requests), nil
	}
	return g
}

// from is a connection that comes from an address.
type from struct {
	net.Conn
	address net.IP
}

func (f *from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: f.address, Port: 50_000} }

// takeFrom has the gateway take a connection from an address, if it does.
func takeFrom(t *testing.T, g *Gateway, address string) (net.Conn, bool) {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	conn := &from{ours, net.ParseIP(address)}
	return conn, g.takes(conn)
}

func TestGateway_NobodyTakesThePlacesOfAll(t *testing.T) {
	t.Parallel()
	g := &Gateway{Config: Config{Ending: t.Context(), Clock: compute.SystemClock{}}, open: map[net.Conn]visitor{}}
	take := func(address string) (net.Conn, bool) { return takeFrom(t, g, address) }

	var silent []net.Conn
	for i := range mostOfOrigin {
		conn, ok := take(fmt.Sprintf("2001:db8::%x", i))
		require.True(t, ok)
		silent = append(silent, conn)
	}
	_, ok := take("2001:db8::ffff")
	require.False(t, ok, "of the same network")
	g.leave(silent[0])
	other, ok := take("192.0.2.1")
	require.True(t, ok)
	_, ok = take("2001:db8::ffff")
	require.True(t, ok, "one has left")

	require.True(t, g.known(silent[1], "u"))
	_, ok = take("2001:db8::fffe")
	require.True(t, ok, "it is known who one is")
	for i := range mostOfUser - 1 {
		conn, ok := take(fmt.Sprintf("198.51.100.%d", i))
		require.True(t, ok)
		require.True(t, g.known(conn, "u"))
	}
	require.False(t, g.known(other, "u"))
	require.True(t, g.known(other, "another"))
}

func TestGateway_WhoHoldsAllPlacesKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Unix(1_800_000_000, 0))
	g := &Gateway{Config: Config{Ending: t.Context(), Clock: clock}, open: map[net.Conn]visitor{}}
	take := func(address string) (net.Conn, bool) { return takeFrom(t, g, address) }

	var silent []net.Conn
	for i := range mostUnknown {
		conn, ok := take(fmt.Sprintf("2001:db8:0:%x::1", i%(mostUnknown/mostOfOrigin)))
		require.True(t, ok)
		silent = append(silent, conn)
		clock.Advance(time.Millisecond)
	}
	_, ok := take("192.0.2.1")
	require.False(t, ok, "they have only come")

	clock.Advance(leastTime)
	_, ok = take("192.0.2.1")
	require.True(t, ok)
	_, err := silent[0].Write(nil)
	require.ErrorIs(t, err, io.ErrClosedPipe, "the oldest one of who has most")
	require.False(t, g.known(silent[0], "u"), "its place is another one's")
	require.True(t, g.known(silent[1], "u"))
	g.leave(silent[0])
	require.Len(t, g.open, mostUnknown)
}

// TestGateway_LoginThatEndsWithTheServerHoldsNothingUp: who logs in while all are told to end is given the same moment, and no longer.
func TestGateway_LoginThatEndsWithTheServerHoldsNothingUp(t *testing.T) {
	t.Parallel()
	asked, say := make(chan struct{}, 1), make(chan struct{})
	g := openGate(t, func(line string) podsBy {
		return func() ([]string, error) {
			asked <- struct{}{}
			<-say
			return []string{line}, nil
		}
	})
	logged := make(chan error, 1)
	go func() {
		_, err := g.login()
		logged <- err
	}()
	<-asked
	require.WithinDuration(t, g.clock.Wall().Add(graceTime), <-g.limits, time.Second)
	g.end()
	require.WithinDuration(t, g.clock.Wall().Add(time.Second), <-g.limits, time.Second)
	close(say)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the connection goes on")
	}
	<-logged // it may have come through, or not
}

// TestGateway_ASessionThatAsksForNothingEndsWithTheConnection: it would hold what the client sends.
func TestGateway_ASessionThatAsksForNothingEndsWithTheConnection(t *testing.T) {
	t.Parallel()
	g := openGate(t, func(line string) podsBy {
		return func() ([]string, error) { return []string{line}, nil }
	})
	go func() {
		for range g.limits { // nobody looks at them here
		}
	}()
	client, err := g.login()
	require.NoError(t, err)
	_, requests, err := client.OpenChannel("session", nil)
	require.NoError(t, err)
	go ssh.DiscardRequests(requests)
	require.GreaterOrEqual(t, g.lasts(t, client), graceTime)
}

// lasts sets the clock forward until the connection has ended, and gives by how much.
func (g *gate) lasts(t *testing.T, conn ssh.Conn) (d time.Duration) {
	t.Helper()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = conn.Wait()
	}()
	require.Eventually(t, func() bool {
		g.clock.Advance(time.Second)
		d += time.Second
		select {
		case <-gone:
			return true
		default:
			return false
		}
	}, 20*time.Second, 20*time.Millisecond)
	return d
}

// TestGateway_StaysWhileNobodyCanSayWhoMay: a store that is away for a while ends no connection, and a key that is gone does.
func TestGateway_StaysWhileNobodyCanSayWhoMay(t *testing.T) {
	t.Parallel()
	var failure atomic.Pointer[error]
	looks := make(chan struct{}, 10)
	g := openGate(t, func(line string) podsBy {
		return func() ([]string, error) {
			looks <- struct{}{}
			if err := failure.Load(); err != nil {
				return nil, *err
			}
			return []string{line}, nil
		}
	})
	client, err := g.login()
	require.NoError(t, err)
	<-looks
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = client.Wait()
	}()

	for _, err := range []error{
		&compute.Error{Code: compute.Unavailable, Detail: "the database is away"}, compute.Errorf(compute.Internal, "something else"), compute.Errorf(compute.NotFound, "no such pod"),
	} {
		failure.Store(&err)
		require.Eventually(t, func() bool { return g.clock.Waiting().Asleep > 0 }, 10*time.Second, time.Millisecond)
		g.clock.Advance(aliveTick)
		<-looks
		if compute.CodeOf(err) == compute.NotFound {
			<-gone
			return
		}
		_, _, err := client.SendRequest("still there?", true, nil)
		require.NoError(t, err)
	}
}
