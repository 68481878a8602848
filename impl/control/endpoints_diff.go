package control

import (
	"bytes"
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// makingDiff gives in which fields that workers are made of the endpoint changed. Each is named as it is published.
func makingDiff(before, after compute.Endpoint) (diff []compute.FieldChange) {
	a, b := making(before), making(after)
	for i := range a {
		old, now := jsonOf(a[i].value), jsonOf(b[i].value)
		if !bytes.Equal(old, now) {
			diff = append(diff, compute.FieldChange{Field: a[i].name, Old: old, New: now})
		}
	}
	return diff
}

// buildDiff gives how the build changes that workers run, if the endpoint goes from one environment of a flash app to another.
func buildDiff(tx store.FlashApps, from, to compute.FlashEnvironmentID) ([]compute.FieldChange, error) {
	old, err := buildIn(tx, from)
	if err != nil {
		return nil, err
	}
	now, err := buildIn(tx, to)
	if err != nil || now == old {
		return nil, err
	}
	return []compute.FieldChange{{Field: "flashBuildId", Old: jsonOf(orNil(string(old))), New: jsonOf(orNil(string(now)))}}, nil
}

// buildIn gives the build that an environment runs; empty: none, or there is no environment.
func buildIn(tx store.FlashApps, id compute.FlashEnvironmentID) (compute.FlashBuildID, error) {
	if id == "" {
		return "", nil
	}
	e, err := tx.FlashEnvironment(id)
	return e.BuildID, ignoring(err, compute.NotFound)
}

// field is a published name with what it stands for.
type field struct {
	name  string
	value any
}

// making are the fields that workers are made of, in the published order.
func making(e compute.Endpoint) []field {
	g := compute.EndpointGPU{}
	if e.GPU != nil {
		g = *e.GPU
	}
	type cpu struct {
		ID        string `json:"id"`
		VCPUCount int64  `json:"vcpuCount"`
	}
	cpus := []cpu{}
	for _, c := range e.CPUs {
		cpus = append(cpus, cpu{c.ID, c.VCPUCount})
	}

	return []field{
		{"image", e.Image}, {"args", e.Args}, {"disk", e.DiskGB}, {"ports", e.Ports}, {"env", e.Env}, {"registry", orNil(string(e.RegistryID))},
		{"gpu.pools", g.Pools}, {"gpu.excludedTypes", g.Excluded}, {"gpu.count", g.Count}, {"gpu.allowedCudaVersions", g.CUDAVersions},
		{"gpu.minCudaVersion", orNil(g.LeastCUDA)}, {"cpu", cpus}, {"dataCenterIds", e.DataCenterIDs},
		{"compliance", e.Compliance}, {"networkVolumes", e.VolumeIDs}, {"mounts.global", orNil(string(e.GlobalVolumeID))},
	}
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// jsonOf writes texts, numbers, and lists and maps of them: they cannot fail.
func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("control: a setting is always JSON: " + err.Error())
	}
	return text
}
