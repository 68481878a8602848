package loop_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// slip builds images for an endpoint, by a builder that does what the test says.
type slip struct {
	*testing.T
	store     store.Store
	endpoints *control.Endpoints
	builds    *loop.Builds
	config    loop.BuildsConfig
	endpoint  compute.EndpointID

	build  func(ctx context.Context, b runtime.Build, emit func(string)) error
	images atomic.Value // []compute.BuildID, which a sweep reads at any time
	gone   chan compute.BuildID
}

func (s *slip) Build(ctx context.Context, b runtime.Build, emit func(string)) error {
	return s.build(ctx, b, emit)
}
func (s *slip) Images(context.Context) ([]compute.BuildID, error) {
	images, _ := s.images.Load().([]compute.BuildID)
	return images, nil
}
func (s *slip) RemoveImage(_ context.Context, id compute.BuildID) error {
	s.gone <- id
	return nil
}

// nobody is a queue that nothing is notified of.
type nobody struct{}

func (nobody) SetEndpoint(compute.Endpoint)                             {}
func (nobody) RemoveEndpoint(context.Context, compute.EndpointID) error { return nil }
func (nobody) WorkerStates(compute.EndpointID) []compute.WorkerState    { return nil }
func done(context.Context, runtime.Build, func(string)) error           { return nil }
func waiting(ctx context.Context, _ runtime.Build, _ func(string)) error {
	<-ctx.Done()
	return ctx.Err()
}
func reading(_ context.Context, b runtime.Build, _ func(string)) (err error) {
	_, err = io.Copy(io.Discard, b.Archive)
	return err
}
func failing(_ context.Context, _ runtime.Build, emit func(line string)) error {
	return errors.New(strings.Repeat("ü", compute.BuildError))
}

func newSlip(t *testing.T, change func(*loop.BuildsConfig)) *slip {
	return newSlipOn(t, func(db store.Store) store.Store { return db }, change)
}

// newSlipOn has the store that is made of one.
func newSlipOn(t *testing.T, of func(store.Store) store.Store, change func(*loop.BuildsConfig)) *slip {
	opened, clock := openStore(t)
	db := of(opened)
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	placement, err := control.NewPlacement(t.Context(), db, catalog, control.SimulatedFleet(catalog), packed)
	require.NoError(t, err)
	s := &slip{T: t, store: db, build: done, gone: make(chan compute.BuildID, 10)}
	s.endpoints = control.NewEndpoints(db, compute.NewIDs(rand.Reader, clock), placement, nobody{}, control.Runtime{Can: compute.AllCapabilities})

	name, image := "e", "i"
	e, err := s.endpoints.Create(t.Context(), "u", compute.QueueEndpoint, control.EndpointChange{
		Name: &name, Image: &image, CPUs: []compute.CPU{{ID: "cpu3c", VCPUCount: 2}}, Scaling: &control.Scaling{Scaler: compute.ByDelay, Value: 4},
	})
	require.NoError(t, err)
	s.endpoint = e.ID
	s.config = loop.BuildsConfig{Store: db, Endpoints: s.endpoints, Builder: s, Clock: clock, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&s.config)
	}
	s.open()
	return s
}

func (s *slip) open() {
	var err error
	s.builds, err = loop.OpenBuilds(s.Context(), s.config)
	require.NoError(s, err)
	s.Cleanup(func() { require.NoError(s, s.builds.Close()) })
}

func (s *slip) create(archive string) (compute.Build, error) {
	return s.builds.Create(s.Context(), "u", s.endpoint, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(archive)), nil })
}

func (s *slip) created(archive string) compute.BuildID {
	b, err := s.create(archive)
	require.NoError(s, err)
	return b.ID
}

func (s *slip) await(id compute.BuildID, status compute.BuildStatus) (b compute.Build) {
	require.Eventually(s, func() bool {
		var err error
		b, err = s.endpoints.Build(s.Context(), "u", s.endpoint, id)
		require.NoError(s, err)
		return b.Status == status
	}, 10*time.Second, time.Millisecond)
	return b
}

// troubled is a store that takes no write while it is told so.
type troubled struct {
	store.Store
	is atomic.Bool
}

func (s *troubled) Write(ctx context.Context, f func(store.Tx) error) error {
	if s.is.Load() {
		return compute.Errorf(compute.Unavailable, "the disk is full")
	}
	return s.Store.Write(ctx, f)
}

func TestBuilds_EndIsStoredOnceTheStoreTakesIt(t *testing.T) {
	t.Parallel()
	var db *troubled
	s := newSlipOn(t, func(one store.Store) store.Store {
		db = &troubled{Store: one}
		return db
	}, nil)
	s.build = func(context.Context, runtime.Build, func(string)) error {
		db.is.Store(true)
		time.AfterFunc(100*time.Millisecond, func() { db.is.Store(false) })
		return nil
	}
	s.await(s.created(""), compute.BuildCompleted)
}

func TestBuilds_OnlySoManyRunAtOnce(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	s.build = waiting
	var ids []compute.BuildID
	for range compute.BuildsLive {
		ids = append(ids, s.created(""))
	}
	count := func() (pending int) {
		live := 0
		for _, id := range ids {
			b, err := s.endpoints.Build(t.Context(), "u", s.endpoint, id)
			require.NoError(t, err)
			switch b.Status {
			case compute.BuildPending:
				pending++
			case compute.BuildBuilding:
				live++
			}
		}
		require.LessOrEqual(t, live, compute.BuildsAtOnce)
		return pending
	}
	require.Eventually(t, func() bool { return count() == compute.BuildsLive-compute.BuildsAtOnce }, 10*time.Second, time.Millisecond)

	for left := len(ids); left > 0; left-- { // those that wait, too
		b, err := s.builds.Cancel(t.Context(), "u", s.endpoint, ids[left-1])
		require.NoError(t, err)
		require.Equal(t, compute.BuildCancelled, b.Status)
	}
	_, err := s.builds.Cancel(t.Context(), "u", s.endpoint, ids[0])
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
}

func TestBuilds_UnpackedArchiveIsBounded(t *testing.T) {
	t.Parallel()
	s := newSlip(t, func(c *loop.BuildsConfig) { c.Unpacked = 50 })
	s.build = reading
	require.Contains(t, s.await(s.created(strings.Repeat("x", 100)), compute.BuildFailed).Error, "over 50 bytes")
	s.await(s.created(strings.Repeat("x", 49)), compute.BuildCompleted)
}

func TestBuilds_OneThatTakesTooLongHasFailed(t *testing.T) {
	t.Parallel()
	s := newSlip(t, func(c *loop.BuildsConfig) { c.Time = time.Millisecond })
	s.build = waiting
	require.Equal(t, "the build took too long: over 1ms", s.await(s.created(""), compute.BuildFailed).Error)
}

func TestBuilds_EndOfTheLogIsKept(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	s.build = func(_ context.Context, _ runtime.Build, emit func(string)) error {
		for range 3 * compute.BuildLog / compute.BuildLine {
			emit(strings.Repeat("x", compute.BuildLine-1) + "\xff\xff")
		}
		emit("last")
		return failing(context.Background(), runtime.Build{}, emit)
	}
	b := s.await(s.created(""), compute.BuildFailed)
	require.LessOrEqual(t, len(b.Error), compute.BuildError)

	read, err := s.builds.OpenLog(t.Context(), "u", s.endpoint, b.ID, compute.LogQuery{Tail: 5000})
	require.NoError(t, err)
	size, texts := 0, []string{}
	require.NoError(t, read(t.Context(), func(l compute.LogLine) error {
		size += len(l.Text)
		texts = append(texts, l.Text)
		return nil
	}))
	require.InDelta(t, compute.BuildLog, size, 3*compute.BuildLine)
	require.Equal(t, "last", texts[len(texts)-2])
	require.Contains(t, texts[len(texts)-1], "build is FAILED: ü")
}

func TestBuilds_InterruptedOneHasFailedAtTheNextStart(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	s.build = waiting
	id := s.created("")
	s.await(id, compute.BuildBuilding)
	require.NoError(t, s.builds.Close())
	s.await(id, compute.BuildBuilding) // as after a kill: nothing was stored

	s.open()
	require.Equal(t, "the server ended while the build was under way", s.await(id, compute.BuildFailed).Error)
	e, err := s.endpoints.Get(t.Context(), "u", s.endpoint)
	require.NoError(t, err)
	require.Equal(t, "i", e.Image)
}

func TestBuilds_InterruptedOnesKeepNoServerFromStarting(t *testing.T) {
	t.Parallel()
	var db *troubled
	s := newSlipOn(t, func(one store.Store) store.Store {
		db = &troubled{Store: one}
		return db
	}, nil)
	s.build = waiting
	ids := []compute.BuildID{s.created(""), s.created("")}
	for _, id := range ids {
		s.await(id, compute.BuildBuilding)
	}
	require.NoError(t, s.builds.Close())

	db.is.Store(true)
	s.open()
	require.NoError(t, s.builds.Close(), "nothing waits for the store")
	s.open()
	for _, id := range ids {
		s.await(id, compute.BuildBuilding)
	}
	db.is.Store(false)
	for _, id := range ids {
		require.Equal(t, "the server ended while the build was under way", s.await(id, compute.BuildFailed).Error)
	}
}

func TestBuilds_ImageGoesWithItsBuild(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	kept := s.created("")
	s.await(kept, compute.BuildCompleted)
	require.NoError(t, s.builds.Close())
	s.images.Store([]compute.BuildID{kept, "forgotten"})
	s.open()
	require.Equal(t, compute.BuildID("forgotten"), <-s.gone)
	require.NoError(t, s.builds.Close())
	require.Empty(t, s.gone)
}

func TestBuilds_NoneWhereTheRuntimeMakesNoImages(t *testing.T) {
	t.Parallel()
	s := newSlip(t, func(c *loop.BuildsConfig) { c.Builder = nil })
	_, err := s.create("")
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "makes no images")
}

func TestBuilds_OfADeletedEndpointChangeNothing(t *testing.T) {
	t.Parallel()
	s := newSlip(t, nil)
	begun, going := make(chan bool), make(chan bool)
	s.build = func(_ context.Context, b runtime.Build, _ func(string)) error {
		begun <- true
		<-going
		return nil
	}
	id := s.created("")
	<-begun
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.endpoint))
	s.images.Store([]compute.BuildID{id})
	going <- true
	require.Equal(t, id, <-s.gone, "its image goes, too")
}
