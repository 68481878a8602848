package graphql

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// What saveEndpoint sets, on a change too, when the input has none (rule graphql.endpoints.change).
const (
	defaultWorkersMax  = 3
	defaultIdleTimeout = 10 // seconds
	defaultScalerValue = 4
	maxIdleTimeout     = 3600        // seconds
	maxTimeout         = 604_800_000 // ms
	maxRequestCount    = 1_000_000_000
)

// newEndpoint translates the input of saveEndpoint without an id.
func (s Services) newEndpoint(i graph.EndpointInput) (compute.EndpointType, control.EndpointChange, error) {
	var bad violations
	kind := endpointType(&bad, value(i.Type), compute.QueueEndpoint)
	e := compute.Endpoint{Type: kind, Scaler: compute.ByDelay}
	if kind == compute.LoadBalancer {
		e.Scaler = compute.ByCount
	}
	bad.must(value(i.Name) != "", "name", "is required")
	bad.must(value(i.TemplateID) != "" || i.Template != nil, "templateId", "is required")
	change, err := s.change(bad, i, e)
	return kind, change, err
}

// endpointChange translates the input of saveEndpoint with an id.
func (s Services) endpointChange(i graph.EndpointInput, e compute.Endpoint) (c control.EndpointChange, err error) {
	var bad violations
	kind := endpointType(&bad, value(i.Type), e.Type)
	bad.must(i.Name == nil || *i.Name != "", "name", "must not be empty")
	if c, err = s.change(bad, i, e); err != nil {
		return c, err
	}
	if kind != e.Type {
		err = compute.Errorf(compute.Rejected, "input.type: it does not change, and the endpoint is %s", endpointTypes[e.Type])
	}
	if value(i.ScalerType) == "" {
		c.Scaling.Scaler = "" // as it is by then: e may be so no more
	}
	return c, err
}

// changedEndpoint gives the endpoint with what the change has of what may be large. What a template is that cannot be had, the use case says.
func (s Services) changedEndpoint(ctx context.Context, e compute.Endpoint, c control.EndpointChange) (compute.Endpoint, error) {
	e.Name = or(c.Name, e.Name)
	if id := value(c.TemplateID); id != "" {
		t, err := s.Control.GetTemplate(ctx, user(ctx), id)
		if err != nil && compute.CodeOf(err) != compute.NotFound {
			return e, err
		}
		e.Image, e.Args, e.Ports, e.Env = t.Image, t.Args, t.Ports, t.Env
	}
	if t := c.Template; t != nil {
		s := endpointSettings(e).with(t.Image, t.Args, t.Ports, t.Env)
		e.Image, e.Args, e.Ports, e.Env = s.image, s.args, s.ports, s.env
	}
	return e, nil
}

// endpointType reads QB or LB.
func endpointType(bad *violations, word string, fallback compute.EndpointType) compute.EndpointType {
	if word == "" {
		return fallback
	}
	for kind, name := range endpointTypes {
		if word == name {
			return kind
		}
	}
	bad.must(false, "type", "must be QB or LB")
	return fallback
}

// change translates what is the same with and without an id. Null is nil; e is the endpoint before.
func (s Services) change(bad violations, i graph.EndpointInput, e compute.Endpoint) (c control.EndpointChange, err error) {
	if err = refused([]refusal{
		{"hubReleaseId", value(i.HubReleaseID) != ""}, {"modelReferences", len(i.ModelReferences) > 0},
		{"workersPFBTarget", value(i.WorkersPFBTarget) != 0}, {"template beside templateId", i.Template != nil && value(i.TemplateID) != ""},
	}); err != nil {
		return c, err
	}

	c = control.EndpointChange{Name: i.Name, FlashBoot: (*compute.FlashBoot)(i.FlashBootType), DataCenterIDs: s.places(i), IdleByCount: true}
	if i.Compliance != nil {
		c.Compliance = append([]string{}, words(i.Compliance)...)
	}
	if id := compute.FlashEnvironmentID(value(i.FlashEnvironmentID)); id != "" {
		c.Environment = &id
	}
	if c.VolumeIDs, c.GlobalIDs, err = volumeIDs(i); err != nil {
		return c, err
	}

	if id := compute.TemplateID(value(i.TemplateID)); id != "" {
		c.TemplateID = &id
	} else if i.Template != nil {
		if c.Template, err = ownTemplate(&bad, i.Template, e.TemplateID == ""); err != nil {
			return c, err
		}
	}

	for _, id := range texts(i.InstanceIds) {
		cpu, ok := instance(id)
		bad.must(ok, "instanceIds", "%q is not flavor-vCPUs-GB, such as cpu3g-2-8", id)
		c.CPUs = append(c.CPUs, cpu)
	}

	c.GPU = gpuChange(&bad, i, e.GPU != nil && c.CPUs == nil)
	workers(&bad, &c, i, e)
	return c, bad.err()
}

// gpuChange translates the GPU part: nil when there is none, or nothing of it changes.
func gpuChange(bad *violations, i graph.EndpointInput, has bool) *control.EndpointGPUChange {
	ids := commas(value(i.GpuIds))
	if len(ids) == 0 && !has {
		return nil
	}

	g := &control.EndpointGPUChange{LeastCUDA: i.MinCudaVersion}
	for _, id := range ids {
		if excluded, minus := strings.CutPrefix(id, "-"); minus {
			if excluded = strings.TrimSpace(excluded); !slices.Contains(g.Excluded, excluded) { // REST shows each once
				g.Excluded = append(g.Excluded, excluded)
			}
		} else {
			g.Pools = append(g.Pools, id)
		}
	}

	if len(ids) > 0 {
		g.Excluded = append([]string{}, g.Excluded...) // what was excluded before is not any more
	}
	if i.GpuCount != nil {
		bad.must(*i.GpuCount >= 1, "gpuCount", "must be >= 1")
		count := int64(*i.GpuCount)
		g.Count = &count
	}

	if has && i.AllowedCudaVersions != nil || value(i.AllowedCudaVersions) != "" { // else a template's are in force
		g.CUDAVersions = append([]string{}, commas(*i.AllowedCudaVersions)...)
	}
	for _, version := range g.CUDAVersions {
		cudaVersion(bad, "allowedCudaVersions", version)
	}
	if least := value(i.MinCudaVersion); least != "" {
		cudaVersion(bad, "minCudaVersion", least)
	}

	return g
}

// workers translates what acts at once.
func workers(bad *violations, c *control.EndpointChange, i graph.EndpointInput, e compute.Endpoint) {
	scaler := compute.Scaler(or(i.ScalerType, string(e.Scaler)))
	bad.must(scaler == compute.ByDelay || scaler == compute.ByCount, "scalerType", "must be QUEUE_DELAY or REQUEST_COUNT")
	bad.must(i.ScalerValue == nil || *i.ScalerValue >= 1, "scalerValue", "must be >= 1")
	bad.must(scaler != compute.ByCount || or(i.ScalerValue, defaultScalerValue) <= maxRequestCount, "scalerValue", "must be <= %d", maxRequestCount)
	c.Scaling = &control.Scaling{Scaler: scaler, Value: float64(or(i.ScalerValue, defaultScalerValue))}
	least, most, idle := i.WorkersMin, defaultWorkersMax, defaultIdleTimeout
	if i.WorkersMax != nil {
		most = *i.WorkersMax
	}
	if i.IdleTimeout != nil {
		idle = *i.IdleTimeout
	}
	bad.must(value(least) >= 0, "workersMin", "must be >= 0")
	bad.must(most >= 0, "workersMax", "must be >= 0")
	bad.must(idle >= 1 && idle <= maxIdleTimeout, "idleTimeout", "must be 1 to %d", maxIdleTimeout)
	if least != nil {
		n := int64(*least)
		c.WorkersMin = &n
	}

	n := int64(most)
	c.WorkersMax = &n
	wait := time.Duration(idle) * time.Second
	c.IdleTimeout = &wait

	if ms := i.ExecutionTimeoutMs; ms != nil {
		bad.must(*ms >= 0 && *ms <= maxTimeout, "executionTimeoutMs", "must be 0 to %d", maxTimeout)
		d := time.Duration(*ms) * time.Millisecond
		c.Timeout = &d
	}
}

// places gives the data centers of locations, where a country stands for its data centers, and of dataCenterIds. Nil: the
// input has neither.
func (s Services) places(i graph.EndpointInput) []string {
	if i.Locations == nil && i.DataCenterIds == nil {
		return nil
	}

	list := []string{}
	add := func(id string) {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}

	for _, place := range commas(value(i.Locations)) {
		known := false
		for _, d := range s.Control.Catalog().DataCenters {
			if d.Country == place {
				known = true
				add(d.ID)
			}
		}

		if !known {
			add(place)
		}
	}

	for _, id := range texts(i.DataCenterIds) {
		add(id)
	}
	return list
}

// volumeIDs gives the network volumes and the global one. Nil: the input says nothing of them. An empty list of volumes takes the global one
// away and no network volume: clients have these in networkVolumeIds.
func volumeIDs(i graph.EndpointInput) (network, global []compute.VolumeID, err error) {
	given, objects := []*string{i.NetworkVolumeID}, []*string{}
	for _, one := range i.NetworkVolumeIds {
		if one != nil {
			given = append(given, one.NetworkVolumeID)
		}
	}
	for _, one := range i.Volumes {
		switch {
		case one == nil:
		case one.VolumeType != nil && *one.VolumeType == graph.VolumeTypeObjectStoreVolume:
			objects = append(objects, one.VolumeID)
		default:
			given = append(given, one.VolumeID)
		}
	}

	if i.NetworkVolumeID != nil || i.NetworkVolumeIds != nil || len(given) > 1 {
		network = eachVolume(given)
	}
	if i.Volumes != nil {
		global = eachVolume(objects)
	}
	if len(global) > 1 {
		err = compute.Errorf(compute.Rejected, "input.volumes: a worker mounts one volume of the type OBJECT_STORE_VOLUME, not %d", len(global))
	}
	return network, global, err
}

// eachVolume gives each of the ids once.
func eachVolume(ids []*string) []compute.VolumeID {
	list := []compute.VolumeID{}
	for _, id := range texts(ids) {
		if !slices.Contains(list, compute.VolumeID(id)) {
			list = append(list, compute.VolumeID(id))
		}
	}
	return list
}

// ownTemplate translates the template that an endpoint brings along.
func ownTemplate(bad *violations, i *graph.EndpointTemplateInput, isNew bool) (*control.TemplateChange, error) {
	if err := refused([]refusal{{"template.startScript", value(i.StartScript) != ""}, {"template.advancedStart", value(i.AdvancedStart)}, {"template.config", hasConfig(i.Config)}}); err != nil {
		return nil, err
	}
	var own violations // at fields that the input of a pod has, too
	own.must(!isNew || value(i.Name) != "", "name", "is required")
	own.must(!isNew || value(i.ImageName) != "", "imageName", "is required")
	c := &control.TemplateChange{
		Name: i.Name, Image: i.ImageName, Args: i.DockerArgs, RegistryID: (*compute.RegistryID)(i.ContainerRegistryAuthID), Serverless: yes(true),
	}
	if i.ContainerDiskInGb != nil {
		size := disk(&own, i.ContainerDiskInGb)
		c.DiskGB = &size
	}
	if i.Ports != nil {
		c.Ports = append([]string{}, ports(&own, i.Ports)...)
	}
	if i.Env != nil {
		c.Env = env(&own, i.Env)
	}

	for _, line := range own {
		*bad = append(*bad, strings.Replace(line, "input.", "input.template.", 1))
	}
	return c, nil
}
