package control_test

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

var allItems = []compute.Item{
	compute.PodGPU, compute.PodCPU, compute.ClusterGPU, compute.ServerlessCPU, compute.ServerlessGPU, compute.StorageStandard, compute.StorageHighPerformance,
}

// metered is a service that can be killed: what is on disk at that moment is what the next one finds.
type metered struct {
	t         *testing.T
	clock     *compute.SettableClock
	dir       string
	db        store.Store
	catalog   control.Catalog
	placement *control.Placement
	ctl       *control.Control
}

func newMetered(t *testing.T) *metered {
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	m := &metered{t: t, clock: compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), dir: t.TempDir(), catalog: catalog}
	m.open()
	return m
}

func (m *metered) open() {
	t := m.t
	db, err := sqlite.Open(t.Context(), filepath.Join(m.dir, "berth.db"), m.clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	m.db = db
	m.placement, err = control.NewPlacement(t.Context(), db, m.catalog, control.SimulatedFleet(m.catalog), control.PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)
	m.ctl = control.New(db, compute.NewIDs(rand.Reader, m.clock), m.placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: func(compute.PodID) {}})
}

// kill leaves the files as they are, copies them as a killed process leaves them, and opens the copy after a while.
func (m *metered) kill(pause time.Duration) {
	to := m.t.TempDir()
	files, err := os.ReadDir(m.dir)
	require.NoError(m.t, err)
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "-shm") {
			continue // an index of the log, made again
		}
		text, err := os.ReadFile(filepath.Join(m.dir, f.Name()))
		require.NoError(m.t, err)
		require.NoError(m.t, os.WriteFile(filepath.Join(to, f.Name()), text, 0o600))
	}

	m.dir = to
	m.clock.Advance(pause)
	m.open()
}

// moves moves the pod as its loop does.
func (m *metered) moves(id compute.PodID, on compute.PodEvent) {
	require.NoError(m.t, m.placement.Write(m.t.Context(), func(tx store.Tx, c *control.Claims) error {
		p, err := tx.Pod(id)
		if err != nil {
			return err
		}
		from := p.Status
		if p.Status, err = compute.PodMachine.Next(from, on); err != nil {
			return err
		}
		_, err = c.Move(tx, from, p)
		return err
	}))
}

// total is the sum of the whole bill.
func (m *metered) total() compute.NanoUSD {
	b, err := m.ctl.Bill(m.t.Context(), "u", control.BillQuery{LastN: 100, Items: allItems})
	require.NoError(m.t, err)
	return b.Totals.Total()
}

func TestBill_FollowsFromTheStatusesDespiteKills(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	random := mathrand.New(mathrand.NewPCG(3, 4))
	type life struct {
		pod     compute.Pod
		runs    bool
		running time.Time
	}

	var lives []*life
	for range 3 {
		pod, err := m.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "n", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1 + random.Int64N(3)}})
		require.NoError(t, err)
		lives = append(lives, &life{pod: pod})
	}

	want, killed := compute.NanoUSD(0), 0
	happens := func(l *life, event compute.PodEvent) {
		switch event {
		case compute.PodStart, compute.PodStop, compute.PodRestart, compute.PodTerminate:
			_, err := m.ctl.ActOnPod(t.Context(), "u", l.pod.ID, event)
			require.NoError(t, err)
		default:
			m.moves(l.pod.ID, event)
		}

		l.pod.Status, _ = compute.PodMachine.Next(l.pod.Status, event)
		runs, now := l.pod.Status == compute.PodRunning, m.clock.Now()
		if l.runs && !runs {
			want += compute.ToNanoUSD(l.pod.CostPerHour) * compute.NanoUSD(now.Sub(l.running).Milliseconds()) / compute.NanoUSD(time.Hour.Milliseconds())
		}
		if runs != l.runs {
			l.runs, l.running = runs, now
		}
	}

	for range 300 {
		m.clock.Advance(time.Duration(random.Int64N(time.Hour.Milliseconds()/60)) * time.Millisecond)
		if random.IntN(10) == 0 {
			m.kill(time.Minute)
			killed++
		}
		l := lives[random.IntN(len(lives))]
		events := compute.PodMachine.Allowed(l.pod.Status, []compute.PodEvent{
			compute.PodStart, compute.PodStop, compute.PodRestart, compute.PodPlaced, compute.PodHealthy, compute.PodFinished, compute.PodFailed,
		})
		happens(l, events[random.IntN(len(events))])
	}

	for _, l := range lives {
		happens(l, compute.PodTerminate)
	}
	require.Greater(t, killed, 10)
	require.Greater(t, want, compute.NanoUSD(1e8))
	require.Equal(t, want, m.total())
	require.Equal(t, want, m.costs(control.CostQuery{}).Total)

	m.clock.Advance(24 * time.Hour)
	require.Equal(t, want, m.total(), "nothing runs any more")
}

func TestBill_OmitsAMoveThatIsNotOnDisk(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	pod, err := m.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "n", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.NoError(t, err)

	m.moves(pod.ID, compute.PodPlaced)
	refused := compute.Errorf(compute.Internal, "after the move")
	require.ErrorIs(t, m.placement.Write(t.Context(), func(tx store.Tx, c *control.Claims) error {
		p, err := tx.Pod(pod.ID)
		require.NoError(t, err)
		from := p.Status
		p.Status = compute.PodRunning
		moved, err := c.Move(tx, from, p)
		require.NoError(t, err)
		require.True(t, moved)
		return refused
	}), refused)

	m.clock.Advance(time.Hour)
	require.Zero(t, m.total())
}

func TestBill_WorkerCostsUntilGoneOrLastSeen(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	e := compute.Endpoint{ID: "e", UserID: "u", Declared: true}
	hour := compute.ToNanoUSD(0.072) // of two vCPUs of the first flavor
	starts := func(id compute.WorkerID) {
		_, _, err := m.placement.StartWorker(t.Context(), id, e, nil)
		require.NoError(t, err)
	}
	write := func(f func(store.Tx) error) { require.NoError(t, m.db.Write(t.Context(), f)) }
	starts("gone")
	m.clock.Advance(30 * time.Minute)
	require.NoError(t, m.placement.Write(t.Context(), func(tx store.Tx, c *control.Claims) error { return c.DeleteWorker(tx, "gone") }))
	require.Equal(t, hour/2, m.total())

	starts("killed")
	m.clock.Advance(time.Hour)
	write(func(tx store.Tx) error { return tx.SeeCharges() })
	m.clock.Advance(time.Second)
	m.kill(3 * time.Hour)
	write(func(tx store.Tx) error { return tx.CloseUnseen("killed", tx.Wall()) })
	require.Equal(t, hour/2+hour, m.total())

	write(func(tx store.Tx) error { return tx.SeeCharges() })
	m.clock.Advance(time.Hour)
	require.Equal(t, hour/2+hour, m.total())
}

func TestBill_VolumeCostsByItsSize(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	v, err := m.ctl.CreateVolume(t.Context(), "u", control.NewVolume{Name: "n", SizeGB: 10, DataCenterID: "US-KS-2", Type: compute.HighPerformanceVolume})
	require.NoError(t, err)

	m.clock.Advance(time.Hour)
	require.Equal(t, compute.ToNanoUSD(0.002), m.total())
	size := int64(100)
	_, err = m.ctl.UpdateVolume(t.Context(), "u", v.ID, control.VolumeChange{SizeGB: &size})
	require.NoError(t, err)

	m.kill(time.Hour)
	require.Equal(t, compute.ToNanoUSD(0.022), m.total())
	require.NoError(t, m.ctl.DeleteVolume(t.Context(), "u", v.ID))
	m.kill(time.Hour)
	require.Equal(t, compute.ToNanoUSD(0.022), m.total())
}

func TestBill_CountsAPauseButNoSleep(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	p, err := m.ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.NoError(t, err)

	m.moves(p.ID, compute.PodPlaced)
	m.moves(p.ID, compute.PodHealthy)
	billed := func() compute.NanoUSD {
		b, err := m.ctl.Bill(t.Context(), "u", control.BillQuery{Items: allItems})
		require.NoError(t, err)
		return b.Totals.Total()
	}

	hour := compute.ToNanoUSD(p.CostPerHour)
	m.clock.Advance(time.Hour)
	require.Equal(t, hour, billed())
	m.clock.Running().SetLag(time.Hour) // what runs goes on while the server is stopped
	require.Equal(t, 2*hour, billed())

	sleep := func(step time.Duration) {
		require.NoError(t, m.db.Write(t.Context(), func(tx store.Tx) error { return tx.StepCharges(tx.Wall(), step) }))
		m.clock.Running().Adjust(step)
	}
	sleep(8 * time.Hour)
	require.Equal(t, 2*hour, billed())

	m.clock.Advance(time.Hour)
	require.Equal(t, 3*hour, billed())
	sleep(-30 * time.Minute)
	m.clock.Advance(time.Hour)
	require.Equal(t, 4*hour, billed())
}
