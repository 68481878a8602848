package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func endpoint(id compute.EndpointID, user compute.UserID, name string) compute.Endpoint {
	return compute.Endpoint{
		ID: id, UserID: user, Name: name, Type: compute.QueueEndpoint, Declared: true, Image: "i", Args: "-x", DiskGB: 5,
		Ports: []string{"80/http"}, Env: map[string]string{"A": "1"}, RegistryID: "r",
		Compliance:    []string{"GDPR"},
		GPU:           &compute.EndpointGPU{Pools: []string{"P"}, Excluded: []string{"x"}, Count: 2, CUDAVersions: []string{"12.4"}, LeastCUDA: "12.1"},
		DataCenterIDs: []string{"dc"}, VolumeIDs: []compute.VolumeID{"v", "w"}, GlobalVolumeID: "g", TemplateID: "t", WorkersMin: 1, WorkersMax: 3,
		IdleTimeout: 1500 * time.Millisecond, Scaler: compute.ByDelay, ScalerValue: 0.5, Timeout: time.Minute,
		FlashBoot: compute.FlashBootOn, Version: 7, CreatedAt: start,
	}
}

func listEndpoints(tx store.Tx) ([]compute.Endpoint, error) { return tx.ListEndpoints() }

func endpointRoundTrip(t *testing.T, open Open) {
	s, _ := begin(t, open)
	first, second, bare := endpoint("z", "u", "first"), endpoint("a", "u", "second"), compute.Endpoint{ID: "bare", Declared: true, CreatedAt: start.Add(-time.Hour)}
	second.GPU, second.CPUs = nil, []compute.CPU{{ID: "a flavor", VCPUCount: 4, MemoryGB: 16}, {ID: "b", VCPUCount: 2, MemoryGB: 4}}
	for _, e := range []compute.Endpoint{first, second, bare} {
		write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(e) })
		require.Equal(t, e, read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint(e.ID) }))
		require.Equal(t, e, read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.DeclaredEndpoint(e.UserID, e.Name) }))
	}

	require.Equal(t, []compute.Endpoint{bare, first, second}, read(t, s, listEndpoints))
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("none") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = tryRead(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.DeclaredEndpoint("v", "first") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "another user's")
}

func endpointNames(t *testing.T, open Open) {
	s, _ := begin(t, open)
	made := endpoint("m", "u", "n")
	made.Declared = false
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(made) })
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(endpoint("a", "u", "n")) })
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(endpoint("b", "v", "n")) })
	write(t, s, func(tx store.Tx) error {
		require.Equal(t, compute.Conflict, compute.CodeOf(tx.InsertEndpoint(endpoint("c", "u", "n"))))
		return tx.InsertEndpoint(endpoint("c", "u", "m")) // a refusal does not spoil the transaction
	})
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error {
		return tx.UpdateEndpoint(endpoint("c", "u", "n"))
	})))
	require.Equal(t, "m", read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("c") }).Name)
}

func endpointUpdate(t *testing.T, open Open) {
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(endpoint("a", "u", "n")) })
	e := compute.Endpoint{
		ID: "a", UserID: "not written", Type: compute.LoadBalancer, Name: "m", Image: "j", Args: "-y", DiskGB: 6, Ports: []string{},
		Env: map[string]string{}, RegistryID: "s", CPUs: []compute.CPU{{ID: "c", VCPUCount: 2, MemoryGB: 4}}, DataCenterIDs: []string{}, Compliance: []string{},
		VolumeIDs: []compute.VolumeID{}, TemplateID: "", WorkersMin: 2, WorkersMax: 9, IdleTimeout: time.Minute, Scaler: compute.ByCount,
		ScalerValue: 9, Timeout: time.Hour, FlashBoot: compute.FlashBootPriority, Version: 8, CreatedAt: start.Add(time.Hour),
		DeletedAt: start.Add(time.Minute),
	}

	write(t, s, func(tx store.Tx) error { return tx.UpdateEndpoint(e) })
	e.UserID, e.Type, e.Declared, e.CreatedAt = "u", compute.QueueEndpoint, true, start
	require.Equal(t, e, read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("a") }))
	e.ID = "none"
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateEndpoint(e) })))
}

func endpointLists(t *testing.T, open Open) {
	s, _ := begin(t, open)
	early, late, other, gone := endpoint("e", "u", "a"), endpoint("l", "u", "b"), endpoint("o", "v", "c"), endpoint("g", "u", "d")
	late.CreatedAt, gone.DeletedAt, early.TemplateID = start.Add(time.Second), start, ""
	late.VolumeIDs, late.RegistryID, late.GlobalVolumeID = []compute.VolumeID{}, "", ""
	for _, e := range []compute.Endpoint{late, early, other, gone} {
		write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(e) })
	}
	require.Equal(t, []compute.Endpoint{late, early}, read(t, s, func(tx store.Tx) ([]compute.Endpoint, error) { return firstPage(tx.PageEndpoints("u", wide)) }))

	with := func(template compute.TemplateID, registry compute.RegistryID, volume compute.VolumeID) []compute.EndpointID {
		return read(t, s, func(tx store.Tx) ([]compute.EndpointID, error) { return tx.EndpointsWith(template, registry, volume) })
	}
	require.Equal(t, []compute.EndpointID{"l", "o"}, with("t", "", ""))
	require.Equal(t, []compute.EndpointID{"e", "o"}, with("", "r", ""))
	require.Equal(t, []compute.EndpointID{"e", "o"}, with("", "", "w"))
	require.Equal(t, []compute.EndpointID{"e", "o"}, with("", "", "g"))
	require.Empty(t, with("none", "none", "none"))
	require.Empty(t, with("", "", ""))

	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("e") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("e") })
	require.Equal(t, []compute.Endpoint{other, gone, late}, read(t, s, listEndpoints))
}

func releases(t *testing.T, open Open) {
	s, _ := begin(t, open)
	first := compute.Release{ID: "r1", EndpointID: "e", Version: 1, CreatedBy: "u", CreatedAt: start}
	second := compute.Release{ID: "r2", EndpointID: "e", Version: 2, CreatedAt: start.Add(time.Second), Diff: []compute.FieldChange{
		{Field: "image", Old: []byte(`"a"`), New: []byte(`"b"`)}, {Field: "env", Old: []byte(`{"A": "<"}`), New: []byte(`{}`)},
	}}
	other := compute.Release{ID: "r3", EndpointID: "f", Version: 1, CreatedAt: start}
	for _, r := range []compute.Release{second, first, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertRelease(r) })
	}

	list := func(e compute.EndpointID) []compute.Release {
		return read(t, s, func(tx store.Tx) ([]compute.Release, error) { return firstPage(tx.PageReleases(e, wide)) })
	}
	require.Equal(t, []compute.Release{second, first}, list("e"))

	again := second
	again.ID = "r4"
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertRelease(again) })), "the version is taken")

	last := compute.Release{ID: "r4", EndpointID: "e", Version: compute.ReleasesKept + 1, CreatedAt: start}
	write(t, s, func(tx store.Tx) error { return tx.InsertRelease(last) })
	require.Equal(t, []compute.Release{last, second}, list("e"), "the last ones are kept")
	require.Equal(t, []compute.Release{other}, list("f"))

	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("e") })
	require.Empty(t, list("e"))
	require.Equal(t, []compute.Release{other}, list("f"))
}

func workers(t *testing.T, open Open) {
	s, _ := begin(t, open)
	gpu := compute.Worker{
		ID: "z", EndpointID: "e", Version: 3, Image: "i", GPU: &compute.GPU{ID: "g", Count: 2}, DiskGB: 5, DataCenterID: "dc", HostID: "h",
		Devices: []string{"GPU-1", "1"}, CostPerHour: 1.25, CreatedAt: start,
	}
	cpu := gpu
	cpu.ID, cpu.EndpointID, cpu.GPU, cpu.Devices, cpu.CPU = "a", "f", nil, nil, &compute.CPU{ID: "c", VCPUCount: 2, MemoryGB: 4}
	bare := compute.Worker{ID: "bare", EndpointID: "e"}
	for _, w := range []compute.Worker{gpu, cpu, bare} {
		write(t, s, func(tx store.Tx) error { return tx.InsertWorker(w) })
	}

	list := func(tx store.Tx) ([]compute.Worker, error) { return tx.ListWorkers() }
	require.Equal(t, []compute.Worker{gpu, cpu, bare}, read(t, s, list))
	require.Equal(t, []compute.Worker{gpu, bare}, read(t, s, func(tx store.Tx) ([]compute.Worker, error) { return tx.ListWorkersOf("e") }))
	require.Equal(t, cpu, read(t, s, func(tx store.Tx) (compute.Worker, error) { return tx.Worker("a") }))

	gpu.StartedAt = start.Add(time.Second)
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.SetWorkerStarted("z", gpu.StartedAt) }))
	require.False(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.SetWorkerStarted("none", start) }))
	write(t, s, func(tx store.Tx) error { return tx.DeleteWorker("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteWorker("a") })
	require.Equal(t, []compute.Worker{gpu, bare}, read(t, s, list))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Read(t.Context(), func(tx store.Tx) error {
		_, err := tx.Worker("a")
		return err
	})))
}
