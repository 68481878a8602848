package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthdev/berth/store"
)

var _ store.Owners = (*Owners)(nil)

// Owners is the table of who owns the store, on a connection of its own: what writes and reads may be slow.
type Owners struct {
	config *pgx.ConnConfig

	mu sync.Mutex // of the connection
	on *pgx.Conn  // nil: there is none
}

// OpenOwners opens the database that the URL names, as Open does.
func OpenOwners(ctx context.Context, url string) (*Owners, error) {
	config, err := prepare(ctx, url)
	if err != nil {
		return nil, err
	}
	return &Owners{config: config}, nil
}

// now is the time of the database, in milliseconds.
const now = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`

// hold renews what the replica owns, or takes what nobody does, and gives nothing if another one owns it. It does not look whose it is: it
// may have waited for another replica to take it, and sees the rows as they were before.
const hold = `INSERT INTO owners AS o (shard, replica, address, epoch, until) VALUES (0, $1, $2, 1, ` + now + ` + $3)
ON CONFLICT (shard) DO UPDATE SET replica = excluded.replica, address = excluded.address, until = excluded.until,
  epoch = o.epoch + CASE WHEN o.replica = excluded.replica AND o.until > 0 THEN 0 ELSE 1 END
WHERE o.replica = excluded.replica OR o.until <= ` + now + `
RETURNING replica, address, epoch, until - ` + now

// holdTries is how often Hold tries to take what another replica had and nobody has any more when it looks whose it is.
const holdTries = 3

// errNotHeld is the error of a Hold that each time had another replica in its way, of which nothing was left.
var errNotHeld = errors.New("the row of the owner comes and goes")

// Hold renews the lease of the replica, or takes what no other has, and gives the owner.
func (o *Owners) Hold(ctx context.Context, me store.Replica, lease time.Duration) (owner store.Owner, err error) {
	err = o.do(ctx, func(c *pgx.Conn) error {
		for range holdTries {
			owner, err = ownerOf(c.QueryRow(ctx, hold, me.ID, me.Address, lease.Milliseconds()))
			if err == nil && owner.ID == "" {
				owner, err = seeOwner(ctx, c) // by a statement of its own, which sees what the first one has waited for
			}
			if err != nil || owner.ID != "" {
				return err
			}
		}
		return errNotHeld
	})
	return owner, err
}

// See gives the owner.
func (o *Owners) See(ctx context.Context) (owner store.Owner, err error) {
	err = o.do(ctx, func(c *pgx.Conn) error {
		owner, err = seeOwner(ctx, c)
		return err
	})
	return owner, err
}

// Release gives up what the replica owns, at once. Its next Hold has another epoch.
func (o *Owners) Release(ctx context.Context, me store.Replica) error {
	return o.do(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, `UPDATE owners SET until = 0 WHERE replica = $1`, me.ID)
		return err
	})
}

const (
	// joinAlone has replicas that join at once do so one after the other, each of which sees those before it. One that has joined waits for nobody.
	joinAlone = `SELECT FROM berth_schema WHERE NOT EXISTS (SELECT FROM replicas WHERE id = $1) FOR UPDATE`

	join = `INSERT INTO replicas AS r (id, address, settings, until) VALUES ($1, $2, $3, ` + now + ` + $4)
ON CONFLICT (id) DO UPDATE SET address = excluded.address, settings = excluded.settings, until = excluded.until`
	others = `SELECT id, address, settings FROM replicas WHERE id <> $1 AND until > ` + now + ` ORDER BY id`
)

// Join says for a while that the replica runs, with its settings, and gives the others that do.
func (o *Owners) Join(ctx context.Context, me store.Replica, lease time.Duration) (all []store.Replica, err error) {
	settings, err := json.Marshal(me.Settings)
	if err != nil {
		return nil, err
	}

	err = o.do(ctx, func(c *pgx.Conn) error {
		batch := &pgx.Batch{}
		batch.Queue(joinAlone, me.ID)
		batch.Queue(join, me.ID, me.Address, string(settings), lease.Milliseconds())
		batch.Queue(`DELETE FROM replicas WHERE until < ` + now + ` - 86400000`)
		batch.Queue(others, me.ID).Query(func(rows pgx.Rows) (err error) {
			all, err = pgx.CollectRows(rows, replicaOf)
			return err
		})
		return c.SendBatch(ctx, batch).Close()
	})

	return all, err
}

// Leave undoes Join, and gives up what the replica owns.
func (o *Owners) Leave(ctx context.Context, me store.Replica) error {
	return o.do(ctx, func(c *pgx.Conn) error {
		batch := &pgx.Batch{}
		batch.Queue(`UPDATE owners SET until = 0 WHERE replica = $1`, me.ID)
		batch.Queue(`DELETE FROM replicas WHERE id = $1`, me.ID)
		return c.SendBatch(ctx, batch).Close()
	})
}

// do runs f on the connection, which it opens if there is none, and again if it was lost: f may run twice.
func (o *Owners) do(ctx context.Context, f func(*pgx.Conn) error) (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.on != nil {
		if err = o.try(f); troubleOf(err) != store.Away {
			return reported(err)
		} // it was lost since it was last used
	}
	if o.on, err = pgx.ConnectConfig(ctx, o.config); err != nil {
		o.on = nil
		return store.Troubled(store.Away, err)
	}
	return reported(o.try(f))
}

// try runs f on the connection. If that fails nobody knows what it is worth.
func (o *Owners) try(f func(*pgx.Conn) error) error {
	err := f(o.on)
	if err == nil {
		return nil
	}
	if o.on.IsClosed() {
		err = &awayError{err}
	}
	_ = o.on.Close(context.Background())
	o.on = nil
	return fmt.Errorf("who owns the store: %w", err)
}

// Close closes the connection.
func (o *Owners) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.on == nil {
		return nil
	}
	err := o.on.Close(context.Background())
	o.on = nil
	return err
}

// errMoved is the error of a write of who owns the store no more.
var errMoved = errors.New("another replica owns the store")
