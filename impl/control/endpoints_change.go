package control

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

const (
	maxWorkers      = 1000          // that an endpoint may ask for
	maxRequestCount = 1_000_000_000 // jobs for each worker
)

// change applies the change to an endpoint, new or not, and checks what comes out.
func (n *Endpoints) change(tx store.Resources, e *compute.Endpoint, x EndpointChange) error {
	if err := n.changeMaking(tx, e, &x); err != nil {
		return err
	}
	if err := n.changeCompute(e, x); err != nil {
		return err
	}
	if err := n.changePlaces(tx, e, x); err != nil {
		return err
	}
	if err := changeEnvironment(tx, e, x); err != nil {
		return err
	}
	return changeWorkers(e, x)
}

// changeEnvironment applies the environment of a flash app (rule flash.endpoints).
func changeEnvironment(tx store.FlashApps, e *compute.Endpoint, x EndpointChange) error {
	if x.Environment == nil {
		return nil
	}
	e.Environment = *x.Environment
	if e.Environment == "" {
		return nil
	}
	_, err := ownEnvironment(tx, e.UserID, e.Environment)
	return err
}

// changeMaking copies the template, then what is asked for besides (rules serverless.template.*).
func (n *Endpoints) changeMaking(tx store.Resources, e *compute.Endpoint, x *EndpointChange) (err error) {
	if x.OfTemplate != "" && e.TemplateID != x.OfTemplate {
		return ErrOtherTemplate
	}
	if x.Template == nil && (x.TemplateID == nil || *x.TemplateID == "") { // nothing is copied
		if err := x.command(e.Args); err != nil {
			return err
		}
	}
	if e.Declared {
		if err := checkDeclared(*e, *x); err != nil {
			return err
		}
	}

	set(&e.Name, x.Name)
	env := x.Env
	if m := x.Template; m != nil {
		id, err := n.saveTemplate(tx, *e, *m)
		if err != nil {
			return err
		}
		if e.TemplateID = id; e.Image == "" { // it is new: all that the template has is its own
			x.TemplateID = &id
		} else { // what is given is changed, and nothing else
			x.Image, x.Args, x.DiskGB, x.Ports, x.RegistryID, x.Env = m.Image, m.Args, m.DiskGB, m.Ports, m.RegistryID, m.Env
			env = x.Env
		}
	}

	if x.TemplateID != nil {
		e.TemplateID = *x.TemplateID
		if *x.TemplateID != "" {
			t, err := n.template(tx, e.UserID, *x.TemplateID)
			if err != nil {
				return err
			}
			e.Image, e.Args, e.DiskGB, e.Ports, e.RegistryID = t.Image, t.Args, t.DiskGB, t.Ports, t.RegistryID
			if env = maps.Clone(t.Env); env == nil {
				env = map[string]string{}
			}
			maps.Copy(env, x.Env)
			if len(t.CUDAVersions) > 0 && (x.GPU != nil || e.GPU != nil) {
				x.GPU = x.GPU.withCUDA(t.CUDAVersions)
			}
		}
	}

	if env != nil {
		e.Env = env
	}
	if err := x.command(e.Args); err != nil {
		return err
	}
	set(&e.Image, x.Image)
	set(&e.Args, x.Args)
	set(&e.DiskGB, x.DiskGB)
	set(&e.RegistryID, x.RegistryID)
	if x.Ports != nil {
		e.Ports = x.Ports
	}
	if e.Image == "" && x.Image == nil && x.TemplateID != nil { // else it was taken as it is
		return errNoImage()
	}

	if x.Ports != nil || x.Args != nil || x.Env != nil || x.TemplateID != nil { // else it was taken as it is
		if err := checkContainer(e.Ports, e.Args, e.Env); err != nil {
			return err
		}
	}

	return checkRegistry(tx, e.UserID, e.RegistryID)
}

// ErrOtherTemplate refuses a change of a template through an endpoint that has another one.
var ErrOtherTemplate = &compute.Error{Code: compute.Conflict, Detail: "the endpoint has another template"}

func errNoImage() error { return invalid("/image: is required without a template") }

// withCUDA gives the change with the versions, unless it names some, or the least one. The change may be nil.
func (g *EndpointGPUChange) withCUDA(versions []string) *EndpointGPUChange {
	var with EndpointGPUChange
	if g != nil {
		with = *g
	}
	if with.CUDAVersions == nil && (with.LeastCUDA == nil || *with.LeastCUDA == "") {
		with.CUDAVersions = versions
	}
	return &with
}

// saveTemplate changes the template of the endpoint if it is the user's, and else makes one.
func (n *Endpoints) saveTemplate(tx store.Resources, e compute.Endpoint, x TemplateChange) (compute.TemplateID, error) {
	t, err := ownTemplate(tx, e.UserID, e.TemplateID)
	switch compute.CodeOf(err) {
	case "":
		if err := changeTemplate(tx, &t, x); err != nil {
			return "", err
		}
		return t.ID, tx.UpdateTemplate(t)
	case compute.NotFound:
		t = newTemplate(n.ids.Template(), e.UserID, tx.Wall())
		t.EndpointID = e.ID
		if e.Image != "" { // the template is of the settings that the endpoint has
			t.Name, t.Image, t.Args, t.DiskGB, t.RegistryID = e.Name, e.Image, e.Args, e.DiskGB, e.RegistryID
			t.Ports, t.Env = slices.Clone(e.Ports), maps.Clone(e.Env)
		}
		if err := changeTemplate(tx, &t, x); err != nil {
			return "", err
		}
		return t.ID, tx.InsertTemplate(t)
	}

	return "", err
}

// template gives the settings to copy: of a template that the user may read, or of the catalog's. Its credential is for its
// owner's containers alone. NotFound for an unknown one, Invalid for one that is for pods.
func (n *Endpoints) template(tx store.Templates, user compute.UserID, id compute.TemplateID) (compute.Template, error) {
	t, err := readableTemplate(tx, user, id)
	if compute.CodeOf(err) == compute.NotFound {
		if public, ok := n.catalog.Template(id); ok {
			t, err = public.Template(), nil
		}
	}
	if err != nil {
		return t, noTemplate(err, id)
	}

	if t.UserID != user {
		t.RegistryID = ""
	}
	if !t.Serverless {
		return t, invalid("/templateId: template %q is for pods, not for endpoints", id)
	}

	return t, nil
}

// invalid makes the error of a body that breaks what the document says.
func invalid(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	return &compute.Error{Code: compute.Invalid, Detail: line, Fields: []string{line}}
}

// changeCompute applies gpu and cpu: exactly one of them, which stays what it is (rules serverless.compute.*).
func (n *Endpoints) changeCompute(e *compute.Endpoint, x EndpointChange) error {
	made := e.GPU != nil || len(e.CPUs) > 0
	switch {
	case x.GPU != nil && x.CPUs != nil || !e.Declared && !made && x.GPU == nil && x.CPUs == nil:
		return compute.Errorf(compute.Rejected, "exactly one of gpu and cpu must be set")
	case made && x.GPU != nil && e.GPU == nil:
		return compute.Errorf(compute.Rejected, "gpu: the endpoint was created with cpu")
	case made && x.CPUs != nil && e.GPU != nil:
		return compute.Errorf(compute.Rejected, "cpu: the endpoint was created with gpu")
	case x.GPU != nil:
		return n.changeGPU(e, *x.GPU)
	case x.CPUs != nil:
		return n.changeCPUs(e, x.CPUs)
	}

	return nil
}

func (n *Endpoints) changeGPU(e *compute.Endpoint, x EndpointGPUChange) error {
	g := compute.EndpointGPU{Count: 1, Excluded: []string{}, CUDAVersions: []string{}}
	if e.GPU != nil {
		g = *e.GPU
	}
	set(&g.Count, x.Count)
	set(&g.LeastCUDA, x.LeastCUDA)

	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&g.Pools, x.Pools}, {&g.Excluded, x.Excluded}, {&g.CUDAVersions, x.CUDAVersions}} {
		if list.from != nil {
			*list.to = list.from
		}
	}

	for _, pool := range g.Pools {
		if _, ok := find(n.catalog.GPUs, func(t GPUType) bool { return t.Pool == pool && pool != "" }); !ok {
			return compute.Errorf(compute.Rejected, "gpu.pools: there is no pool %q", pool)
		}
	}

	for _, id := range g.Excluded {
		if _, ok := n.catalog.GPU(id); !ok {
			return compute.Errorf(compute.Rejected, "gpu.excludedTypes: there is no GPU type %q", id)
		}
	}

	if len(n.catalog.workerTypes(g)) == 0 {
		return compute.Errorf(compute.Rejected, "gpu: no type of the pools is left that a worker can have %d of", g.Count)
	}
	e.GPU = &g
	return nil
}

func (n *Endpoints) changeCPUs(e *compute.Endpoint, cpus []compute.CPU) error {
	var all []compute.CPU
	for i, c := range cpus {
		_, memory, err := n.catalog.priceCPU(c)
		if err != nil {
			return err
		}
		if err := n.catalog.checkServerless(c); err != nil {
			return err
		}
		c.MemoryGB = memory
		if slices.Contains(all, c) {
			return invalid("/cpu/%d: must not repeat an earlier item", i)
		}
		all = append(all, c)
	}

	e.CPUs = all
	return nil
}

// changePlaces applies the data centers and the network volumes, of which each must be in one of those.
func (n *Endpoints) changePlaces(tx store.Resources, e *compute.Endpoint, x EndpointChange) error {
	if x.DataCenterIDs != nil {
		e.DataCenterIDs = x.DataCenterIDs
	}
	if x.Compliance != nil {
		e.Compliance = x.Compliance
	}
	if x.VolumeIDs != nil {
		e.VolumeIDs = x.VolumeIDs
	}
	if x.GlobalIDs != nil {
		e.GlobalVolumeID = ""
	}
	for _, id := range x.GlobalIDs { // one at most
		e.GlobalVolumeID = id
	}
	if err := n.catalog.checkPlace(nil, e.DataCenterIDs, false); err != nil {
		return err
	}
	if !n.catalog.compliant(e.DataCenterIDs, e.Compliance) {
		return compute.Errorf(compute.Rejected, "compliance: no data center that is asked for meets %s", strings.Join(e.Compliance, " and "))
	}

	return checkVolumes(tx, *e)
}

// checkVolumes checks what the workers mount (rules serverless.places, serverless.mounts.*).
func checkVolumes(tx store.Resources, e compute.Endpoint) error {
	if e.GlobalVolumeID != "" {
		switch _, err := ownGlobalVolume(tx, e.UserID, e.GlobalVolumeID); {
		case err != nil:
			return err
		case len(e.VolumeIDs) > 0:
			return compute.Errorf(compute.Rejected, "mounts: a worker mounts network volumes or a global volume, never both")
		case e.GPU == nil:
			return compute.Errorf(compute.Rejected, "mounts.global: workers with GPUs alone can mount a global volume")
		}
	}

	seen := map[string]bool{}
	for i, id := range e.VolumeIDs {
		v, err := ownVolume(tx, e.UserID, id)
		if compute.CodeOf(err) == compute.NotFound {
			return compute.Errorf(compute.NotFound, "networkVolumes: network volume %q does not exist", id)
		}
		if err != nil {
			return err
		}

		switch {
		case slices.Contains(e.VolumeIDs[:i], id):
			return compute.Errorf(compute.Rejected, "networkVolumes: network volume %q is listed twice", id)
		case len(e.DataCenterIDs) > 0 && !slices.Contains(e.DataCenterIDs, v.DataCenterID):
			return compute.Errorf(compute.Rejected, "networkVolumes: network volume %q is in data center %s, which is not among dataCenterIds", id, v.DataCenterID)
		case seen[v.DataCenterID]:
			return compute.Errorf(compute.Rejected, "networkVolumes: a worker mounts one volume, and there are two in data center %s", v.DataCenterID)
		}

		seen[v.DataCenterID] = true
	}

	return nil
}

// changeWorkers applies what acts at once (rules serverless.workers.*, serverless.type.delay).
func changeWorkers(e *compute.Endpoint, x EndpointChange) error {
	if x.Scaling != nil {
		e.Scaler, e.ScalerValue = cmp.Or(x.Scaling.Scaler, e.Scaler), x.Scaling.Value
		if e.Scaler == compute.ByCount && e.ScalerValue > maxRequestCount {
			return invalid("/scaling/requestCount: must be <= %d", maxRequestCount)
		}
	}
	if e.Type == compute.LoadBalancer && e.Scaler == compute.ByDelay {
		return invalid("/scaling/type: must be %s for a %s endpoint", compute.ByCount, e.Type)
	}
	if x.IdleTimeout != nil && !x.IdleByCount && !e.IdlesBySetting() {
		return compute.Errorf(compute.Rejected, "workers.idleTimeout: it does not apply to a queue that is scaled by %s", compute.ByCount)
	}

	least, most := int64(e.WorkersMin), int64(e.WorkersMax)
	set(&least, x.WorkersMin)
	set(&most, x.WorkersMax)
	switch {
	case most > maxWorkers:
		return compute.Errorf(compute.Rejected, "workers.max: %d is over the limit of %d workers", most, maxWorkers)
	case least > most:
		return compute.Errorf(compute.Rejected, "workers.min: %d is over workers.max, %d", least, most)
	}

	e.WorkersMin, e.WorkersMax = int(least), int(most)
	set(&e.IdleTimeout, x.IdleTimeout)
	set(&e.Timeout, x.Timeout)
	set(&e.FlashBoot, x.FlashBoot)
	return nil
}
