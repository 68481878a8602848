package changes_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// rows opens a store with an endpoint, and the log of its changes.
func rows(t *testing.T) (store.Store, *changes.Log) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	log := changes.New(compute.SystemClock{}, "here", db)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	s := log.Store()
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertEndpoint(endpoint) }))
	return s, log
}

var (
	endpoint = compute.Endpoint{ID: "e1", UserID: "ada", Name: "one", WorkersMax: 1}
	job      = compute.Job{ID: "0198c0de-0000-7000-8000-000000000000", EndpointID: "e1", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Hour}
)

// next gives what comes next, without the numbers.
func next(t *testing.T, r *changes.Reader) (all []changes.Event) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	for len(all) == 0 {
		events, more := r.Read()
		for _, e := range events {
			e.Sequence = 0
			all = append(all, e)
		}
		if len(all) == 0 {
			select {
			case <-more:
			case <-ctx.Done():
				require.Fail(t, "nothing came")
			}
		}
	}
	return all
}

func TestLog_TellsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	s, log := rows(t)
	r := log.Follow("")
	defer r.Close()
	require.Error(t, s.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, tx.InsertTemplate(compute.Template{ID: "t0", UserID: "ada"}))
		return errors.New("undone")
	}))
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertTemplate(compute.Template{ID: "t1", UserID: "bob"}) }))
	require.Equal(t, []changes.Event{{Kind: changes.Template, ID: "t1", Change: changes.Created, User: "bob"}}, next(t, r))

	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteTemplate("t1") }))
	require.Equal(t, []changes.Event{{Kind: changes.Template, ID: "t1", Change: changes.Deleted, User: "bob"}}, next(t, r))
}

func TestLog_TellsOfWhatChangesWithAnother(t *testing.T) {
	t.Parallel()
	s, log := rows(t)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(
			tx.InsertRegistry(compute.Registry{ID: "r", UserID: "bob"}), tx.InsertTemplate(compute.Template{ID: "t", UserID: "bob", RegistryID: "r"}),
			tx.InsertClaims(compute.HostSize{DiskGB: 100}, compute.Claim{HolderID: "p", HostID: "h", DiskGB: 10}),
		)
	}))
	r := log.Follow("")
	defer r.Close()

	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.ForgetRegistry("r")
		return err
	}))
	require.Equal(t, []changes.Event{{Kind: changes.Template, ID: "t", Change: changes.Changed, User: "bob"}}, next(t, r))

	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.ResizeClaim("p", false, 5, 100)
		return err
	}))
	require.Equal(t, []changes.Event{{Kind: changes.Host, ID: "h", Change: changes.Changed}}, next(t, r))
}

// A worker that connects by itself has the id that it says, at one endpoint and at another one.
func TestLog_WorkersOfTwoEndpointsAreTwo(t *testing.T) {
	t.Parallel()
	_, log := rows(t)
	r := log.Follow("")
	defer r.Close()
	one, two := changes.Event{Kind: changes.Worker, ID: "w", Change: changes.Changed, Endpoint: "e1", User: "ada"}, changes.Event{Kind: changes.Worker, ID: "w", Change: changes.Changed, Endpoint: "e2", User: "bob"}
	log.Note(one, two)
	require.Equal(t, []changes.Event{one, two}, next(t, r))
}

func TestLog_MakesOneEventOfAWindow(t *testing.T) {
	t.Parallel()
	s, log := rows(t)
	r := log.Follow("")
	defer r.Close()
	require.NoError(t, s.SubmitJob(t.Context(), &store.Submission{Job: job, Input: []byte(`{}`)}))
	require.NoError(t, s.TakeJobs(t.Context(), store.Take{Worker: "w", Jobs: []compute.JobID{job.ID}, Taken: func([]store.TakenJob, int) {}}))
	ended := job
	ended.Status, ended.WorkerID, ended.Attempt = compute.JobCompleted, "w", 1
	require.NoError(t, s.EndJob(t.Context(), store.JobEnd{Job: ended, Was: store.JobGuard{Status: compute.JobInProgress, Worker: "w", Attempt: 1}}))

	seen := map[changes.Kind]changes.Event{}
	for seen[changes.Job].Status != string(compute.JobCompleted) { // on a slow machine in more than one window
		for _, e := range next(t, r) {
			if before, there := seen[e.Kind]; there {
				e.Change = before.Change
			}
			seen[e.Kind] = e
		}
	}
	require.Equal(t, map[changes.Kind]changes.Event{
		changes.Job:    {Kind: changes.Job, ID: string(job.ID), Change: changes.Created, Status: "COMPLETED", Endpoint: "e1", User: "ada"},
		changes.Worker: {Kind: changes.Worker, ID: "w", Change: changes.Changed, Endpoint: "e1", User: "ada"},
	}, seen)
}

// pass lets so much time pass in a bubble.
func pass(d time.Duration) { _ = compute.Sleep(context.Background(), compute.SystemClock{}, d) }

// noted gives the events that come of what is noted, in a bubble.
func noted(log *changes.Log, r *changes.Reader, all ...changes.Event) []changes.Event {
	log.Note(all...)
	pass(changes.Window)
	synctest.Wait()
	events, _ := r.Read()
	return events
}

func TestLog_CoalescesByThing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := changes.New(compute.SystemClock{}, "here", nil)
		defer func() { require.NoError(t, log.Close()) }()
		r := log.Follow("")
		defer r.Close()
		pod := func(c changes.Change, status string) changes.Event {
			return changes.Event{Kind: changes.Pod, ID: "p", Change: c, Status: status, User: "ada"}
		}
		for _, c := range []struct{ first, then, one changes.Change }{
			{changes.Created, changes.Changed, changes.Created},
			{changes.Created, changes.Deleted, changes.Deleted},
			{changes.Changed, changes.Deleted, changes.Deleted},
			{changes.Deleted, changes.Created, changes.Changed},
			{changes.Changed, changes.Changed, changes.Changed},
		} {
			events := noted(log, r, pod(c.first, "ONE"), changes.Event{Kind: changes.Volume, ID: "p"}, pod(c.then, ""))
			require.Len(t, events, 2)
			require.Equal(t, c.one, events[0].Change)
			require.Equal(t, "ONE", events[0].Status)
			require.Equal(t, events[0].Sequence+1, events[1].Sequence)
		}
	})
}

func TestReader_GoesOnWhereAnotherStood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := changes.New(compute.SystemClock{}, "here", nil)
		defer func() { require.NoError(t, log.Close()) }()
		first := log.Follow("")
		began := first.ID()
		require.Len(t, noted(log, first, changes.Event{Kind: changes.Pod, ID: "a"}), 1)
		stood := first.ID()
		first.Close()
		log.Note(changes.Event{Kind: changes.Pod, ID: "b"})
		pass(changes.Linger / 2)

		second := log.Follow(stood)
		events, _ := second.Read()
		require.Len(t, events, 1)
		require.Equal(t, "b", events[0].ID)
		require.Equal(t, second.ID(), second.IDOf(events[0]))
		whole := log.Follow(began)
		events, _ = whole.Read()
		require.Len(t, events, 2)
		whole.Close()

		for _, unknown := range []string{"there-1", "here-x", "here-999", "here--1", "x"} {
			lost := log.Follow(unknown)
			events, _ = lost.Read()
			require.Len(t, events, 1, unknown)
			require.Equal(t, changes.Reset, events[0].Kind)
			require.Equal(t, second.ID(), lost.ID())
			lost.Close()
		}

		stood = second.ID()
		second.Close()
		pass(2*changes.Linger + changes.Window)
		synctest.Wait()
		late := log.Follow(stood) // nobody followed meanwhile, and nobody knows what happened
		defer late.Close()
		events, _ = late.Read()
		require.Len(t, events, 1)
		require.Equal(t, changes.Reset, events[0].Kind)
	})
}

func TestReader_ThatIsSlowReadsEverythingAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := changes.New(compute.SystemClock{}, "here", nil)
		defer func() { require.NoError(t, log.Close()) }()
		r := log.Follow("")
		defer r.Close()
		for i := range changes.Kept + 1 {
			log.Note(changes.Event{Kind: changes.Job, ID: string(rune('a' + i%2))})
			pass(2 * changes.Window)
		}
		events, more := r.Read()
		require.Equal(t, changes.Reset, events[0].Kind)
		require.Len(t, events, 512)
		require.Equal(t, changes.Job, events[1].Kind)
		<-more // it has more already

		many := make([]changes.Event, changes.Kept+1)
		for i := range many {
			many[i] = changes.Event{Kind: changes.Job, ID: time.Duration(i).String()}
		}
		events = noted(log, r, many...)
		require.Equal(t, changes.Reset, events[0].Kind, "more in a window than is kept")
		require.Greater(t, len(events), 1)

		last := log.Follow("")
		defer last.Close()
		require.Equal(t, changes.Reset, noted(log, last, changes.Event{Kind: changes.Pod, ID: "p"}, changes.Event{Kind: changes.Reset})[0].Kind)
		log.Lose()
		require.Equal(t, changes.Reset, noted(log, last)[0].Kind)
	})
}

func TestStore_WriteThatBeganBeforeSomebodyFollowed(t *testing.T) {
	t.Parallel()
	s, log := rows(t)
	var r *changes.Reader
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		if r == nil {
			r = log.Follow("")
		}
		return tx.InsertTemplate(compute.Template{ID: "t1", UserID: "bob"})
	}))
	defer r.Close()
	require.Equal(t, changes.Reset, next(t, r)[0].Kind)
}

// hiccups is a store of an endpoint. What is read of it fails with these errors first.
type hiccups struct {
	store.Store
	errs []error
}

// owned is a transaction that knows the endpoint.
type owned struct{ store.Tx }

func (owned) Endpoint(compute.EndpointID) (compute.Endpoint, error) { return endpoint, nil }

func (s *hiccups) Read(_ context.Context, f func(store.Tx) error) error {
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return err
	}
	return f(owned{})
}

func TestLog_TellsThatNobodyKnowsWhoseAnEventIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &hiccups{errs: []error{errors.New("busy"), compute.Errorf(compute.NotFound, "gone")}}
		log := changes.New(compute.SystemClock{}, "here", s)
		defer func() { require.NoError(t, log.Close()) }()
		r := log.Follow("")
		defer r.Close()
		event := changes.Event{Kind: changes.Job, ID: "j", Change: changes.Changed, Endpoint: "e1"}
		kinds := func(all []changes.Event) (kinds []changes.Kind) {
			for _, e := range all {
				kinds = append(kinds, e.Kind)
			}
			return kinds
		}

		require.Equal(t, []changes.Kind{changes.Job}, kinds(noted(log, r, event)))
		require.Equal(t, []changes.Kind{changes.Reset}, kinds(noted(log, r)), "it is to be read again")
		require.Equal(t, []changes.Kind{changes.Job}, kinds(noted(log, r, event)), "of one that is gone")
		require.Empty(t, noted(log, r))
		told := noted(log, r, event)
		require.Len(t, told, 1)
		require.Equal(t, endpoint.UserID, told[0].User)
	})
}
