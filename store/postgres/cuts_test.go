//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

// everyCut reports whether a connection is to be cut at every byte, and not at one of so many: make cuts.
var everyCut = os.Getenv("BERTH_CUTS") == "all"

const stride = 97 // bytes

// owned is a store of an owner, reached through a proxy, and one that looks at the same database directly.
type owned struct {
	*testing.T
	proxy   *pgtest.Proxy
	url     string // direct
	owners  *postgres.Owners
	owner   store.Owner
	store   *postgres.DB
	direct  *postgres.DB
	unknown atomic.Int64 // how often nobody knew whether a commit is on disk
	rounds  int
}

var me = store.Replica{ID: "me", Address: "http://127.0.0.1:1"}

// own becomes the owner of a database of its own.
func own(t *testing.T) *owned {
	t.Helper()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	o := &owned{T: t, url: url}
	o.proxy, err = cluster.Proxy()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.proxy.Close()) })

	o.owners, err = postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.owners.Close()) })
	o.direct, err = postgres.Open(t.Context(), url, compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.direct.Close()) })
	o.open()

	require.NoError(t, o.store.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u", Name: "e"})
	}))
	return o
}

// open opens the store for the next epoch.
func (o *owned) open() {
	o.Helper()
	var err error
	o.owner, err = o.owners.Hold(o.Context(), me, time.Hour)
	require.NoError(o, err)
	url, err := o.proxy.URL(o.url)
	require.NoError(o, err)
	o.store, err = postgres.Open(o.Context(), url, compute.SystemClock{}, postgres.Of(o.owner.Epoch), postgres.Unknown(func() { o.unknown.Add(1) }))
	require.NoError(o, err)
	o.Cleanup(func() { _ = o.store.Close() }) // what a cut has left of it
}

// lined is a context that reports when a write that has it stands in line: it asks twice then for the end of the context.
type lined struct {
	context.Context
	asked atomic.Int64
	in    chan struct{}
}

func (l *lined) Done() <-chan struct{} {
	if l.asked.Add(1) == 2 {
		close(l.in)
	}
	return l.Context.Done()
}

// round is one group: a job that is submitted, one that is taken and one that is ended.
type round struct {
	submitted, taken, ended compute.JobID
	effects                 [3]int // how often each is notified that it was done
	errs                    [3]error
	disk                    [3]bool
}

// group runs a round, in one group. at is called when everything before it is on disk; after it, if the loop of the group had the turn.
func (o *owned) group(at func()) *round {
	o.Helper()
	o.rounds++
	id := func(what string) compute.JobID { return compute.JobID(fmt.Sprintf("%s-%05d", what, o.rounds)) }
	r := &round{submitted: id("submitted"), taken: id("taken"), ended: id("ended")}
	job := func(id compute.JobID) compute.Job {
		return compute.Job{ID: id, EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Hour}
	}
	ended := job(r.ended)
	ended.Status, ended.WorkerID, ended.Attempt = compute.JobInProgress, "w", 1
	was := store.GuardOf(ended)
	ended.Status = compute.JobCompleted

	calls := []func(context.Context) error{
		func(ctx context.Context) error {
			return o.store.SubmitJob(ctx, &store.Submission{Job: job(r.submitted), Input: json.RawMessage(`1`), Stored: func(compute.Job) { r.effects[0]++ }})
		},
		func(ctx context.Context) error {
			return o.store.TakeJobs(ctx, store.Take{Worker: "w", Jobs: []compute.JobID{r.taken}, Taken: func(jobs []store.TakenJob, _ int) { r.effects[1] += len(jobs) }})
		},
		func(ctx context.Context) error {
			return o.store.EndJob(ctx, store.JobEnd{Job: ended, Was: was, Ended: func(compute.Job) { r.effects[2]++ }})
		},
	}

	answered := make([]chan struct{}, len(calls))
	require.NoError(o, o.store.Write(o.Context(), func(tx store.Tx) error { // it has the turn: the others wait until it is on disk
		for i, call := range calls {
			if answered[i] != nil {
				continue // run again
			}
			answered[i] = make(chan struct{})
			ctx := &lined{Context: o.Context(), in: make(chan struct{})}
			go func() {
				r.errs[i] = call(ctx)
				close(answered[i])
			}()
			<-ctx.in
		}

		held := job(r.ended)
		held.Status, held.WorkerID, held.Attempt = compute.JobInProgress, "w", 1
		if err := tx.InsertJob(held, nil); err != nil {
			return err
		}
		tx.AfterCommit(at)
		return tx.InsertJob(job(r.taken), nil)
	}))
	for _, one := range answered {
		<-one
	}

	return r
}

// bytes gives how many bytes of a group go that way.
func (o *owned) bytes(d pgtest.Direction) (all int) {
	o.Helper()
	o.requireReported(o.group(func() {}), "nothing cut") // its statements are prepared now
	for all == 0 {
		o.requireReported(o.group(o.proxy.Count), "nothing cut")
		all = o.proxy.Passed(d)
	}
	return all
}

// cut runs a group whose connection is cut after so many bytes that go that way. then is called before it is cut.
func (o *owned) cut(d pgtest.Direction, n int, then func()) *round {
	o.Helper()
	var cut atomic.Bool
	for range 100 {
		r := o.group(func() {
			o.proxy.CutAfter(d, n, func() {
				cut.Store(true)
				then()
			})
		})
		o.proxy.Count()
		if cut.Load() {
			return r
		}
	}
	require.Fail(o, "no group has so many bytes", n)
	return nil
}

// look finds out what of a round is on disk.
func (o *owned) look(r *round) {
	o.Helper()
	require.NoError(o, o.direct.Read(o.Context(), func(tx store.Tx) error {
		is := func(id compute.JobID, s compute.JobStatus) bool {
			j, err := tx.Job(id)
			require.True(o, err == nil || compute.CodeOf(err) == compute.NotFound, err)
			return err == nil && j.Status == s
		}
		r.disk = [3]bool{is(r.submitted, compute.JobInQueue), is(r.taken, compute.JobInProgress), is(r.ended, compute.JobCompleted)}
		return nil
	}))
}

// requireReported checks that each call of a round was answered what is on disk, and that what was to happen after it happened once.
func (o *owned) requireReported(r *round, why string) {
	o.Helper()
	o.look(r)
	for i, err := range r.errs {
		require.False(o, store.IsUnknown(err), why)
		if err != nil {
			require.Equal(o, store.Away, store.TroubleOf(err), "%s: %v", why, err)
		}
		require.Equal(o, err == nil, r.disk[i], "%s, call %d: %v", why, i, err)
		require.Equal(o, err == nil, r.effects[i] == 1, "%s, call %d", why, i)
	}
}

// requireCounted checks that the counts are those of the rows: nothing was done twice.
func (o *owned) requireCounted() {
	o.Helper()
	require.NoError(o, o.direct.Read(o.Context(), func(tx store.Tx) error {
		counts, err := tx.CountJobs("e")
		require.NoError(o, err)
		var found compute.JobCounts
		require.NoError(o, tx.UnfinishedJobs(func(j compute.Job) {
			if j.Status == compute.JobInQueue {
				found.InQueue++
			} else {
				found.InProgress++
			}
		}))
		for n := range o.rounds {
			if j, err := tx.Job(compute.JobID(fmt.Sprintf("ended-%05d", n+1))); err == nil && j.Status == compute.JobCompleted {
				found.Completed++
			}
		}
		require.Equal(o, found, counts)
		return nil
	}))
}

func TestCuts_CutAtAnyByteIsReportedTruly(t *testing.T) {
	t.Parallel()
	for d, name := range map[pgtest.Direction]string{pgtest.ToServer: "to the server", pgtest.ToClient: "to the client"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := own(t)
			all := o.bytes(d)
			step, stored := stride, 0
			if everyCut {
				step = 1
			}
			for n := 0; n < all; n = after(n, step, all) {
				why := fmt.Sprintf("cut after %d of %d bytes", n, all)
				r := o.cut(d, n, func() {})
				o.requireReported(r, why)
				if r.disk[0] {
					stored++
				}
				o.requireReported(o.group(func() {}), why+", then")
			}

			t.Logf("%d bytes; after %d cuts it was on disk", all, stored)
			o.requireCounted()
			require.Zero(t, o.unknown.Load())
		})
	}
}

// after gives the next byte to cut at: the last ones, of the commit, are cut at each.
func after(n, step, all int) int {
	const commit = 60
	if next := n + step; next < all-commit || step == 1 {
		return next
	}
	return max(n+1, all-commit)
}
