package graphql

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql/scalar"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// missing names the fields of a view that are nil, in the structs that it points to, too.
func missing(at string, v reflect.Value) (names []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return []string{at}
		}
		return missing(at, v.Elem())
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{at}
		}
		return missing(at, v.Index(0))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range v.NumField() {
			names = append(names, missing(at+"."+v.Type().Field(i).Name, v.Field(i))...)
		}
	}

	return names
}

// empty is a store without anything: no function is run.
type empty struct{ store.Store }

func (empty) Read(context.Context, func(store.Tx) error) error { return nil }

func TestServices_PodView_IsWhole(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	p := compute.Pod{
		ID: "p", UserID: "u", Name: "a", Image: "i", Args: "x", DiskGB: 20, Ports: []string{"22/tcp"}, Env: map[string]string{"A": "1"}, RegistryID: "r",
		Network: &compute.NetworkMount{VolumeID: "v", Path: "/a"}, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Secure, DataCenterID: "d",
		TemplateID: "t", CostPerHour: 1, Status: compute.PodRunning, Reason: "why", CreatedAt: now, StartedAt: now, MovedAt: now, StopAfter: now, TerminateAfter: now, BidPerGPU: 0.4,
	}

	// What the schema says is null: not reported, no clusters, and as long as they are not known what is measured and mapped.
	s := emptyServices(t)
	var live compute.PodRuntime
	s.Live = func(compute.PodID) compute.PodRuntime { return live }
	never := []string{".DockerID", ".Port", ".ClusterIP", ".ClusterIdx", ".ClusterRole"}
	require.ElementsMatch(t, append([]string{
		".Runtime.Ports", ".Runtime.Gpus.GpuUtilPercent", ".Runtime.Gpus.MemoryUtilPercent", ".Runtime.Container.CPUPercent", ".Runtime.Container.MemoryPercent",
	}, never...), missing("", reflect.ValueOf(s.podView(p, now, ""))))

	percent := 1.5
	live = compute.PodRuntime{
		Ports: []compute.PublishedPort{{Private: 22, Public: 40_000, Type: "tcp", IP: "203.0.113.1"}}, CPUPercent: &percent, MemoryPercent: &percent,
		GPUs: []compute.GPUUse{{Percent: 1, MemoryPercent: 2}},
	}
	require.ElementsMatch(t, never, missing("", reflect.ValueOf(s.podView(p, now, ""))))
}

// emptyServices are services over a store without anything, with the built-in catalog.
func emptyServices(t *testing.T) Services { return servicesOf(t, func(*control.Catalog) {}) }

// servicesOf are those with a change of the catalog.
func servicesOf(t *testing.T, change func(*control.Catalog)) Services {
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	change(&catalog)
	placement, err := control.NewPlacement(t.Context(), empty{}, catalog, nil, control.PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)
	return Services{Control: control.New(empty{}, nil, placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{}), Clock: compute.SystemClock{}}
}

func TestServices_TemplateAndEndpointViewsAreWhole(t *testing.T) {
	t.Parallel()
	s, now := emptyServices(t), time.UnixMilli(1_700_000_000_000)
	template := compute.Template{
		ID: "t", UserID: "u", Name: "a", Image: "i", Args: "x", DiskGB: 20, Ports: []string{"22/tcp"}, PortNames: map[string]string{"22": "SSH"}, Env: map[string]string{"A": "1"}, RegistryID: "r",
		Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/a"}, Category: compute.ForCPU, Readme: "r",
	}
	require.ElementsMatch(t, []string{".StartScript"}, missing("", reflect.ValueOf(s.templateView(template, "u"))))
	require.Nil(t, s.templateView(template, "v").ContainerRegistryAuthID)

	volume := compute.Volume{ID: "v", UserID: "u", Name: "a", SizeGB: 20, DataCenterID: "EU-RO-1"}
	endpoint := compute.Endpoint{
		ID: "e", UserID: "u", Name: "a", Environment: "f", Type: compute.QueueEndpoint, Image: "i", Env: map[string]string{"A": "1"}, TemplateID: "t", CreatedAt: now,
		GPU:  &compute.EndpointGPU{Pools: []string{"ADA_24"}, Excluded: []string{"NVIDIA L4"}, Count: 1, CUDAVersions: []string{"12.8"}, LeastCUDA: "12.8"},
		CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}, DataCenterIDs: []string{"EU-RO-1"}, Compliance: []string{"GDPR"}, VolumeIDs: []compute.VolumeID{"v"},
		Scaler: compute.ByDelay, ScalerValue: 0.5, Version: 1,
	}

	v := s.endpointView(endpoint, map[compute.VolumeID]compute.Volume{"v": volume})
	require.ElementsMatch(t, []string{
		".AiKey", ".ActiveBuildid", ".IdePodID", ".ModelReferences", ".Pods", // which the workers fill
		".NetworkVolume.DataCenter.GpuAvailability", // which is asked for apart
	}, missing("", reflect.ValueOf(v)))
	require.Equal(t, []int{1, 1}, []int{*v.ScalerValue, *v.IdleTimeout}, "whole, and never 0")
	require.Equal(t, "ADA_24,-NVIDIA L4", *v.GpuIds)
}

func TestServices_PodView_EveryStatusHasADesiredOne(t *testing.T) {
	t.Parallel()
	for _, s := range []compute.PodStatus{
		compute.PodProvisioning, compute.PodStarting, compute.PodRunning, compute.PodExited, compute.PodError, compute.PodTerminated,
	} {
		require.True(t, desired[s].IsValid(), s)
	}
}

func TestMarshalFloat_WritesNoExponent(t *testing.T) {
	t.Parallel()
	for number, want := range map[float64]string{29: "29", 1e21: "1000000000000000000000", 0.43: "0.43", 1e-7: "0.0000001", -2: "-2", math.Inf(1): "0"} {
		var b bytes.Buffer
		scalar.MarshalFloat(number).MarshalGQL(&b)
		require.Equal(t, want, b.String())
	}
}
