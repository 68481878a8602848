package control

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// largeFleet is a fleet of so many hosts in ten data centers: each second one has eight GPUs, and all take CPU pods.
func largeFleet(c Catalog, hosts int) []Host {
	fleet := make([]Host, hosts)
	for i := range fleet {
		h := Host{
			ID: fmt.Sprint("host-", i), DataCenterID: c.DataCenters[i/2%10].ID, Cloud: compute.Secure, CPUs: []string{"cpu3c", "cpu3g", "cpu3m"},
			VCPUs: 256, MemoryGB: 1024, DiskGB: 4000, DownloadMbps: 1000, UploadMbps: 1000,
		}
		if i%2 == 0 {
			h.GPU, h.GPUCount, h.CUDAVersion, h.MemoryGB = "NVIDIA L4", 8, "12.8", 2048
		}
		fleet[i] = h
	}
	return fleet
}

// sizes gives so many random things to place: GPU pods and CPU pods of different sizes.
func sizes(c Catalog, r *mathrand.Rand, count int) []want {
	all := make([]want, count)
	for i := range all {
		w := want{Cloud: compute.Secure, DiskGB: 5 + r.Int64N(100)}
		if r.IntN(2) == 0 {
			w.GPU, w.Count = "NVIDIA L4", 1+r.Int64N(2)
		} else {
			flavor, _ := c.CPU([]string{"cpu3c", "cpu3g", "cpu3m"}[r.IntN(3)])
			w.CPU, w.Count = flavor.ID, 2<<r.IntN(4)
			w.MemoryGB = w.Count * flavor.MemoryPerVCPU
		}
		all[i] = w
	}
	return all
}

// fill claims for about ten pods on each host of the fleet, as far as there is room.
func fill(t testing.TB, s store.Store, c Catalog, fleet []Host) {
	const podsOnHost, hostsAtOnce = 10, 500
	p := PrepareFleet(c, fleet).placement
	r := mathrand.New(mathrand.NewPCG(1, 2))
	for first := 0; first < len(fleet); first += hostsAtOnce {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			for i := first; i < min(first+hostsAtOnce, len(fleet)); i++ {
				wants := sizes(c, r, 3*podsOnHost)
				if err := fillHost(tx, &p.hosts[i], wants, podsOnHost); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// fillHost claims so many of the wants, if they fit.
func fillHost(tx store.Claims, h *host, wants []want, most int) error {
	placed := 0
	for i := range wants {
		w := &wants[i]
		if placed == most || !h.fits(w, h.free) || w.GPU != "" && h.GPU == "" {
			continue
		}

		at := choice{host: h, want: w, amount: h.share(w)}
		at.devices = h.devices.pick(at.amount.gpus, h.GPUCount)
		if err := at.claim(tx, fmt.Sprint(h.ID, "-", i)); err != nil {
			return err
		}
		h.free = h.free.plus(at.amount, -1)
		h.devices.set(at.devices, true)
		placed++
	}
	return nil
}

// BenchmarkLargeFleet places one more pod in fleets that are part full. What it takes may not depend on how many hosts there are: see
// docs/runtimes.md.
func BenchmarkLargeFleet(b *testing.B) {
	catalog, err := builtIn()
	require.NoError(b, err)
	for _, hosts := range []int{100, 10_000} {
		b.Run(fmt.Sprint("hosts=", hosts), func(b *testing.B) {
			s, fleet := openStore(b), largeFleet(catalog, hosts)
			fill(b, s, catalog, fleet)
			for _, policy := range runtime.Policies() {
				b.Run(policy, func(b *testing.B) {
					p, err := NewPlacement(b.Context(), s, catalog, fleet, PlacementOptions{Place: runtime.Policy(policy).Choose})
					require.NoError(b, err)
					b.Run("place", func(b *testing.B) { benchmarkPlace(b, p) })
					b.Run("create", func(b *testing.B) { benchmarkCreate(b, p) })
					b.Run("refuse", func(b *testing.B) { benchmarkRefuse(b, p) })
					b.Run("read", func(b *testing.B) { benchmarkRead(b, p) })
					b.Run("drain", func(b *testing.B) { benchmarkDrain(b, p) })
				})
			}
		})
	}
}

// benchmarkPlace chooses hosts for pods of different sizes, and writes nothing. Each leaves before the next comes.
func benchmarkPlace(b *testing.B, p *Placement) {
	wants := sizes(p.catalog, mathrand.New(mathrand.NewPCG(3, 4)), 1000)
	var made []choice
	write := func(at []choice) error {
		made = at
		return nil
	}
	i := 0
	for b.Loop() {
		if err := p.place(b.Context(), "pod", 1, wants[i%len(wants):][:1], write); err != nil {
			b.Fatal(err)
		}
		p.mu.Lock()
		p.count(made, 1)
		p.mu.Unlock()
		i++
	}
}

// benchmarkCreate creates pods in the store. That each is deleted again is not counted.
func benchmarkCreate(b *testing.B, p *Placement) {
	c := New(p.store, compute.NewIDs(rand.Reader, compute.SystemClock{}), p, Runtime{Can: compute.AllCapabilities}, Hints{Pod: func(compute.PodID) {}})
	for b.Loop() {
		pod, err := c.CreatePod(b.Context(), "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}})
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, c.DeletePod(context.WithoutCancel(b.Context()), "u", pod.ID))
		b.StartTimer()
	}
}

// benchmarkRefuse asks for what no host has room for.
func benchmarkRefuse(b *testing.B, p *Placement) {
	w := []want{{GPU: "NVIDIA L4", Count: 9, DiskGB: 20, Cloud: compute.Secure}}
	for b.Loop() {
		err := p.place(b.Context(), "pod", 1, w, func([]choice) error { return nil })
		if !errors.Is(err, ErrFull) {
			b.Fatal(err)
		}
	}
}

// benchmarkRead reads the claims of all hosts, as a start does, and places one pod.
func benchmarkRead(b *testing.B, p *Placement) {
	w := want{GPU: "NVIDIA L4", Count: 1, DiskGB: 20, Cloud: compute.Secure}
	for b.Loop() {
		require.NoError(b, p.read(b.Context()))
		require.NotNil(b, p.best(&w))
	}
}

// benchmarkDrain changes one host of the fleet.
func benchmarkDrain(b *testing.B, p *Placement) {
	c := &Control{placement: p}
	for b.Loop() {
		_, err := c.DrainHost(b.Context(), p.fleet[0].ID, true)
		require.NoError(b, err)
	}
}
