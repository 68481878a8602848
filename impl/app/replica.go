package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/proxy"
	"github.com/berthdev/berth/impl/replica"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
)

// startReplica starts a server that shares its store with others. It is ready when there is an owner, be it this one or another.
func startReplica(ctx context.Context, g ground, u *undo) (*Server, error) {
	c := g.config
	owners, err := postgres.OpenOwners(ctx, c.Store)
	if err := c.passed("owners", err); err != nil {
		return nil, err
	}
	u.push("owners", owners.Close)
	me, err := newReplica(g)
	if err != nil {
		return nil, err
	}

	s := newServer(g, u)
	var keys keysMade
	starting := true // of the goroutine of Run alone, which serves, and says when it has started
	var member *replica.Member
	member, err = replica.Join(ctx, replica.Settings{
		Me: me, Owners: owners, Key: g.dir.secrets.key, Log: c.Log, Refuse: httpapi.Refuse, Reads: g.reads(),
		Serve: func(ctx context.Context, epoch int64) (replica.Service, error) {
			o, err := own(ctx, g, term{epoch, func() { member.Renew(epoch) }})
			if err != nil {
				return nil, err
			}
			if starting { // else nobody asks for them any more
				keys = keysOf(o.service)
			}
			return o, nil
		},
	})
	if err := c.passed("replicas", err); err != nil {
		return nil, err
	}

	s.current = func() *service {
		if o, owns := member.Service().(*owning); owns {
			return o.service
		}
		return nil
	}
	places, followed := newGroup(), newGroup()
	u.push("followed", followed.end)
	if g.seen.metrics != nil {
		g.seen.metrics.ShowReplica(func() (bool, int64) { return member.Owns(), member.Owner().Epoch })
	}
	s.serve(g.local(member), g.metrics(), g.bounds.connections, u)
	u.push("replica", func() error {
		_ = places.end()
		err := member.Leave(context.Background())
		followed.running.Go(func() { member.Follow(followed.ctx) })
		if g.leaving.Load() { // the start did not fail
			pass(c.DrainNotice) // what comes meanwhile is sent on to the next owner
			member.Hurry(context.Background())
		}
		return err
	})

	started := make(chan error, 1)
	places.running.Go(func() {
		member.Run(places.ctx, func(err error) {
			starting = false
			started <- err
		})
	})
	select {
	case err = <-started:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err := c.passed("place", err); err != nil {
		return nil, err
	}

	s.keys = keys
	return s, nil
}

// elsewhere gives what reports whether a request is for a pod or for workers, whatever its path.
func (g ground) elsewhere() func(*http.Request) bool {
	return proxy.Takes(g.config.Domain, g.at.publicHost(), g.bounds.proxies)
}

// reads gives what reports whether a request may be made of a second owner after it was sent to a first: it only reads, and reaches no pod and
// no worker.
func (g ground) reads() func(*http.Request) bool {
	elsewhere := g.elsewhere()
	return func(r *http.Request) bool { return httpapi.Reads(r) && !elsewhere(r) }
}

// own makes the service of that term, and begins it.
func own(ctx context.Context, g ground, of term) (_ *owning, err error) {
	u := &undo{undone: g.config.probe.undone}
	o := &owning{undo: u, early: &undo{undone: g.config.probe.undone}}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.all(true))
		}
	}()

	if o.service, err = openService(ctx, g, of, u); err != nil {
		return nil, err
	}
	u.push("requests", o.drain)
	o.runPods(o.early) // the end of one may take long: requests are answered meanwhile
	o.run(o.early)
	return o, nil
}

// newReplica says who this one is.
func newReplica(g ground) (store.Replica, error) {
	c := g.config
	address := bracketed(c.ReplicaURL)
	switch {
	case address != "":
	case g.at.certificates == nil:
		address = g.at.url
	case c.QueueListen != "":
		address = g.at.queueURL
	default:
		return store.Replica{}, ofSetting("replica-url", "", errors.New(
			"with a certificate, which is for the name of all servers of one --store, it says how the others reach this one, or --queue-listen does, which is plain HTTP"))
	}
	me := store.Replica{ID: strings.ToLower(rand.Text()[:12]), Address: strings.TrimRight(address, "/"), Settings: map[string]string{
		"contract": c.Contract, "runtime": g.bounds.kind.Name, "secret.key": fingerprint(g.dir.secrets.key),
	}}

	for name, file := range map[string]string{"catalog": c.Catalog, "fleet": c.Fleet} {
		text := []byte(file)
		if file != "" && file != FleetMachine {
			var err error
			if text, err = os.ReadFile(file); err != nil {
				return me, fmt.Errorf("%s: %w", name, err)
			}
			text = []byte(fingerprint(text))
		}
		me.Settings[name] = string(text)
	}

	var endpoints []string
	for _, e := range c.Endpoints {
		endpoints = append(endpoints, e.Name)
	}
	slices.Sort(endpoints)
	me.Settings["endpoint"] = strings.Join(endpoints, ", ")
	return me, nil
}

// fingerprint is the same for the same content, and reveals nothing of it.
func fingerprint(content []byte) string {
	sum := sha256.Sum256(append([]byte("berth: "), content...))
	return hex.EncodeToString(sum[:8])
}

// ownsHeader says, in an answer of /readyz, whether the replica owns the database.
const ownsHeader = "Berth-Owns"

// local answers what each replica answers itself, and has the member see to the rest.
func (g ground) local(m *replica.Member) http.Handler {
	elsewhere := g.elsewhere()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked := r.URL.Path == httpapi.ReadyPath || r.URL.Path == httpapi.HealthPath; !asked || elsewhere(r) { // the paths of pods are their own
			m.ServeHTTP(w, r)
			return
		}
		ready, sent := r.URL.Path == httpapi.ReadyPath, replica.Sent(r)
		if ready && !sent { // else the replica that sent it says so of itself
			w.Header().Set(ownsHeader, strconv.FormatBool(m.Owns()))
		}
		leaves := !sent && ready && g.leaving.Load()
		if !leaves && (m.Owns() || sent || r.URL.Path != httpapi.HealthPath) {
			m.ServeHTTP(w, r)
			return
		}

		switch err := g.bounds.hosts.Check(g.bounds.proxies.Host(r)); {
		case err != nil:
			httpapi.Refuse(w, r, err)
		case r.URL.Path == httpapi.ReadyPath:
			httpapi.Refuse(w, r, httpapi.ErrLeaving)
		default:
			w.WriteHeader(http.StatusOK)
		}
	})
}
