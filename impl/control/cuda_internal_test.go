package control

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCUDA_VersionsAreComparedNumberByNumber(t *testing.T) {
	t.Parallel()
	ascending := []string{"0", "9.9", "12", "12.2", "12.11", "13.0", "99999999999999999999.1"}
	for i, a := range ascending {
		for j, b := range ascending {
			v, ok := parseCUDA(a)
			require.True(t, ok)
			w, _ := parseCUDA(b)
			require.Equal(t, i < j, v.compare(w) < 0, "%s and %s", a, b)
			require.Equal(t, i == j, v == w, "%s and %s", a, b)
		}
	}

	for _, text := range []string{"", ".", "12.", ".8", "12.8.1", "-12.8", "12.x", " 12.8"} {
		_, ok := parseCUDA(text)
		require.False(t, ok, text)
	}
}

func TestCUDA_SimulatedHostHasEveryVersion(t *testing.T) {
	t.Parallel()
	catalog, err := BuiltInCatalog()
	require.NoError(t, err)
	p := PrepareFleet(catalog, SimulatedFleet(catalog)).placement
	const id = "EU-RO-1/SECURE/NVIDIA L4"
	h := p.host(id)
	require.NotNil(t, h)

	for _, version := range knownCUDA {
		require.True(t, h.suits(&want{GPU: "NVIDIA L4", Count: 1, Needs: Needs{CUDAVersions: []string{"99.0", version}}}), version)
	}
	for versions, least := range map[string]string{"99.0": "", "12.4": "12.8", "": "13.1"} {
		require.False(t, h.suits(&want{GPU: "NVIDIA L4", Count: 1, Needs: Needs{CUDAVersions: strings.Fields(versions), LeastCUDA: least}}), "%s from %s", versions, least)
	}
	require.Same(t, h, p.host(id+"/12.8"))
	require.True(t, h.suits(&want{GPU: "NVIDIA L4", Count: 1, HostID: id + "/12.8"}))
	require.Nil(t, p.host(id+"/99.0"))
	require.Nil(t, p.host("nosuch"))
	require.False(t, h.suits(&want{GPU: "NVIDIA L4", Count: 1, HostID: "EU-RO-1/SECURE/NVIDIA L40/12.8"}))
	require.False(t, p.host("EU-RO-1/SECURE/AMD Instinct MI300X OAM").suits(&want{GPU: "AMD Instinct MI300X OAM", Count: 1, Needs: Needs{LeastCUDA: "11.8"}}))
}
