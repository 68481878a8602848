package replica

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

// table is who owns a store, in memory.
type table struct {
	mu    sync.Mutex
	owner store.Owner
	until time.Time
	away  bool // it does not answer
	here  map[string]store.Replica
}

var errAway = errors.New("the database cannot be reached")

func (t *table) do(f func()) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away {
		return errAway
	}
	f()
	return nil
}

func (t *table) left() store.Owner {
	o := t.owner
	o.Left = time.Until(t.until)
	return o
}

func (t *table) Hold(_ context.Context, me store.Replica, lease time.Duration) (o store.Owner, err error) {
	err = t.do(func() {
		if t.owner.ID != me.ID && time.Now().Before(t.until) {
			o = t.left()
			return
		}
		if t.owner.ID != me.ID {
			t.owner = store.Owner{ID: me.ID, Address: me.Address, Epoch: t.owner.Epoch + 1}
		}
		t.until = time.Now().Add(lease)
		o = t.left()
	})
	return o, err
}

func (t *table) See(context.Context) (o store.Owner, err error) {
	err = t.do(func() { o = t.left() })
	return o, err
}

func (t *table) Release(_ context.Context, me store.Replica) error {
	return t.do(func() {
		if t.owner.ID == me.ID {
			t.until = time.Time{}
		}
	})
}

func (t *table) Join(_ context.Context, me store.Replica, _ time.Duration) (others []store.Replica, err error) {
	err = t.do(func() {
		if t.here == nil {
			t.here = map[string]store.Replica{}
		}
		t.here[me.ID] = me
		for _, id := range slices.Sorted(maps.Keys(t.here)) {
			if id != me.ID {
				others = append(others, t.here[id])
			}
		}
	})
	return others, err
}

func (t *table) Leave(ctx context.Context, me store.Replica) error {
	err := t.Release(ctx, me)
	return errors.Join(err, t.do(func() { delete(t.here, me.ID) }))
}

func (t *table) Close() error { return nil }

func (t *table) set(away bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = away
}

// played is the service of one replica in a test.
type played struct {
	http.Handler
	epoch           int64
	stopped, closed chan struct{}
	ends            chan struct{} // Close waits for it; nil: it does not
	stopping        time.Duration // that StopWork takes
}

func (p *played) StopWork() error {
	<-time.After(p.stopping) // of a bubble
	close(p.stopped)
	return nil
}

func (p *played) Close() error {
	if p.ends != nil {
		<-p.ends
	}
	close(p.closed)
	return nil
}

// one is a replica in a test.
type one struct {
	*Member
	served chan *played
	fails  error         // of Serve
	ends   chan struct{} // of its services
	slow   time.Duration // that Serve takes
	stop   func()
}

func settingsOf(owners store.Owners, id string) Settings {
	return Settings{
		Me: store.Replica{ID: id, Address: "http://127.0.0.1:1/" + id, Settings: map[string]string{"contract": "public"}}, Owners: owners, Key: []byte("key"),
		Log: slog.New(slog.DiscardHandler),
		Refuse: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
		Reads: func(r *http.Request) bool { return r.URL.Path != takesAway },
	}
}

func join(t *testing.T, owners store.Owners, id string, handler http.Handler) *one {
	t.Helper()
	o := &one{served: make(chan *played, 10)}
	s := settingsOf(owners, id)
	s.Serve = func(_ context.Context, epoch int64) (Service, error) {
		<-time.After(o.slow) // of a bubble
		if o.fails != nil {
			return nil, o.fails
		}
		p := &played{Handler: handler, epoch: epoch, stopped: make(chan struct{}), closed: make(chan struct{}), ends: o.ends}
		o.served <- p
		return p, nil
	}
	var err error
	o.Member, err = Join(t.Context(), s)
	require.NoError(t, err)
	return o
}

// run has the replica keep its place until stop.
func (o *one) run(t *testing.T) *one {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { o.Run(ctx, nil) })
	o.stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(o.stop)
	return o
}

// next makes one step of the replica.
func (o *one) next(t *testing.T) time.Duration {
	t.Helper()
	wait, err := o.step(t.Context())
	require.NoError(t, err)
	return wait
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestMember_FirstOwnsTheStoreAndRenewsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := join(t, owners, "a", nil).run(t), join(t, owners, "b", nil)
		synctest.Wait()
		b.run(t)
		synctest.Wait()
		require.EqualValues(t, 1, (<-a.served).epoch)
		for range 20 { // ten leases
			time.Sleep(Lease / 2)
			require.True(t, a.Owns())
			require.True(t, a.serves(a.now.Load()))
			require.False(t, b.Owns())
			require.Equal(t, "a", b.Owner().ID)
		}
		require.Empty(t, a.served, "one service for one epoch")
		require.NotZero(t, a.Service())
		require.Nil(t, b.Service())
	})
}

func TestMember_OneOfThoseThatClaimAtOnceOwns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		all := []*one{join(t, owners, "a", nil).run(t), join(t, owners, "b", nil).run(t), join(t, owners, "c", nil).run(t)}
		time.Sleep(Lease)
		owning := slices.DeleteFunc(slices.Clone(all), func(o *one) bool { return !o.Owns() })
		require.Len(t, owning, 1)
		for _, o := range all {
			require.Equal(t, owning[0].settings.Me.ID, o.Owner().ID)
		}
	})
}

func TestMember_ReplacesAGoneOwnerInANewEpoch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := ownerAndOther(t, owners)
		time.Sleep(time.Second)
		a.stop() // it renews nothing any more
		gone := time.Now()
		p := <-b.served
		require.EqualValues(t, 2, p.epoch)
		require.LessOrEqual(t, time.Since(gone), Lease+lookTick)
		require.GreaterOrEqual(t, time.Since(gone), Lease-renewTick)
		require.False(t, a.serves(a.now.Load()), "it took its own lease for over before")
	})
}

func TestMember_LeaseEndsBeforeTheDatabaseEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a := join(t, owners, "a", nil)
		a.next(t)
		a.next(t)
		require.True(t, a.serves(a.now.Load()))
		time.Sleep(Lease - margin)
		require.False(t, a.serves(a.now.Load()))
		require.Positive(t, time.Until(owners.until))
	})
}

func TestMember_WithoutItsLeaseEndsItsServiceAndFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := join(t, owners, "a", nil), join(t, owners, "b", nil)
		a.ends = make(chan struct{})
		a.next(t)
		time.Sleep(2 * Lease) // it was paused
		b.next(t)
		require.EqualValues(t, 2, (<-b.served).epoch)

		a.next(t)
		former := <-a.served
		synctest.Wait()
		require.False(t, a.Owns())
		require.False(t, isClosed(former.closed), "it takes its time")
		require.Equal(t, "b", a.Owner().ID, "it knows the owner meanwhile")

		time.Sleep(2 * Lease) // now the other one was
		a.next(t)
		require.False(t, a.Owns(), "it takes nothing while its service of before ends")
		close(a.ends)
		synctest.Wait()
		require.True(t, isClosed(former.closed))
		a.next(t)
		require.True(t, a.Owns())
		require.EqualValues(t, 3, (<-a.served).epoch)
	})
}

func TestMember_OwnsUntilAnUnrenewedLeaseIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a := join(t, owners, "a", nil).run(t)
		time.Sleep(renewTick / 2)
		owners.set(true)
		time.Sleep(renewTick)
		require.True(t, a.Owns())
		time.Sleep(Lease)
		require.False(t, a.Owns())
		require.NotNil(t, a.Service(), "it may be the owner still: nobody knows")

		owners.set(false)
		time.Sleep(renewTick)
		require.True(t, a.Owns())
		require.Len(t, a.served, 1, "in the same epoch")
	})
}

func TestMember_SlowStartKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := join(t, owners, "a", nil), join(t, owners, "b", nil)
		a.slow = 3 * Lease
		a.run(t)
		synctest.Wait()
		b.run(t)
		time.Sleep(4 * Lease)
		require.True(t, a.Owns())
		require.False(t, b.Owns())
	})
}

func TestMember_LeavesTheStoreIfItCannotServe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a, b := join(t, owners, "a", nil), join(t, owners, "b", nil)
		a.fails = errors.New("no runtime")
		_, err := a.step(t.Context())
		require.ErrorIs(t, err, a.fails)
		require.False(t, a.Owns())
		b.next(t)
		require.True(t, b.Owns(), "at once")
	})
}

func TestMember_Leave_HandsTheStoreOverAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a := join(t, owners, "a", nil)
		a.ends = make(chan struct{})
		a.run(t)
		synctest.Wait()
		b := join(t, owners, "b", nil).run(t)
		time.Sleep(time.Second)
		a.stop()

		left := make(chan error, 1)
		go func() { left <- a.Leave(t.Context()) }()
		time.Sleep(3 * Lease)
		service := <-a.served
		require.True(t, isClosed(service.stopped))
		require.False(t, a.Owns(), "it answers nothing any more")
		now, err := owners.See(t.Context())
		require.NoError(t, err)
		require.Equal(t, "a", now.ID)
		require.Positive(t, now.Left, "the lease lasts until the service has ended: it may still write")

		close(a.ends)
		require.NoError(t, <-left)
		<-b.served
		now, err = owners.See(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2, now.Epoch)
		others, err := owners.Join(t.Context(), store.Replica{ID: "b"}, Lease)
		require.NoError(t, err)
		require.Empty(t, others)

		followed, stop := context.WithCancel(t.Context())
		var following sync.WaitGroup
		following.Go(func() { a.Follow(followed) })
		time.Sleep(lookTick)
		require.Equal(t, "b", a.Owner().ID)
		stop()
		following.Wait()
	})
}

func TestMember_LooksAtOnceIfAReplicaSaysSo(t *testing.T) {
	t.Parallel()
	owners := &table{}
	a, b := join(t, owners, "a", nil), own(t, func(http.ResponseWriter, *http.Request) {})
	a.others.Store(&[]store.Replica{{ID: "b", Address: b.server.URL}, {ID: "gone", Address: "http://127.0.0.1:1"}})
	require.Empty(t, b.look)
	a.notifyAll(t.Context())
	require.Len(t, b.look, 1)
	<-b.look
	ask(t, http.MethodHead, b.server.URL+"/healthz", http.NoBody, http.Header{lookHeader: {"1"}, proofHeader: {"guessed"}})
	require.Empty(t, b.look, "not by a stranger")
}

func TestMember_Leave_AnswersUntilItsWorkersHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := join(t, &table{}, "a", nil).run(t)
		synctest.Wait()
		service := <-a.served
		service.stopping = 3 * Lease
		a.stop()
		left := make(chan error, 1)
		go func() { left <- a.Leave(t.Context()) }()
		for range 10 {
			time.Sleep(Lease / 4)
			require.True(t, a.serves(a.now.Load()))
		}
		require.NoError(t, <-left)
		require.False(t, a.Owns())
	})
}

func TestJoin_NamesTheSettingThatDiffers(t *testing.T) {
	t.Parallel()
	owners := &table{}
	join(t, owners, "a", nil)
	s := settingsOf(owners, "b")
	s.Me.Settings = map[string]string{"contract": "2.0.0"}
	_, err := Join(t.Context(), s)
	require.EqualError(t, err, `the replica at http://127.0.0.1:1/a has contract "public", and this one has "2.0.0": they must be the same`)
	require.NotContains(t, owners.here, "b", "it has left")
}

func TestMember_Run_ReportsOnceThatThereIsAnOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		owners := &table{}
		a := join(t, owners, "a", nil)
		var calls []error
		ctx, cancel := context.WithTimeout(t.Context(), 3*Lease)
		defer cancel()
		a.Run(ctx, func(err error) { calls = append(calls, err) })
		require.Equal(t, []error{nil}, calls)
	})
}

func TestMember_WaitingClientIsAskedToTryAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := join(t, &table{}, "a", nil)
		begun := time.Now()
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v2/e/run", strings.NewReader("{}")))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		require.Equal(t, longestWait, time.Since(begun))
	})
}

func TestMember_AnswersWaitingClientsOnceItOwns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := join(t, &table{}, "a", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}))
		w := httptest.NewRecorder()
		var waiting sync.WaitGroup
		waiting.Go(func() { a.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v2/e/run", strings.NewReader("hello"))) })
		synctest.Wait()
		a.run(t)
		waiting.Wait()
		require.Equal(t, "hello", w.Body.String())
	})
}

func TestMember_OnlySoManyRequestsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := join(t, &table{}, "a", nil)
		begun := time.Now()
		ask := func() int {
			w := httptest.NewRecorder()
			a.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v2/e/job-take/w", http.NoBody))
			return w.Code
		}
		var waiting sync.WaitGroup
		for range mostWaiting {
			waiting.Go(func() { ask() })
		}
		synctest.Wait()
		require.EqualValues(t, mostWaiting, a.forward.waiting.now.Load())
		require.Equal(t, http.StatusServiceUnavailable, ask())
		require.Zero(t, time.Since(begun), "at once")
		waiting.Wait()
		require.Zero(t, a.forward.waiting.now.Load())
	})
}
