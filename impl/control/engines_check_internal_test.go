package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestCheckEngine_TakesAddressesAlone(t *testing.T) {
	t.Parallel()
	for engine, taken := range map[string]bool{
		"": true, "tcp://10.0.0.7:2376": true, "ssh://user@box": true, "unix:///run/docker.sock": true, "unix:relative": false, "box": false, "tcp://": false,
		"/run/docker.sock": false, "//box/docker.sock": false, "tcp://[": false, "://box": false,
	} {
		var f faults
		checkEngine(&f, Host{Engine: engine, VCPUs: 1}, "hosts[0].")
		if taken {
			require.Empty(t, f.list, engine)
		} else {
			require.ErrorContains(t, errors.Join(f.list...), "hosts[0].engine is ", engine)
		}
	}

	for _, one := range []struct {
		vcpus, disk int64
		taken       bool
	}{{1, 0, true}, {0, 1, true}, {1, 1, true}, {0, 0, false}} {
		var f faults
		checkEngine(&f, Host{Engine: "unix:///a", VCPUs: one.vcpus, DiskGB: one.disk}, "")
		require.Equal(t, one.taken, len(f.list) == 0, "%+v", one)
		require.Equal(t, one.vcpus == 0, Host{Engine: "unix:///a", VCPUs: one.vcpus}.Asks())
		require.False(t, Host{VCPUs: one.vcpus}.Asks())
	}
}

func TestCatalog_HostsHaveEnginesOfTheirOwn(t *testing.T) {
	t.Parallel()
	c, err := builtIn()
	require.NoError(t, err)
	b, again := engined("b"), engined("c")
	again.Engine = b.Engine
	require.NoError(t, c.checkHosts([]Host{l4s("a", 1), l4s("x", 1), b, engined("c")}))
	require.EqualError(t, c.checkHosts([]Host{l4s("a", 1), b, again}), "hosts[2].engine is that of host b, too")
}

func TestRuntime_CheckEngines(t *testing.T) {
	t.Parallel()
	plain, own := l4s("a", 1), engined("b")
	require.NoError(t, Runtime{}.CheckEngines([]Host{plain, plain}))
	err := Runtime{}.CheckEngines([]Host{plain, own})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "host b has one of its own")

	var asked []string
	r := Runtime{Engine: func(h Host) error {
		asked = append(asked, h.ID)
		if h.ID == "d" {
			return errors.New("no such socket")
		}
		return nil
	}}
	require.NoError(t, r.CheckEngines([]Host{own, plain, engined("c")}))
	require.Equal(t, []string{"b", "c"}, asked)
	err = r.CheckEngines([]Host{own, engined("d")})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "engine of host d: no such socket")
}

func TestPlacement_Engines_AreThoseOfHostsThatHaveOne(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1), engined("b"), engined("c")})
	hosts, others := c.placement.Engines()
	require.True(t, others)
	require.Equal(t, []string{"b", "c"}, []string{hosts[0].ID, hosts[1].ID})
	require.True(t, c.placement.apart())
	require.False(t, c.canNetwork())

	plain := openControl(t, openStore(t), []Host{l4s("a", 1)})
	hosts, others = plain.placement.Engines()
	require.True(t, others)
	require.Empty(t, hosts)
	require.False(t, plain.placement.apart())
	require.True(t, plain.canNetwork())
	require.Empty(t, plain.placement.Away("a"), "it has no engine that could be away")
	plain.runtime.Can.Networks = false
	require.False(t, plain.canNetwork())
}

func TestHost_FoundTakesWhatTheOperatorDoesNotSay(t *testing.T) {
	t.Parallel()
	catalog := Catalog{CPUs: []CPUFlavor{{ID: "small"}, {ID: "large"}}}
	seen := Host{VCPUs: 8, MemoryGB: 32, GPU: "NVIDIA L4", GPUCount: 2, GPUDevices: []string{"x", "y"}, CUDAVersion: "12.8"}
	bare := Host{ID: "a", Engine: "unix:///a", DiskGB: 5}
	require.Equal(t, Host{
		ID: "a", Engine: "unix:///a", DiskGB: 5, VCPUs: 8, MemoryGB: 32, GPU: "NVIDIA L4", GPUCount: 2, GPUDevices: []string{"x", "y"}, CUDAVersion: "12.8",
		CPUs: []string{"small", "large"},
	}, bare.found(seen, &catalog))

	said := Host{ID: "a", Engine: "unix:///a", DiskGB: 5, MemoryGB: 7, GPU: "NVIDIA A40", GPUCount: 1, CPUs: []string{"large"}}
	with := said
	with.VCPUs = 8
	require.Equal(t, with, said.found(seen, &catalog))
	with.VCPUs = 3
	require.Equal(t, with, with.found(seen, &catalog), "it says all itself")
	plain := Host{ID: "a", DiskGB: 5}
	require.Equal(t, plain, plain.found(seen, &catalog), "it has no engine to be asked")
}
