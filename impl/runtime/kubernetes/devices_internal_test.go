package kubernetes

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestProductIn_QuotesWhatIsInNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, `device.attributes["gpu.nvidia.com"].productName in ["NVIDIA L4", "a \"b\" \\ c"]`, productIn("gpu.nvidia.com", []string{"NVIDIA L4", `a "b" \ c`}))
	require.Equal(t, `device.attributes["d"].productName in ["\"] || true || \"\" in [\"", "\n\u00ad", "é"]`, productIn("d", []string{`"] || true || "" in ["`, "\n\u00ad", "é"}))
}

// gpu is a device with text attributes.
func gpu(attributes ...string) device {
	d := device{Attributes: map[string]deviceAttribute{}}
	for i := 0; i < len(attributes); i += 2 {
		d.Attributes[attributes[i]] = deviceAttribute{String: attributes[i+1]}
	}
	return d
}

func sliceOf(node, pool string, generation int64, all ...device) *resourceSlice {
	return &resourceSlice{Spec: resourceSliceSpec{Driver: "d", NodeName: node, Pool: resourcePool{Name: pool, Generation: generation}, Devices: all}}
}

func TestSurveyOf_CountsWholeDevicesOfTheLatestGeneration(t *testing.T) {
	t.Parallel()
	driven := gpu("productName", "A", "type", "gpu")
	driven.Attributes["cudaDriverVersion"] = deviceAttribute{Version: "12.8.0"}
	survey := surveyOf(map[string]*resourceSlice{
		"old":     sliceOf("n1", "p1", 1, gpu("productName", "X"), gpu("productName", "X"), gpu("productName", "X")),
		"new":     sliceOf("n1", "p1", 2, driven, gpu("d/productName", "B")),
		"more":    sliceOf("n1", "p1", 2, gpu("productName", "B"), gpu("productName", "A", "type", "mig")),
		"another": sliceOf("n2", "p2", 1, gpu("productName", "B"), gpu("productName", "A")),
		"bare":    sliceOf("n3", "p3", 0, gpu()),
		"parts":   sliceOf("n4", "p4", 0, gpu("productName", "A", "type", "mig")),
		"far":     sliceOf("", "p5", 0, gpu("productName", "A")),
	})
	require.Equal(t, &gpuSurvey{
		nodes:    map[string]nodeGPUs{"n1": {count: 3, product: "B", cuda: "12.8"}, "n2": {count: 2, product: "A"}, "n3": {count: 1}},
		products: map[string]int64{"A": 2, "B": 3, "": 1},
	}, survey)
}

func TestDevices_ChangesAreHinted(t *testing.T) {
	t.Parallel()
	h := copied()
	h.config.GPUDriver = "d"
	one := sliceOf("n1", "p1", 0, gpu("productName", "A"))
	hinted := func() bool {
		select {
		case <-h.HostsChanged():
			return true
		default:
			return false
		}
	}
	h.replaceSlices([]resourceSlice{*one}, "1")
	require.True(t, hinted())
	require.Equal(t, int64(1), h.survey().nodes["n1"].count)

	other := *one
	other.Spec.Driver = "else"
	h.changeSlice("MODIFIED", &other)
	require.False(t, hinted(), "what another driver has is no GPU")
	h.changeSlice(eventDeleted, one)
	require.True(t, hinted())
	require.Empty(t, h.survey().nodes)
}

func TestKnowsDevices(t *testing.T) {
	t.Parallel()
	h := copied()
	require.True(t, h.knowsDevices(), "none are needed")
	for want, all := range map[bool][]*reflector[resourceSlice]{
		true:  {{synced: true, open: true}, {cause: &apiError{Code: http.StatusForbidden, Reason: "Forbidden"}}, {cause: &apiError{Code: http.StatusNotFound}}},
		false: {{}, {cause: &apiError{Code: http.StatusInternalServerError}}, {cause: &apiError{Code: http.StatusNotFound, Reason: "NotFound", Object: "x"}}, {synced: true}},
	} {
		for i, one := range all {
			one.clock = compute.SystemClock{}
			h.devices = one
			require.Equal(t, want, h.knowsDevices(), i)
		}
	}
}
