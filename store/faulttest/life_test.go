package faulttest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// whole reports whether every call is to fail, and not one of so many: make faults.
var whole = os.Getenv("BERTH_FAULTS") == "all"

// step gives every how many calls one is tried; fewer are under the race detector, which looks at what is shared and not at the disk.
func step(short int) int {
	switch {
	case whole:
		return 1
	case os.Getenv("BERTH_FAULTS") == "few":
		return 5 * short
	}
	return short
}

// scratch gives a new directory, in memory where the machine has it: what is on disk is what the Disk says.
func scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "berth-faults-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// stage is how far a job came.
type stage int

const (
	unknown stage = iota
	inserted
	taken
	ended
	deleted
)

// ledger is what a client of the store knows. It is safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	tried map[int]stage // by number
	acked map[int]stage
	errs  []error
}

func newLedger() *ledger { return &ledger{tried: map[int]stage{}, acked: map[int]stage{}} }

// knows gives a copy: what was acknowledged until now.
func (l *ledger) knows() *ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &ledger{tried: maps.Clone(l.tried), acked: maps.Clone(l.acked)}
}

// failed reports whether something was refused.
func (l *ledger) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.errs) > 0
}

func (l *ledger) try(i int, s stage, write func() error) bool {
	l.mu.Lock()
	l.tried[i] = s
	l.mu.Unlock()
	err := write()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.errs = append(l.errs, err)
		return false
	}
	l.acked[i] = s
	return true
}

func jobID(i int) compute.JobID {
	return compute.JobID(fmt.Sprintf("%08x-0000-7000-8000-%012x-u1", 0x19000000+i, i))
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const worker compute.WorkerID = "w"

// input is the input of a job, of about so many bytes.
func input(i, size int) json.RawMessage {
	return json.RawMessage(`{"n":` + strconv.Itoa(i) + `,"pad":"` + strings.Repeat("x", size) + `"}`)
}

// haveEndpoint makes the endpoint of the jobs, whose counts are its own, with the first of them.
func haveEndpoint(tx store.Tx, id compute.EndpointID) error {
	_, err := tx.Endpoint(id)
	if compute.CodeOf(err) == compute.NotFound {
		return tx.InsertEndpoint(compute.Endpoint{ID: id, UserID: "u", Name: "e", Type: compute.QueueEndpoint})
	}
	return err
}

// live takes a job as far as its number says, as a server does; n is how many jobs there are.
func live(db store.Store, l *ledger, i, size int) {
	ctx := context.Background()
	j := compute.Job{ID: jobID(i), EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Webhook: "http://127.0.0.1/"}
	if !l.try(i, inserted, func() error {
		return db.Write(ctx, func(tx store.Tx) error {
			j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Now(), tx.Now(), tx.Now().Add(j.TTL)
			if err := haveEndpoint(tx, j.EndpointID); err != nil {
				return err
			}
			return tx.InsertJob(j, input(i, size))
		})
	}) || i%2 != 0 {
		return
	}

	if !l.try(i, taken, func() error {
		return db.Write(ctx, func(tx store.Tx) (err error) {
			j, _, _, _, err = tx.TakeJob(j.ID, worker)
			return err
		})
	}) || i%4 != 0 {
		return
	}

	if !l.try(i, ended, func() error {
		return db.Write(ctx, func(tx store.Tx) error {
			was := store.GuardOf(j)
			j.Status, j.Output, j.EndedAt, j.ExpiresAt = compute.JobCompleted, json.RawMessage(`{"out":1}`), tx.Now(), tx.Now()
			if _, err := tx.MoveJob(j, was); err != nil {
				return err
			}
			return tx.InsertWebhook(compute.Webhook{JobID: j.ID, URL: j.Webhook, Body: j.Output, NextAt: tx.Now(), CreatedAt: tx.Now()})
		})
	}) || i%8 != 0 {
		return
	}

	l.try(i, deleted, func() error {
		return db.Write(ctx, func(tx store.Tx) error {
			_, err := tx.DeleteJob(j.ID, tx.Now())
			return err
		})
	})
}

// open opens the store as a server does.
func open(path string, with ...sqlite.Option) (*sqlite.DB, error) {
	return sqlite.Open(context.Background(), path, compute.NewFrozenClock(start), with...)
}

// run opens the store, has n jobs live in it and closes it. What fails is in the ledger.
func run(path string, l *ledger, n int) {
	db, err := open(path)
	if err != nil {
		l.errs = append(l.errs, err)
		return
	}
	for i := range n {
		live(db, l, i, 900)
	}
	_ = db.Close() // what fails here was acknowledged before
}

// stageOf gives how far a job that is found came.
func stageOf(tx store.Tx, i, size int) (stage, error) {
	j, err := tx.Job(jobID(i))
	if compute.CodeOf(err) == compute.NotFound {
		return unknown, nil
	}
	if err != nil {
		return unknown, err
	}
	if in, err := tx.JobInput(jobID(i)); err != nil || string(in) != string(input(i, size)) {
		return unknown, fmt.Errorf("job %d has not its input: %w", i, err)
	}

	switch j.Status {
	case compute.JobInQueue:
		return inserted, nil
	case compute.JobInProgress:
		return taken, nil
	case compute.JobCompleted:
		if string(j.Output) != `{"out":1}` {
			return ended, fmt.Errorf("job %d ended without its output", i)
		}
		return ended, nil
	}

	return unknown, fmt.Errorf("job %d is %s", i, j.Status)
}

// holds reports what of the ledger a store does not hold: every job came at least as far as was acknowledged, and no farther than
// was tried; and the counts say the same.
func (l *ledger) holds(db store.Store, size int) error {
	return db.Read(context.Background(), func(tx store.Tx) error {
		counts, certain := compute.JobCounts{}, true
		for i, tried := range l.tried {
			found, err := stageOf(tx, i, size)
			acked := l.acked[i]
			switch {
			case err != nil:
				return err
			case found == unknown && tried == deleted: // which is tried after the end was acknowledged, maybe since the image was taken
				found, certain = deleted, certain && acked >= ended
			case found < acked:
				return fmt.Errorf("job %d: %d was acknowledged, %d is there", i, acked, found)
			case found > tried:
				return fmt.Errorf("job %d: %d was tried, %d is there", i, tried, found)
			}

			switch found {
			case inserted:
				counts.InQueue++
			case taken:
				counts.InProgress++
			case ended, deleted:
				counts.Completed++
			case unknown:
			}
		}

		stored, err := tx.CountJobs("e")
		if err == nil && stored != counts && certain {
			err = fmt.Errorf("the counts are %+v, and the jobs %+v", stored, counts)
		}
		return err
	})
}

// survived reports what is wrong with the database of a file that a fault was survived by: it opens, holds the ledger, takes writes,
// is whole, and nothing of it is taken for damaged that was acknowledged.
func (l *ledger) survived(path string, size int) error {
	db, err := sqlite.OpenUnsynced(context.Background(), path, compute.NewFrozenClock(start))
	if err != nil {
		return fmt.Errorf("opened again: %w", err)
	}
	err = l.holds(db, size)
	if found := db.Damage(); err == nil && found != nil && found.Certain() {
		err = found
	}

	if err == nil {
		err = db.Write(context.Background(), func(tx store.Tx) error {
			return tx.InsertKey(compute.Key{ID: "after", UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
		})
	}

	if e := db.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = sound(path)
	}

	return err
}

// sound runs SQLite's own checks.
func sound(path string) error {
	raw, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	defer func() { _ = raw.Close() }() // it read only
	raw.SetMaxOpenConns(1)
	var verdict string
	if err := raw.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil {
		return fmt.Errorf("integrity check: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("integrity check: %s", verdict)
	}

	return nil
}

// random is the same at every run.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func in(dir string) string { return filepath.Join(dir, "data", "berth.db") }
