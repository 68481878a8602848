package app

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// storage is a store that takes no writes while a test says so.
type storage struct {
	store.Store
	trouble atomic.Pointer[error] // nil: none
}

// errScripted is the cause of what a test asked for.
var errScripted = errors.New("scripted by a test")

// set sets the trouble; one that does not exist is none.
func (s *storage) set(t store.Trouble) {
	switch t {
	case store.Full, store.Failing, store.Locked:
		err := store.Troubled(t, errScripted)
		s.trouble.Store(&err)
	default:
		s.trouble.Store(nil)
	}
}

// Trouble is that which was set, or that of the store.
func (s *storage) Trouble() error {
	if err := s.trouble.Load(); err != nil {
		return *err
	}
	return s.Store.Trouble()
}

// Write is that of the store. While there is a trouble, what f did is undone, as by a commit that fails.
func (s *storage) Write(ctx context.Context, f func(store.Tx) error) error {
	trouble := s.trouble.Load()
	if trouble == nil {
		return s.Store.Write(ctx, f)
	}

	err := s.Store.Write(ctx, func(tx store.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		return errScripted
	})
	if errors.Is(err, errScripted) {
		return *trouble
	}

	return err
}

// SubmitJob is that of the store; see Write.
func (s *storage) SubmitJob(ctx context.Context, one *store.Submission) error {
	if s.trouble.Load() == nil {
		return s.Store.SubmitJob(ctx, one)
	}
	return s.Write(ctx, func(tx store.Tx) error {
		_, err := one.In(tx, "")
		return err
	})
}

// TakeJobs is that of the store; see Write.
func (s *storage) TakeJobs(ctx context.Context, t store.Take) error {
	if s.trouble.Load() == nil {
		return s.Store.TakeJobs(ctx, t)
	}
	return s.Write(ctx, func(tx store.Tx) error { return t.In(tx) })
}

// EndJob is that of the store; see Write.
func (s *storage) EndJob(ctx context.Context, e store.JobEnd) error {
	if s.trouble.Load() == nil {
		return s.Store.EndJob(ctx, e)
	}
	return s.Write(ctx, func(tx store.Tx) error {
		_, err := e.In(tx)
		return err
	})
}

// logDamage logs what of the log of the database could not be read.
func logDamage(log *slog.Logger, d *sqlite.Damage) {
	switch {
	case d == nil:
	case d.Certain():
		log.Error("writes that were acknowledged are lost; restore a backup if you need them", "error", d)
	default:
		log.Warn("the last write is lost; if the power failed while it was made, it was never acknowledged", "error", d)
	}
}

// logTrouble logs once that writes begin to fail, and once that they succeed again.
func logTrouble(log *slog.Logger) func(trouble error, failed int) {
	return func(trouble error, failed int) {
		if trouble != nil {
			log.Error("the storage takes no writes; they are refused until it does", "error", trouble)
			return
		}
		log.Warn("the storage takes writes again", "refused", failed)
	}
}
