package loop_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

func TestWorkers_LoginIsOpenedWhenTheRuntimeAsks(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	var failure error
	opened := 0
	s.workers.Login = func(_ context.Context, id compute.RegistryID) (compute.Login, error) {
		opened++
		require.Equal(t, compute.RegistryID("r"), id)
		return compute.Login{Username: "user", Password: "s3cret"}, failure
	}
	e := s.e
	e.RegistryID, e.WorkersMin = "r", 1
	s.set(e)
	s.step(0)
	require.Zero(t, opened)

	got, err := h.last.Load().Credential(t.Context())
	require.NoError(t, err)
	require.Equal(t, runtime.Credential{User: "user", Password: "s3cret"}, got)
	failure = compute.Errorf(compute.Unavailable, "the database is away")
	_, err = h.last.Load().Credential(t.Context())
	require.ErrorIs(t, err, runtime.ErrUnavailable, "it is asked for again")
	failure = compute.Errorf(compute.NotFound, "it was deleted")
	_, err = h.last.Load().Credential(t.Context())
	require.ErrorIs(t, err, failure)
	require.NotErrorIs(t, err, runtime.ErrUnavailable)
}

func TestWorkers_OfAFlashEnvironmentGetItsArtifact(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	failure := errors.New("the artifact is not on this server: deploy it again")
	s.workers.Artifact = func(_ context.Context, of compute.FlashEnvironmentID) (string, error) {
		return "/data/" + string(of), failure
	}
	e := s.e
	e.Environment, e.WorkersMin = "fe", 1
	s.set(e)
	s.step(0)
	require.Nil(t, h.last.Load())
	require.Empty(t, s.rows())
	require.Equal(t, failure.Error(), s.workers.Pause(s.e.ID).Reason)

	failure = nil
	s.step(time.Second)
	require.Equal(t, "/data/fe", h.last.Load().Artifact)
	e.WorkersMin, e.Environment = 2, ""
	s.set(e)
	s.step(0)
	require.Empty(t, h.last.Load().Artifact, "that of no other one")
}

func TestWorkers_KnowHowLargeTheirNetworkVolumeIs(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	v, err := s.ctl.CreateVolume(t.Context(), "u", control.NewVolume{Name: "v", SizeGB: 13, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	e := s.e
	e.VolumeIDs, e.WorkersMin = []compute.VolumeID{v.ID}, 1
	s.set(e)
	s.step(0)
	require.Equal(t, &compute.NetworkMount{VolumeID: v.ID, Path: "/runpod-volume"}, h.last.Load().Network)
	require.EqualValues(t, 13, h.last.Load().NetworkGB)
}

// reporting is a host that reports what ended by itself.
type reporting struct {
	*host
	ended chan string
}

func (r *reporting) Ended() <-chan string { return r.ended }

// The clock stands still in these: nothing is looked at because it is time to.
func TestPods_Run_HearsOfEnds(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	r := &reporting{y.host, make(chan string)}
	y.pods.Runtime = r
	end := y.run()
	defer end()
	y.host.Exit(string(id), 3)
	r.ended <- string(id)
	require.Eventually(t, func() bool { return y.pod(id).Status == compute.PodError }, 10*time.Second, time.Millisecond)
}

func TestWorkers_Run_HearsOfEndsAndOfDemand(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	r := &reporting{&host{Fleet: s.containers}, make(chan string)}
	s.workers.Runtime = r
	s.step(0)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.workers.Run(ctx)
	}()
	_, err := s.queue.Run(t.Context(), "u", s.e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	s.workers.Hint()
	require.Eventually(t, func() bool { return len(s.rows()) == 1 && r.starts.Load() == 1 }, 10*time.Second, time.Millisecond)

	id := string(s.rows()[0].ID)
	require.Eventually(t, func() bool {
		state, err := s.containers.Inspect(t.Context(), id)
		return err == nil && state.Phase == runtime.Starting
	}, 10*time.Second, time.Millisecond)
	s.containers.Exit(id, 3)
	r.ended <- id
	require.Eventually(t, func() bool {
		_, reason, err := s.ended()
		return err == nil && firstLine(reason) == "the worker's container did not come up"
	}, 10*time.Second, time.Millisecond)
	stop()
	<-over
}

func TestTimers_StopPodsAtTheirTime(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	timed, err := y.ctl.CreatePod(t.Context(), "u", control.NewPod{
		Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}, StopAfter: y.clock.Wall().Add(time.Hour),
	})
	require.NoError(t, err)
	other := y.create(nil)
	timers := loop.NewTimers(y.store, y.ctl, y.clock, slog.New(slog.DiscardHandler))
	require.NoError(t, timers.Step(t.Context()))
	require.Equal(t, y.clock.Now().Add(time.Hour), timers.Next())
	require.Equal(t, []compute.PodID{timed.ID}, timers.Keys())

	y.clock.Advance(time.Hour - 20*time.Millisecond)
	require.NoError(t, timers.Step(t.Context()))
	require.Equal(t, compute.PodProvisioning, y.pod(timed.ID).Status)
	y.clock.Advance(20 * time.Millisecond)
	require.NoError(t, timers.Step(t.Context()))
	require.Equal(t, compute.PodExited, y.pod(timed.ID).Status)
	require.Equal(t, compute.PodProvisioning, y.pod(other).Status)
	require.Empty(t, timers.Keys(), "there is nothing left to do")
	require.Zero(t, timers.Next())
}

// busy is a host whose network volumes cannot be removed while it is told so.
type busy struct {
	*host
	is bool
}

func (b *busy) RemoveVolume(ctx context.Context, id compute.VolumeID) error {
	if b.is {
		return errors.New("a container is still being removed")
	}
	return b.host.RemoveVolume(ctx, id)
}

func TestVolumes_DataThatCannotBeRemovedYetGoesLater(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	v, err := y.ctl.CreateGlobalVolume(t.Context(), "u", "models")
	require.NoError(t, err)
	mount := &compute.NetworkMount{VolumeID: v.ID, Path: "/v"}
	require.NoError(t, y.host.Start(t.Context(), runtime.Allocation{ID: "worker", Env: map[string]string{"BERTH_SIM_MARK": "x"}, Network: mount}))
	b := &busy{y.host, true}
	y.pods.Runtime = b
	require.NoError(t, y.ctl.DeleteGlobalVolume(t.Context(), "u", v.ID))
	kept := func() []compute.VolumeID {
		ids, err := y.host.Volumes(t.Context())
		require.NoError(t, err)
		return ids
	}
	y.step(0)
	require.Equal(t, []compute.VolumeID{v.ID}, kept())
	b.is = false
	y.step(time.Second)
	require.Empty(t, kept())
}

func TestWorkers_WithGPUsAreLimitedToTheirShareOfTheHost(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	_, err := s.ctl.AddHost(t.Context(), control.Host{
		ID: "g", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 4, VCPUs: 33, MemoryGB: 130, DiskGB: 100,
	})
	require.NoError(t, err)

	name, image, least, most, count := "gpu", "i", int64(1), int64(1), int64(2)
	_, err = s.endpoints.Create(t.Context(), "u", compute.QueueEndpoint, control.EndpointChange{
		Name: &name, Image: &image, GPU: &control.EndpointGPUChange{Pools: []string{"AMPERE_24"}, Count: &count}, WorkersMin: &least, WorkersMax: &most,
	})
	require.NoError(t, err)
	s.step(0)
	given := h.last.Load()
	require.EqualValues(t, 2, given.GPUs.Count)
	require.EqualValues(t, 16, given.VCPUs)
	require.EqualValues(t, 64<<30, given.MemoryBytes)
}

func TestWorkers_AreMadeOfTheRowOfTheirEndpoint(t *testing.T) {
	t.Parallel()
	env := map[string]string{"A": strings.Repeat("x", 100_000)}
	s := serve(t, 0, env)
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	e := s.e
	e.WorkersMin, e.Args, e.Ports = 1, "serve it", []string{"1/tcp"}
	s.set(e)
	require.Empty(t, s.queue.Demands()[0].Endpoint.Env)
	s.step(0)
	made := h.last.Load()
	require.Equal(t, []any{env["A"], "i", "serve it", e.Ports}, []any{made.Env["A"], made.Image, made.Args, made.Ports})

	e.WorkersMin, e.DeletedAt = 2, s.clock.Now()
	s.set(e)
	h.last.Store(nil)
	s.step(0)
	require.Nil(t, h.last.Load(), "it is being deleted, and the queue does not know it yet")
	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteEndpoint(e.ID) }))
	s.step(time.Second)
	require.Nil(t, h.last.Load(), "nor is one started of an endpoint that is no more")
	require.Zero(t, s.workers.Pause(e.ID))
}
