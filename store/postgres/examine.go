package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthdev/berth/store"
)

// Standing is how a database stands.
type Standing struct {
	Where    string // host, port and name
	Version  string // of PostgreSQL
	Schema   int    // version of the schema; 0: there is none yet
	Known    int    // the latest one that this program knows
	Standbys string // synchronous_standby_names: which other servers have what was acknowledged, too
	ReadOnly bool   // it is a standby itself
	Owner    store.Owner
	Replicas []store.Replica
}

// Examine looks at the database that the URL names, and changes nothing. No error has the password.
func Examine(ctx context.Context, url string) (s Standing, err error) {
	config, err := parse(url)
	if err != nil {
		return s, err
	}
	s.Where, s.Known = nameOf(config), len(migrations())
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return s, store.Troubled(store.Away, err)
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	return s, s.look(ctx, c)
}

// look fills in what the database says.
func (s *Standing) look(ctx context.Context, c *pgx.Conn) error {
	var made bool
	err := c.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('synchronous_standby_names'), pg_is_in_recovery(),
to_regclass('berth_schema') IS NOT NULL`).Scan(&s.Version, &s.Standbys, &s.ReadOnly, &made)
	if err != nil || !made {
		return err
	}
	if err := c.QueryRow(ctx, "SELECT version FROM berth_schema").Scan(&s.Schema); err != nil || s.Schema == 0 {
		return err
	}

	if s.Owner, err = seeOwner(ctx, c); err != nil {
		return err
	}
	s.Replicas, err = seeReplicas(ctx, c, "")
	return err
}

// CheckUpgrade fails if replicas run on the database that the URL names and Open would bring its schema to a version that they do not know: it is
// they who do that, one after the other, and no command beside them.
func CheckUpgrade(ctx context.Context, url string) error {
	config, err := parse(url)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if err := connected(ctx, config, checkUpgrade); err != nil {
		return &openError{fmt.Errorf("open store %s: %w", nameOf(config), err), reported(err)}
	}
	return nil
}

func checkUpgrade(ctx context.Context, c *pgx.Conn) error {
	s := Standing{Known: len(migrations())}
	if err := s.look(ctx, c); err != nil || s.Schema == 0 || s.Schema >= s.Known || len(s.Replicas) == 0 {
		return err
	}
	return fmt.Errorf("the replica at %s uses it, and its schema is of version %d; this berth would make it version %d, which that one does not know: replace the replicas by this one first, or use the one that they run",
		s.Replicas[0].Address, s.Schema, s.Known)
}

// seeOwner gives the owner; its ID is empty if there is none.
func seeOwner(ctx context.Context, c *pgx.Conn) (store.Owner, error) {
	return ownerOf(c.QueryRow(ctx, `SELECT replica, address, epoch, until - `+now+` FROM owners WHERE shard = 0`))
}

// ownerOf reads the owner of a row; its ID is empty if there is no row.
func ownerOf(row pgx.Row) (owner store.Owner, err error) {
	var left int64
	err = row.Scan(&owner.ID, &owner.Address, &owner.Epoch, &left)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Owner{}, nil
	}
	owner.Left = time.Duration(left) * time.Millisecond
	return owner, err
}

// seeReplicas gives the replicas that run, but that one.
func seeReplicas(ctx context.Context, c *pgx.Conn, but string) ([]store.Replica, error) {
	rows, err := c.Query(ctx, others, but)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, replicaOf)
}

func replicaOf(row pgx.CollectableRow) (r store.Replica, err error) {
	var settings string
	if err = row.Scan(&r.ID, &r.Address, &settings); err == nil {
		err = json.Unmarshal([]byte(settings), &r.Settings)
	}
	return r, err
}
