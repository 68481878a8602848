package app

import (
	"context"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/gateway"
	"github.com/berthdev/berth/impl/shell"
)

// door is the address at which users log in to their pods. Who owns the store lets them in; a server that does not, sends them away.
type door struct {
	listener net.Listener
	running  sync.WaitGroup

	mu  sync.Mutex
	now *gateway.Gateway // nil: nobody lets anybody in
}

// openDoor opens the address. Who comes is sent away until there is a gateway.
func openDoor(address string) (*door, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	d := &door{listener: l}
	d.running.Go(d.run)
	return d, nil
}

// acceptPause is how long it takes until a door that could not let anybody in, since there are too many files open, tries again.
const acceptPause = 100 * time.Millisecond

// run hands on who comes, until the listener is closed.
func (d *door) run() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			_ = compute.Sleep(context.Background(), compute.SystemClock{}, acceptPause)
			continue
		}
		d.mu.Lock()
		now := d.now
		d.mu.Unlock()
		if now == nil {
			_ = conn.Close()
			continue
		}
		now.Take(conn)
	}
}

// to has the gateway let users in, or with nil nobody.
func (d *door) to(g *gateway.Gateway) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = g
}

func (d *door) close() error {
	err := d.listener.Close()
	d.running.Wait()
	return err
}

// hostKey is the key of the host, which is the same for all servers with the same secret key, and after every start.
func (s secrets) hostKey() (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, s.key, nil, "berth: ssh host key", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// letIn has users log in to their pods until ending ends.
func letIn(ending context.Context, g ground, use *useCases, shells *shell.Shells, refusals *audit.Refusals, u *undo) error {
	d := g.at.ssh
	if d == nil {
		return nil
	}
	key, err := g.dir.secrets.hostKey()
	if err != nil {
		return err
	}
	ending, end := context.WithCancel(ending)
	made, err := gateway.New(gateway.Config{
		Key: key, Pods: use.control, Shells: shells, Ending: ending, Clock: compute.SystemClock{}, Log: g.config.Log,
		Refused: func(from, fingerprint string) {
			refusals.Add(compute.Refusal{Interface: audit.SSH, Reason: compute.RefusedUnknown, Client: audit.Client(from), KeyID: compute.KeyID(fingerprint)})
		},
	})
	if err != nil {
		end()
		return err
	}
	u.push("logins by ssh", func() error {
		d.to(nil)
		end()
		made.Wait()
		return nil
	})
	d.to(made)
	g.config.Log.Info("users log in to their pods by ssh", "address", d.listener.Addr().String(), "fingerprint", made.Fingerprint())
	return nil
}

// SSHAddress is where users log in to their pods by ssh; empty if they do not.
func (s *Server) SSHAddress() string {
	if s.at.ssh == nil {
		return ""
	}
	return s.at.ssh.listener.Addr().String()
}
