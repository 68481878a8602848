package control

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// storedTemplate stores a template of the user's for endpoints, as edit has it, and gives its id.
func (n *Endpoints) storedTemplate(t *testing.T, id compute.TemplateID, edit func(*compute.Template)) *compute.TemplateID {
	t.Helper()
	n.writes(t, func(tx store.Tx) error {
		made := newTemplate(id, "u", tx.Wall())
		made.Name, made.Image, made.Serverless = "t", "from-template", true
		edit(&made)
		return tx.InsertTemplate(made)
	})
	return &id
}

func TestEndpoints_TakeTheVersionsOfCUDAOfATemplateThatHasSome(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	with := n.storedTemplate(t, "with", func(t *compute.Template) { t.CUDAVersions = []string{"12.8"} })
	without := n.storedTemplate(t, "without", func(*compute.Template) {})

	change := cpuEndpoint("on CPUs")
	change.TemplateID, change.Image = with, nil
	e := n.created(t, change)
	require.Nil(t, e.GPU, "workers without GPUs have no CUDA")
	require.Equal(t, "from-template", e.Image)
	e, err := n.Update(ctx, "u", e.ID, EndpointChange{TemplateID: with})
	require.NoError(t, err)
	require.Nil(t, e.GPU)

	change = gpuEndpoint("on GPUs")
	change.GPU.CUDAVersions, change.TemplateID = []string{"12.4"}, with
	e = n.created(t, change)
	require.Equal(t, []string{"12.4"}, e.GPU.CUDAVersions, "what the request names wins")
	e, err = n.Update(ctx, "u", e.ID, EndpointChange{TemplateID: without})
	require.NoError(t, err)
	require.Equal(t, []string{"12.4"}, e.GPU.CUDAVersions, "the template names none")
	e, err = n.Update(ctx, "u", e.ID, EndpointChange{TemplateID: with})
	require.NoError(t, err)
	require.Equal(t, []string{"12.8"}, e.GPU.CUDAVersions)
	require.EqualValues(t, 2, e.GPU.Count)
}

func TestEndpointGPUChange_WithCUDA(t *testing.T) {
	t.Parallel()
	versions := []string{"12.8"}
	var absent *EndpointGPUChange
	for name, one := range map[string]struct {
		change *EndpointGPUChange
		want   []string
	}{
		"nothing is asked for":  {absent, versions},
		"something else is":     {&EndpointGPUChange{Count: new(int64(2))}, versions},
		"versions are":          {&EndpointGPUChange{CUDAVersions: []string{"12.4"}}, []string{"12.4"}},
		"any version is":        {&EndpointGPUChange{CUDAVersions: []string{}}, []string{}},
		"a least version is":    {&EndpointGPUChange{LeastCUDA: new("12.4")}, nil},
		"an empty least one is": {&EndpointGPUChange{LeastCUDA: new("")}, versions},
	} {
		require.Equal(t, one.want, one.change.withCUDA(versions).CUDAVersions, name)
	}

	asked := &EndpointGPUChange{Count: new(int64(2))}
	require.Equal(t, asked.Count, asked.withCUDA(versions).Count)
	require.Nil(t, asked.CUDAVersions, "it is a copy")
}

func TestEndpoints_CopyTemplatesThatAreForThem(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	n.catalog.Templates = append([]PublicTemplate{
		{ID: "of-the-catalog", Image: "public", DiskGB: 7, Ports: []string{"80/http"}, Env: map[string]string{"A": "1", "B": "1"}, Serverless: true},
	}, n.catalog.Templates...)
	change := func(id compute.TemplateID) EndpointChange {
		x := cpuEndpoint("e")
		x.TemplateID, x.Image = &id, nil
		return x
	}

	x := change("of-the-catalog")
	x.Env = map[string]string{"B": "2"}
	e := n.created(t, x)
	require.Equal(t, []any{"public", int64(7), []string{"80/http"}}, []any{e.Image, e.DiskGB, e.Ports})
	require.Equal(t, map[string]string{"A": "1", "B": "2"}, e.Env)

	n.storedTemplate(t, "for-pods", func(t *compute.Template) { t.Serverless = false })
	n.storedTemplate(t, "without-image", func(t *compute.Template) { t.Image = "" })
	n.storedTemplate(t, "theirs", func(t *compute.Template) { t.UserID = "v" })
	n.storedTemplate(t, "shown", func(t *compute.Template) { t.UserID, t.Public, t.RegistryID = "v", true, "their credential" })
	for id, code := range map[compute.TemplateID]compute.Code{
		"for-pods": compute.Invalid, "without-image": compute.Invalid, "theirs": compute.NotFound, "none": compute.NotFound,
	} {
		_, err := n.Create(ctx, "u", compute.QueueEndpoint, change(id))
		require.Equal(t, code, compute.CodeOf(err), "%s", id)
		if code == compute.NotFound {
			require.ErrorContains(t, err, "templateId: ")
		}
	}

	e = n.created(t, change("shown"))
	require.Equal(t, "from-template", e.Image)
	require.Empty(t, e.RegistryID)
	x = change("without-image")
	x.Image = new("")
	require.Empty(t, n.created(t, x).Image, "it is asked for so")
	e, err := n.Update(ctx, "u", e.ID, EndpointChange{TemplateID: new(compute.TemplateID(""))})
	require.NoError(t, err)
	require.Equal(t, []any{compute.TemplateID(""), "from-template"}, []any{e.TemplateID, e.Image}, "what was copied stays")
}

func TestEndpoints_AChangeOfItsTemplateChangesTheEndpointAsMuch(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	x := cpuEndpoint("e")
	x.Args, x.DiskGB, x.Ports, x.Env = new("-a"), new(int64(5)), []string{"80/http"}, map[string]string{"A": "1"}
	e := n.created(t, x)
	e, err := n.Update(ctx, "u", e.ID, EndpointChange{Template: &TemplateChange{Image: new("j"), Serverless: new(true)}})
	require.NoError(t, err)
	require.Equal(t, []any{"j", "-a", int64(5), []string{"80/http"}}, []any{e.Image, e.Args, e.DiskGB, e.Ports})
	require.Equal(t, map[string]string{"A": "1"}, e.Env)

	read := func(id compute.TemplateID) (made compute.Template) {
		require.NoError(t, n.store.Read(ctx, func(tx store.Tx) (err error) {
			made, err = tx.Template(id)
			return err
		}))
		return made
	}
	made := read(e.TemplateID)
	require.Equal(t, []any{"e", "j", "-a", int64(5), []string{"80/http"}, e.ID}, []any{made.Name, made.Image, made.Args, made.DiskGB, made.Ports, made.EndpointID})
	require.Equal(t, map[string]string{"A": "1"}, made.Env)

	before := e.TemplateID
	e, err = n.Update(ctx, "u", e.ID, EndpointChange{Template: &TemplateChange{Env: map[string]string{"B": "2"}}})
	require.NoError(t, err)
	require.Equal(t, before, e.TemplateID, "it has one by now")
	require.Equal(t, map[string]string{"B": "2"}, e.Env)
	require.Equal(t, map[string]string{"B": "2"}, read(before).Env)
	require.Equal(t, "j", e.Image)
	_, err = n.Update(ctx, "u", e.ID, EndpointChange{Template: &TemplateChange{RegistryID: new(compute.RegistryID("none"))}})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestEndpoints_WorkersMountWhatFitsThem(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	n.writes(t, func(tx store.Tx) error {
		for id, of := range map[compute.VolumeID][2]string{
			"kansas": {"u", "US-KS-2"}, "kansas-too": {"u", "US-KS-2"}, "romania": {"u", "EU-RO-1"}, "theirs": {"v", "EU-RO-1"},
		} {
			v := compute.Volume{ID: id, UserID: compute.UserID(of[0]), SizeGB: 10, DataCenterID: of[1], Type: compute.StandardVolume, CreatedAt: tx.Wall()}
			if err := tx.InsertVolume(v); err != nil {
				return err
			}
		}
		if err := tx.InsertGlobalVolume(compute.GlobalVolume{ID: "their-global", UserID: "v", CreatedAt: tx.Wall()}); err != nil {
			return err
		}
		return tx.InsertGlobalVolume(compute.GlobalVolume{ID: "global", UserID: "u", CreatedAt: tx.Wall()})
	})
	type ids = []compute.VolumeID
	gpus, cpus := gpuEndpoint("on GPUs"), cpuEndpoint("on CPUs")
	for name, one := range map[string]struct {
		change          EndpointChange
		volumes, global ids
		centers         []string
		code            compute.Code
		says            string
	}{
		"one in each data center": {cpus, ids{"kansas", "romania"}, nil, nil, "", ""},
		"where it is asked for":   {cpus, ids{"romania"}, nil, []string{"US-KS-2", "EU-RO-1"}, "", ""},
		"twice the same":          {cpus, ids{"kansas", "kansas"}, nil, nil, compute.Rejected, `"kansas" is listed twice`},
		"two in a data center":    {cpus, ids{"romania", "kansas", "kansas-too"}, nil, nil, compute.Rejected, "there are two in data center US-KS-2"},
		"one elsewhere":           {cpus, ids{"kansas"}, nil, []string{"EU-RO-1"}, compute.Rejected, "which is not among dataCenterIds"},
		"somebody else's":         {cpus, ids{"theirs"}, nil, nil, compute.NotFound, `networkVolumes: network volume "theirs" does not exist`},
		"none that there is":      {cpus, ids{"none"}, nil, nil, compute.NotFound, `networkVolumes: network volume "none" does not exist`},
		"a global one":            {gpus, nil, ids{"global"}, nil, "", ""},
		"somebody else's global":  {gpus, nil, ids{"their-global"}, nil, compute.NotFound, `"their-global" does not exist`},
		"one of both kinds":       {gpus, ids{"romania"}, ids{"global"}, nil, compute.Rejected, "never both"},
		"a global one on CPUs":    {cpus, nil, ids{"global"}, nil, compute.Rejected, "workers with GPUs alone"},
	} {
		x := one.change
		x.VolumeIDs, x.GlobalIDs, x.DataCenterIDs = one.volumes, one.global, one.centers
		e, err := n.Create(t.Context(), "u", compute.QueueEndpoint, x)
		require.Equal(t, one.code, compute.CodeOf(err), name)
		if err != nil {
			require.ErrorContains(t, err, one.says, name)
			continue
		}
		e, err = n.Update(t.Context(), "u", e.ID, EndpointChange{VolumeIDs: ids{}, GlobalIDs: ids{}})
		require.NoError(t, err, name)
		require.Empty(t, e.VolumeIDs, name)
		require.Empty(t, e.GlobalVolumeID, name)
	}
}

func TestEndpoints_WorkersAreOfOneSort(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	gpu := func(edit func(*EndpointGPUChange)) EndpointChange {
		x := gpuEndpoint("e")
		edit(x.GPU)
		return x
	}
	both, neither, twice, small := gpuEndpoint("e"), cpuEndpoint("e"), cpuEndpoint("e"), cpuEndpoint("e")
	both.CPUs, neither.CPUs = neither.CPUs, nil
	twice.CPUs = []compute.CPU{{ID: "cpu3g", VCPUCount: 2}, {ID: "cpu3c", VCPUCount: 2}, {ID: "cpu3g", VCPUCount: 2}}
	small.CPUs = []compute.CPU{{ID: "cpu3g", VCPUCount: 3}}
	for says, x := range map[string]EndpointChange{
		"exactly one of gpu and cpu must be set": both, "exactly one of": neither, "/cpu/2: must not repeat an earlier item": twice, "not 3": small,
		`gpu.pools: there is no pool ""`:              gpu(func(g *EndpointGPUChange) { g.Pools = []string{"AMPERE_24", ""} }),
		`gpu.pools: there is no pool "NO_SUCH"`:       gpu(func(g *EndpointGPUChange) { g.Pools = []string{"NO_SUCH"} }),
		`gpu.excludedTypes: there is no GPU type "x"`: gpu(func(g *EndpointGPUChange) { g.Excluded = []string{"x"} }),
		"that a worker can have 11 of":                gpu(func(g *EndpointGPUChange) { g.Count = new(int64(11)) }),
	} {
		_, err := n.Create(ctx, "u", compute.QueueEndpoint, x)
		require.ErrorContains(t, err, says)
	}

	gpus, cpus := n.created(t, gpuEndpoint("e")), n.created(t, cpuEndpoint("e"))
	_, err := n.Update(ctx, "u", gpus.ID, EndpointChange{CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}})
	require.ErrorContains(t, err, "cpu: the endpoint was created with gpu")
	_, err = n.Update(ctx, "u", cpus.ID, EndpointChange{GPU: &EndpointGPUChange{Pools: []string{"AMPERE_24"}}})
	require.ErrorContains(t, err, "gpu: the endpoint was created with cpu")
	cpus, err = n.Update(ctx, "u", cpus.ID, EndpointChange{CPUs: []compute.CPU{{ID: "cpu5c", VCPUCount: 4}}})
	require.NoError(t, err)
	require.Equal(t, []compute.CPU{{ID: "cpu5c", VCPUCount: 4, MemoryGB: 8}}, cpus.CPUs)
	gpus, err = n.Update(ctx, "u", gpus.ID, EndpointChange{GPU: &EndpointGPUChange{Excluded: []string{"NVIDIA L4"}, LeastCUDA: new("12.4")}})
	require.NoError(t, err)
	require.Equal(t, compute.EndpointGPU{Pools: []string{"AMPERE_24"}, Excluded: []string{"NVIDIA L4"}, Count: 2, CUDAVersions: []string{}, LeastCUDA: "12.4"}, *gpus.GPU)
}

func TestEndpoints_PlacesMeetTheStandards(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	for _, one := range []struct {
		centers, standards []string
		met                bool
	}{
		{nil, []string{"GDPR"}, true},
		{nil, []string{"HIPAA", "PCI_DSS"}, true},
		{[]string{"EU-CZ-1", "EU-RO-1"}, []string{"GDPR", "PCI_DSS"}, true},
		{[]string{"EU-CZ-1"}, []string{"GDPR", "PCI_DSS"}, false},
		{nil, []string{"GDPR", "ITAR"}, false},
	} {
		x := cpuEndpoint("e")
		x.DataCenterIDs, x.Compliance = one.centers, one.standards
		_, err := n.Create(t.Context(), "u", compute.QueueEndpoint, x)
		if one.met {
			require.NoError(t, err, "%v", one)
		} else {
			require.ErrorContains(t, err, "compliance: no data center that is asked for meets GDPR and ")
		}
	}
}

func TestEndpoints_WorkersAreCountedWithinBounds(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, cpuEndpoint("e"))
	require.Equal(t, []int{0, 3}, []int{e.WorkersMin, e.WorkersMax})
	for _, one := range []struct {
		change EndpointChange
		says   string // empty: it is taken
	}{
		{EndpointChange{WorkersMax: new(int64(1001))}, "workers.max: 1001 is over the limit of 1000 workers"},
		{EndpointChange{WorkersMin: new(int64(4))}, "workers.min: 4 is over workers.max, 3"},
		{EndpointChange{WorkersMin: new(int64(1000)), WorkersMax: new(int64(1000))}, ""},
		{EndpointChange{Scaling: &Scaling{compute.ByCount, 1}, IdleTimeout: new(time.Minute)}, "workers.idleTimeout: it does not apply"},
		{EndpointChange{Scaling: &Scaling{compute.ByCount, 1}, IdleTimeout: new(time.Minute), IdleByCount: true}, ""},
		{EndpointChange{IdleTimeout: new(time.Hour)}, "workers.idleTimeout: it does not apply"},
		{EndpointChange{Scaling: &Scaling{compute.ByDelay, 1}, IdleTimeout: new(time.Hour), Timeout: new(time.Second)}, ""},
		{EndpointChange{Scaling: &Scaling{compute.ByCount, 1_000_000_000}}, ""},
		{EndpointChange{Scaling: &Scaling{Value: 1_000_000_001}}, "/scaling/requestCount: must be <= 1000000000"},
		{EndpointChange{Scaling: &Scaling{compute.ByDelay, 1_000_000_001}}, ""},
	} {
		changed, err := n.Update(ctx, "u", e.ID, one.change)
		if one.says != "" {
			require.ErrorContains(t, err, one.says)
			continue
		}
		require.NoError(t, err)
		e = changed
	}
	require.Equal(t, []any{1000, 1000, time.Hour, time.Second}, []any{e.WorkersMin, e.WorkersMax, e.IdleTimeout, e.Timeout})

	x := cpuEndpoint("e")
	_, err := n.Create(ctx, "u", compute.LoadBalancer, x)
	require.ErrorContains(t, err, "/scaling/type: must be REQUEST_COUNT for a LOAD_BALANCER endpoint")
	x.Scaling, x.IdleTimeout = &Scaling{compute.ByCount, 1}, new(time.Minute)
	balancer, err := n.Create(ctx, "u", compute.LoadBalancer, x)
	require.NoError(t, err)
	require.Equal(t, time.Minute, balancer.IdleTimeout)
}

func TestEndpoints_ContainersAreCheckedAsTheyChange(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, cpuEndpoint("e"))
	e.Args = "it's" // as nobody could set it any more
	n.writes(t, func(tx store.Tx) error { return tx.UpdateEndpoint(e) })
	e, err := n.Update(ctx, "u", e.ID, EndpointChange{Name: new("renamed"), DiskGB: new(int64(6))})
	require.NoError(t, err)
	require.Equal(t, []string{"renamed", "it's"}, []string{e.Name, e.Args})
	for _, x := range []EndpointChange{
		{Env: map[string]string{"A": "1"}}, {Ports: []string{"80/http"}}, {Args: new(`"open`)}, {Cmd: &[]string{"a"}},
		{Args: new(""), Ports: []string{"80/http", "80/tcp"}}, {Args: new(""), Env: map[string]string{"": "1"}},
	} {
		_, err := n.Update(ctx, "u", e.ID, x)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), "%+v", x)
	}
	e, err = n.Update(ctx, "u", e.ID, EndpointChange{Args: new(""), Cmd: &[]string{}, Ports: []string{"80/http", "90/tcp"}})
	require.NoError(t, err)
	require.Equal(t, []any{"", []string{"80/http", "90/tcp"}}, []any{e.Args, e.Ports})
}

func TestEndpoints_HaveFlavorsThatAreForWorkers(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	n.catalog.CPUs = slices.Clone(n.catalog.CPUs)
	for i := range n.catalog.CPUs {
		if n.catalog.CPUs[i].ID == "cpu5g" {
			n.catalog.CPUs[i].ServerlessPricePerVCPU = 0
		}
	}
	e := n.created(t, cpuEndpoint("a"))
	none := []compute.CPU{{ID: "cpu3g", VCPUCount: 2}, {ID: "cpu5g", VCPUCount: 2}}
	_, err := n.Update(t.Context(), "u", e.ID, EndpointChange{CPUs: none})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, `cpu.id: flavor "cpu5g" is not for workers of endpoints`)
	change := cpuEndpoint("b")
	change.CPUs = none[1:]
	_, err = n.Create(t.Context(), "u", compute.QueueEndpoint, change)
	require.ErrorContains(t, err, `cpu.id: flavor "cpu5g" is not for workers of endpoints`)
}
