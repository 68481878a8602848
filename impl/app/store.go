package app

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/ship"
	"github.com/berthdev/berth/store/sqlite"
)

// database is the store.
type database struct {
	store   store.Store
	changes *changes.Log  // of the rows
	scripts *storage      // what the test controls set of it; nil without them
	backup  *ship.Shipper // nil: it is not shipped
}

// term is the time in which a replica owns the store; the zero one never ends, and nobody else owns it.
type term struct {
	epoch int64
	renew func() // ends it: memory may differ from the rows
}

// openStore opens the store, under what observes it and what tests set of it.
func openStore(ctx context.Context, c Config, sealed secrets, of term, clock compute.Clock, seen observers, u *undo) (d database, err error) {
	if c.Store == "" {
		d.store, d.backup, err = openFile(ctx, c, sealed, clock, seen, u)
	} else {
		d.store, err = openPostgres(ctx, c, of, clock, seen)
		if err == nil {
			u.push("store", d.store.Close)
		}
	}
	if err != nil {
		return d, err
	}

	d.changes = changes.New(compute.SystemClock{}, strings.ToLower(rand.Text()[:8]), d.store)
	u.push("changes", d.changes.Close)
	d.store = audit.Store(d.changes.Store())
	if seen.tracing != nil {
		d.store = seen.tracing.Store(d.store)
	}
	if c.TestControls {
		d.scripts = &storage{Store: d.store}
		d.store = d.scripts
	}

	return d, nil
}

// openFile opens the database in the data directory, and has it shipped if the settings ask for that.
func openFile(ctx context.Context, c Config, sealed secrets, clock compute.Clock, seen observers, u *undo) (store.Store, *ship.Shipper, error) {
	open := sqlite.Open
	if c.Ephemeral {
		open = sqlite.OpenUnsynced
	}
	with := []sqlite.Option{sqlite.Watch(logTrouble(c.Log))}
	if seen.metrics != nil {
		with = append(with, sqlite.Observe(seen.metrics.Committed))
	}

	db, err := open(ctx, filepath.Join(c.Data, databaseFile), clock, with...)
	if err != nil {
		return nil, nil, err
	}
	u.push("store", db.Close)
	logDamage(c.Log, db.Damage())
	backup, err := startBackup(c, db, sealed, u)
	return db, backup, err
}

// openPostgres opens the database that the settings name, for that term.
func openPostgres(ctx context.Context, c Config, of term, clock compute.Clock, seen observers) (store.Store, error) {
	unknown := func() {
		c.Log.Error("nobody knows whether the last commit is on disk; memory is made anew of the rows")
		of.renew()
	}
	with := []postgres.Option{postgres.Of(of.epoch), postgres.Unknown(unknown), postgres.Watch(logTrouble(c.Log))}
	if seen.metrics != nil {
		with = append(with, postgres.Observe(seen.metrics.Committed))
	}
	return postgres.Open(ctx, c.Store, clock, with...)
}
