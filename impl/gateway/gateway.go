// Package gateway lets users into their pods by SSH: the name that they log in with is the id of a pod, and what shows who they are is a
// public key of the pod's account. What they do there runs by package shell; SSH itself is that of golang.org/x/crypto/ssh.
//
// Nothing leads to this machine or to another address: forwarding goes to the pod's own loopback, by a relay that runs in the pod, and
// forwarding to the client, agents and X11 are refused.
package gateway

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/shell"
)

// The bounds.
const (
	mostConnections = 512
	mostOfUser      = 128              // of those of one user
	mostUnknown     = 64               // of those who have not shown yet who they are
	mostOfOrigin    = 16               // of those from one address
	mostChannels    = 256              // of all connections, each of which may have 2 MB in memory that nobody has read yet
	channelsOfUser  = 64               // of those of one user
	mostTries       = 6                // keys that a client may try on one connection
	graceTime       = 30 * time.Second // to show who one is
	leastTime       = 3 * time.Second  // of it, that one has even where others wait for the place
	aliveTick       = 30 * time.Second // between two looks whether a client is there, and may stay
	aliveTime       = 60 * time.Second // for the answer to one
)

// Pods finds out who may log in to a pod.
type Pods interface {
	// SSHPod gives a pod, whoever owns it, and the public keys of its account, each a line of an authorized_keys file. NotFound for an
	// unknown and a terminated one.
	SSHPod(ctx context.Context, id compute.PodID) (compute.Pod, []string, error)
}

// Config is what a Gateway is made of.
type Config struct {
	Key    ed25519.PrivateKey // of the host
	Pods   Pods
	Shells *shell.Shells
	Ending context.Context // everything ends with it
	Clock  compute.Clock   // it must run
	Log    *slog.Logger

	Refused func(from, fingerprint string) // notes who could not log in with a key; nil: nobody does
}

// Gateway lets users into their pods.
type Gateway struct {
	Config
	signer ssh.Signer

	mu      sync.Mutex
	open    map[net.Conn]visitor
	running sync.WaitGroup

	files, channels compute.Share[compute.UserID] // that are open
}

// visitor is who has a connection.
type visitor struct {
	origin string         // where they come from
	user   compute.UserID // empty as long as it is not known who they are
	since  time.Time      // by the clock that measures
}

// New makes a Gateway.
func New(c Config) (*Gateway, error) {
	signer, err := ssh.NewSignerFromKey(c.Key)
	if err != nil {
		return nil, err
	}
	g := &Gateway{Config: c, signer: signer, open: map[net.Conn]visitor{}}
	context.AfterFunc(c.Ending, g.hurry)
	return g, nil
}

// Fingerprint is that of the key of the host, as ssh shows it.
func (g *Gateway) Fingerprint() string { return ssh.FingerprintSHA256(g.signer.PublicKey()) }

// hurry gives connections a moment in which sessions say why they end.
func (g *Gateway) hurry() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for conn := range g.open {
		_ = conn.SetDeadline(g.Clock.Wall().Add(time.Second))
	}
}

// Take serves a connection until it ends, beside the caller. If there may be no more it is closed.
func (g *Gateway) Take(conn net.Conn) {
	if !g.takes(conn) {
		_ = conn.Close()
		return
	}
	go func() {
		defer g.running.Done()
		defer g.leave(conn)
		g.serve(conn)
	}()
}

// Wait returns once every connection has ended, which Ending has them do.
func (g *Gateway) Wait() { g.running.Wait() }

// takes notes a connection, if there may be one more.
func (g *Gateway) takes(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	origin := compute.LoginOrigin(conn.RemoteAddr().String())
	unknown := g.count(func(v visitor) bool { return v.user == "" })
	ofOrigin := g.count(func(v visitor) bool { return v.user == "" && v.origin == origin })
	if g.Ending.Err() != nil || len(g.open) >= mostConnections || ofOrigin >= mostOfOrigin || unknown >= mostUnknown && !g.makeRoom() {
		return false
	}
	g.open[conn] = visitor{origin: origin, since: g.Clock.Now()}
	g.running.Add(1)
	return true
}

// makeRoom ends a connection of somebody who has not shown who they are, if one has had time for it: the oldest one from the address that has most
// of these. Who holds all of them keeps nobody out. The caller has the lock.
func (g *Gateway) makeRoom() bool {
	of := map[string]int{}
	for _, v := range g.open {
		if v.user == "" {
			of[v.origin]++
		}
	}

	var last net.Conn
	for conn, v := range g.open {
		if v.user != "" || g.Clock.Now().Sub(v.since) < leastTime {
			continue
		}
		if old := g.open[last]; last == nil || of[v.origin] > of[old.origin] || of[v.origin] == of[old.origin] && v.since.Before(old.since) {
			last = conn
		}
	}
	if last == nil {
		return false
	}
	_ = last.Close()
	delete(g.open, last)
	return true
}

// count gives how many connections those have who are so. The caller has the lock.
func (g *Gateway) count(so func(visitor) bool) (n int) {
	for _, v := range g.open {
		if so(v) {
			n++
		}
	}
	return n
}

func (g *Gateway) leave(conn net.Conn) {
	_ = conn.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, conn)
}

// known notes who has the connection, which from now on may be silent, unless all are about to end. False: the user may have no more, or it has gone.
func (g *Gateway) known(conn net.Conn, user compute.UserID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, there := g.open[conn]; !there || g.count(func(v visitor) bool { return v.user == user }) >= mostOfUser {
		return false
	}
	if g.Ending.Err() == nil { // else hurry has limited it, or is about to
		_ = conn.SetDeadline(time.Time{})
	}
	g.open[conn] = visitor{user: user}
	return true
}

// errRefused is the one answer to who may not log in: who tries learns neither of keys nor of pods. errUnknown is it, too, where nobody can say
// whether they may.
var (
	errRefused = errors.New("gateway: refused")
	errUnknown = fmt.Errorf("%w: the store is away", errRefused)
)

// refusedKey is errRefused of a key.
type refusedKey struct {
	fingerprint string
	cause       error
}

func (r *refusedKey) Error() string { return r.cause.Error() }
func (r *refusedKey) Unwrap() error { return r.cause }

// lastRefused gives the fingerprint of the last key that was refused in a login that failed; empty if none was tried.
func lastRefused(err error) (fingerprint string) {
	if failed, is := errors.AsType[*ssh.ServerAuthError](err); is {
		for _, one := range failed.Errors {
			if key, is := errors.AsType[*refusedKey](one); is {
				fingerprint = key.fingerprint
			}
		}
	}
	return fingerprint
}

// What a connection remembers of who has it.
const (
	podExtension  = "pod"
	userExtension = "user"
	keyExtension  = "key"
)

// login is the id of the pod that a user name means: the part before the first hyphen, as the public service appends something to it.
func login(name string) compute.PodID {
	id, _, _ := strings.Cut(name, "-")
	return compute.PodID(id)
}

// permits reports whether a key is one of the account of the pod.
func (g *Gateway) permits(ctx context.Context, id compute.PodID, key ssh.PublicKey) (compute.Pod, error) {
	pod, lines, err := g.Pods.SSHPod(ctx, id)
	if err != nil {
		if compute.CodeOf(err) != compute.NotFound {
			g.Log.Error("it cannot be known who may log in to a pod", "pod", id, "error", err)
			return compute.Pod{}, errUnknown
		}
		return compute.Pod{}, errRefused
	}
	marshaled := key.Marshal()
	for _, line := range lines {
		if own, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil && bytes.Equal(own.Marshal(), marshaled) {
			return pod, nil
		}
	}
	return compute.Pod{}, errRefused
}

// settings are those of one connection.
func (g *Gateway) settings(ctx context.Context) *ssh.ServerConfig {
	c := &ssh.ServerConfig{
		MaxAuthTries:  mostTries,
		ServerVersion: "SSH-2.0-berth",
		PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			pod, err := g.permits(ctx, login(meta.User()), key)
			if err != nil {
				return nil, &refusedKey{ssh.FingerprintSHA256(key), err}
			}
			return &ssh.Permissions{Extensions: map[string]string{
				podExtension: string(pod.ID), userExtension: string(pod.UserID), keyExtension: ssh.FingerprintSHA256(key),
			}, ExtraData: map[any]any{keyExtension: key}}, nil
		},
	}
	c.AddHostKey(g.signer)
	return c
}

// serve speaks with a client until it goes.
func (g *Gateway) serve(nc net.Conn) {
	ctx, cancel := context.WithCancel(g.Ending)
	defer cancel()
	_ = nc.SetDeadline(g.Clock.Wall().Add(graceTime))
	conn, channels, requests, err := ssh.NewServerConn(nc, g.settings(ctx))
	if err != nil {
		if tried := lastRefused(err); tried != "" && g.Refused != nil { // who has several keys tries them all, which is one login
			g.Refused(nc.RemoteAddr().String(), tried)
		}
		g.Log.Debug("somebody could not log in by ssh", "from", nc.RemoteAddr().String())
		return
	}
	defer func() { _ = conn.Close() }()
	user := compute.UserID(conn.Permissions.Extensions[userExtension])
	if !g.known(nc, user) {
		g.Log.Warn("a user has as many connections by ssh as one may, or took too long to log in", "user", user, "most", mostOfUser)
		return
	}

	c := &connection{
		Gateway: g, conn: conn, pod: compute.PodID(conn.Permissions.Extensions[podExtension]),
		by: shell.By{
			User: user, Through: "ssh", Of: conn.Permissions.Extensions[keyExtension], From: nc.RemoteAddr().String(),
		},
	}
	key, _ := conn.Permissions.ExtraData[keyExtension].(ssh.PublicKey)
	g.Log.Info("somebody has logged in by ssh", "pod", c.pod, "user", c.by.User, "key", c.by.Of, "from", c.by.From)
	go ssh.DiscardRequests(requests) // forwarding to the client is refused
	go c.stay(ctx, key)
	c.serve(ctx, channels)
	cancel()
	c.running.Wait()
}

// stay ends the connection when its client does not answer, or may not be there any more. While nobody can say whether it may, it goes on.
func (c *connection) stay(ctx context.Context, key ssh.PublicKey) {
	for {
		if compute.Sleep(ctx, c.Clock, aliveTick) != nil {
			return
		}
		if _, err := c.permits(ctx, c.pod, key); err != nil && !errors.Is(err, errUnknown) && ctx.Err() == nil {
			_ = c.conn.Close()
			return
		}

		answered := make(chan error, 1)
		go func() {
			_, _, err := c.conn.SendRequest("keepalive@openssh.com", true, nil)
			answered <- err
		}()
		late, stop := c.Clock.After(aliveTime)
		select {
		case err := <-answered:
			stop()
			if err == nil {
				continue
			}
		case <-late:
		}
		_ = c.conn.Close()
		return
	}
}
