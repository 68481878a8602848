// Package audit notes who changed what: an entry for each thing that a request changed, in the transaction that changed it, so that there is
// one without the other never. A store around the store knows what a function of a transaction changed; who asked for it comes with the
// context. Writes that nobody asked for, such as what the scheduler does with a pod, have no entries, nor have jobs: they are what the
// server works on, and their writes cost nothing here.
package audit

import (
	"context"
	"net"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Actor is who changes something, and by which request.
type Actor struct {
	User      compute.UserID
	Key       compute.KeyID
	Request   string // id of the request; empty: there is none
	Operation string
	Client    string // the address of the client, see Client
}

// The bounds of what a client may have us keep, in bytes.
const (
	mostWord   = 200
	mostFields = 64
)

type actorKey struct{}

// With has what is written with the context noted as the actor's.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, actorKey{}, a) }

// Nobody has what is written with the context noted as nobody's: what falls due has not been asked for by who moved the clock.
func Nobody(ctx context.Context) context.Context { return context.WithValue(ctx, actorKey{}, nil) }

// Of gives the actor that With has put into the context, and whether there is one.
func Of(ctx context.Context) (Actor, bool) {
	a, there := ctx.Value(actorKey{}).(Actor)
	return a, there
}

// Client gives the address that a connection comes from without its port.
func Client(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}

// entry makes an entry of what the actor did.
func (a Actor) entry(kind, id string, c compute.AuditChange, fields ...string) compute.AuditEntry {
	return compute.AuditEntry{
		UserID: a.User, KeyID: a.Key, Request: a.Request, Operation: a.Operation, Client: bounded(a.Client), Kind: kind, ID: bounded(id), Change: c,
		Fields: append([]string{}, fields[:min(len(fields), mostFields)]...),
	}
}

func bounded(word string) string { return strings.ToValidUTF8(word[:min(len(word), mostWord)], "") }

// Note notes what the actor did that changed no row: a session that was opened. Errors as for store.Store.Write.
func Note(ctx context.Context, s store.Store, a Actor, kind, id string, c compute.AuditChange) error {
	return s.Write(ctx, func(tx store.Tx) error { return tx.InsertAudit(a.entry(kind, id, c)) })
}

// Store gives the store, whose writes are noted where their context has an actor.
func Store(s store.Store) store.Store { return audited{s, nil} }

// StoreOf gives the store, whose writes are all the actor's.
func StoreOf(s store.Store, a Actor) store.Store { return audited{s, &a} }

type audited struct {
	store.Store
	always *Actor
}

// Write is that of the store.
func (s audited) Write(ctx context.Context, f func(store.Tx) error) error {
	a, there := Of(ctx)
	if s.always != nil {
		a, there = *s.always, true
	}
	if !there {
		return s.Store.Write(ctx, f)
	}
	return s.Store.Write(ctx, func(inner store.Tx) error {
		t := &tx{Tx: inner, actor: a}
		if err := f(t); err != nil {
			return err
		}
		return t.write()
	})
}
