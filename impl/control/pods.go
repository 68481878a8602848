package control

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// NewPod is what createPod asks for. Nil pointers and maps are absent.
type NewPod struct {
	Name             string
	Image            string
	Args             string
	Command          Command // what is asked for besides, over Args
	DiskGB           int64   // 0: the default
	Ports            []string
	Env              map[string]string
	RegistryID       compute.RegistryID
	NoRegistry       bool // not even that of a template
	Persistent       *compute.PersistentMount
	Network          []compute.NetworkMount // empty but not nil: given, and none
	GPU              *compute.GPU
	CPU              *compute.CPU // MemoryGB is derived; not 0: refused unless it is that
	Cloud            compute.Cloud
	DataCenterIDs    []string
	GlobalNetworking bool
	TemplateID       compute.TemplateID // that FromTemplate completes it with
	MountPath        string             // of the template's persistent mount; empty: as the template has it
	StartSSH         *bool              // the container gets the user's SSH keys
	StartJupyter     *bool              // the container gets a password
	Kept             compute.PodNeeds   // of its hosts, also when it starts again
	MaxCost          float64            // USD an hour; 0: whatever it costs
	StopAfter        time.Time          // the time of day after which it is stopped; zero: none
	TerminateAfter   time.Time          // likewise, terminated
	BidPerGPU        float64            // USD an hour; 0: it is not interruptible
	Needs                               // of its host, as it is made
}

const defaultDiskGB = 20 // rule pods.defaults

// costTolerance is by how much a price in USD may be over what it may be at most: a part of that, as of a cluster's, is rounded.
const costTolerance = 0.5e-9

// CreatePod checks the rules between fields and stores the pod, PROVISIONING. Rejected names the field; NotFound a
// network volume, credential or template that does not exist.
func (c *Control) CreatePod(ctx context.Context, user compute.UserID, n NewPod) (made compute.Pod, err error) {
	pod, err := c.newPod(ctx, user, n)
	if err != nil {
		return compute.Pod{}, err
	}
	w, err := c.wantOfNew(ctx, pod, n)
	if err != nil {
		return compute.Pod{}, err
	}

	length := c.interruptions.draw(pod)
	err = c.placement.place(ctx, "pod", 1, []want{w}, func(at []choice) error {
		return create(ctx, c.store, func(tx store.Tx) (err error) {
			if err := checkSpend(ctx, tx, user, pod.CostPerHour); err != nil {
				return err
			}
			pod.InterruptAt = length.end(tx)
			made, err = c.insertPod(tx, pod, n, &at[0])
			return err
		})
	})
	if err != nil {
		return compute.Pod{}, err
	}

	c.podHint(made.ID)
	if timed(made) {
		c.timerHint(made.ID)
	}
	return made, nil
}

// newPod applies the rules that need no store.
func (c *Control) newPod(ctx context.Context, user compute.UserID, n NewPod) (compute.Pod, error) {
	p := compute.Pod{
		UserID: user, Name: n.Name, Image: n.Image, Args: n.Args, DiskGB: n.DiskGB, Ports: n.Ports, Env: n.Env,
		RegistryID: n.RegistryID, Persistent: n.Persistent, GPU: n.GPU, CPU: n.CPU, Cloud: n.Cloud, TemplateID: n.TemplateID,
		GlobalNetworking: n.GlobalNetworking, Status: compute.PodProvisioning, Version: 1, Needs: n.Kept,
	}
	var err error
	p.StopAfter, p.TerminateAfter, p.BidPerGPU = n.StopAfter, n.TerminateAfter, n.BidPerGPU
	if p.Args, err = n.Command.on(n.Args); err != nil {
		return p, err
	}
	if p.DiskGB == 0 {
		p.DiskGB = defaultDiskGB
	}
	if p.Cloud == "" {
		p.Cloud = compute.Secure
	}
	if p.Ports == nil {
		p.Ports = []string{}
	}
	if p.Env == nil {
		p.Env = map[string]string{}
	}
	if err := checkContainer(p.Ports, p.Args, p.Env); err != nil {
		return p, err
	}
	if n.Persistent != nil && n.Network != nil {
		return p, compute.Errorf(compute.Rejected, "mounts: persistent and network cannot both be set")
	}
	if len(n.Kept.CUDAVersions) > 0 && n.Kept.LeastCUDA != "" {
		return p, compute.Errorf(compute.Rejected, "gpu: allowedCudaVersions and minCudaVersion cannot both be set")
	}
	if value := n.StartJupyter; value != nil && *value {
		c.addPassword(&p)
	}

	var price float64
	switch {
	case (n.GPU == nil) == (n.CPU == nil):
		return p, compute.Errorf(compute.Rejected, "exactly one of gpu and cpu must be set")
	case n.GPU != nil && n.BidPerGPU > 0:
		price, err = c.catalog.priceBid(*n.GPU, p.Cloud, n.BidPerGPU)
	case n.GPU != nil:
		price, err = c.catalog.priceGPU(*n.GPU, p.Cloud)
	default:
		if n.Persistent != nil {
			return p, compute.Errorf(compute.Rejected, "mounts.persistent is not possible on a CPU pod")
		}
		cpu := *n.CPU
		price, cpu.MemoryGB, err = c.catalog.priceCPU(cpu)
		p.CPU = &cpu
	}
	if err != nil {
		return p, err
	}

	p.CostPerHour = price
	if n.MaxCost > 0 && price-n.MaxCost > costTolerance {
		return p, compute.Errorf(compute.Rejected, "the pod would cost %g USD an hour, over the limit of %g", price, n.MaxCost)
	}
	if err = c.catalog.checkPlace(n.GPU, n.DataCenterIDs, n.GlobalNetworking); err != nil {
		return p, err
	}

	if len(n.Network) > 0 {
		p.Network = &n.Network[0]
	}
	p.ID = newID(ctx, c.ids.Pod)
	if err := c.checkNetwork(p); err != nil {
		return p, err
	}
	return p, c.runtime.checkPod(p)
}

// wantOfNew applies the rules that need the store, and gives what the new pod needs of a host. Most pods name nothing that is stored,
// and take no query.
func (c *Control) wantOfNew(ctx context.Context, p compute.Pod, n NewPod) (w want, err error) {
	w = wantOf(p)
	w.DataCenterIDs, w.Needs = n.DataCenterIDs, n.Needs
	w.keep(p)
	if p.Persistent != nil {
		w.PersistentGB = p.Persistent.SizeGB
	}
	if p.Network != nil {
		w.VolumeID = p.Network.VolumeID
	}

	if len(n.Network) > 0 || n.RegistryID != "" || n.TemplateID != "" {
		err = c.store.Read(ctx, func(tx store.Tx) (err error) {
			w.DataCenterIDs, err = c.checkNamed(tx, p.UserID, n)
			return err
		})
		if err != nil {
			return w, err
		}
	}

	return w, c.catalog.checkPlace(n.GPU, w.DataCenterIDs, n.GlobalNetworking) // a volume may have left only data centers without it
}

// checkNamed checks that what the pod names is there, and gives the data centers in which it may be placed.
func (c *Control) checkNamed(tx store.Resources, user compute.UserID, n NewPod) ([]string, error) {
	dataCenters, err := dataCentersFor(tx, user, n)
	if err != nil {
		return nil, err
	}
	if err := checkRegistry(tx, user, n.RegistryID); err != nil {
		return nil, err
	}
	return dataCenters, c.checkTemplate(tx, user, n.TemplateID)
}

// insertPod stores a new pod with its claims at the choice, begins its log, and gives it as it is stored. It fails before it changes
// anything, if at all, unless the storage fails.
func (c *Control) insertPod(tx store.Tx, p compute.Pod, n NewPod, at *choice) (compute.Pod, error) {
	if _, err := c.checkNamed(tx, p.UserID, n); err != nil {
		return p, err
	}
	p.HostID, p.DataCenterID, p.Devices = at.hostID(), at.host.DataCenterID, at.deviceNames()
	if err := connect(tx, &p); err != nil {
		return p, err
	}

	if n.StartSSH != nil && *n.StartSSH && c.runtime.Can.Login {
		p.Env = maps.Clone(p.Env)
		if err := addPublicKeys(tx, &p); err != nil {
			return p, err
		}
	}

	p.CreatedAt, p.MovedAt = tx.Wall(), tx.Wall()
	if err := checkTimers(p, tx.Wall()); err != nil {
		return p, err
	}
	if err := at.claim(tx, string(p.ID)); err != nil {
		return p, err
	}
	if err := c.placement.holdVolume(tx, p.Network, at); err != nil {
		return p, err
	}
	if err := tx.InsertPod(p); err != nil {
		return p, err
	}

	return p, tx.BeginSystemLines(string(p.ID), statusLine(p))
}

// GetPod gives the user's pod. NotFound for an unknown, a terminated and somebody else's one.
func (c *Control) GetPod(ctx context.Context, user compute.UserID, id compute.PodID) (compute.Pod, error) {
	var pod compute.Pod
	err := c.store.Read(ctx, func(tx store.Tx) (err error) {
		pod, err = ownPod(tx, user, id)
		return err
	})
	return pod, err
}

// HTTPPod gives a pod, whoever owns it, that shows the port over HTTP. NotFound for all others, of which nobody shall know which there are.
func (c *Control) HTTPPod(ctx context.Context, id compute.PodID, port int) (compute.Pod, error) {
	var pod compute.Pod
	err := c.store.Read(ctx, func(tx store.Tx) (err error) {
		pod, err = tx.Pod(id)
		return err
	})
	if compute.CodeOf(err) == compute.NotFound || err == nil && (pod.Status == compute.PodTerminated || !slices.Contains(pod.Ports, strconv.Itoa(port)+"/"+compute.HTTPPort)) {
		return compute.Pod{}, compute.Errorf(compute.NotFound, "there is no pod %q that shows port %d over HTTP", id, port)
	}
	return pod, err
}

// PagePods gives a page of the user's pods, newest first, and where the next one begins. Those of clusters are left out, unless they are
// asked for, after it was cut (rule pages.clusters).
func (c *Control) PagePods(ctx context.Context, user compute.UserID, clusters bool, p compute.Page) (pods []compute.Pod, next compute.Position, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		pods, next, err = tx.PagePods(user, p)
		return err
	})
	if !clusters {
		pods = withoutClusters(pods)
	}
	return pods, next, err
}

// ListPods gives the user's pods, those of clusters too, newest first. Rejected if there is no room for all; nil: there is.
func (c *Control) ListPods(ctx context.Context, user compute.UserID, room compute.Room) (pods []compute.Pod, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		pods, err = whole(tx.PagePods(user, unpaged(room)))
		return err
	})
	return pods, err
}

// DeletePod terminates the pod. Conflict for one of a cluster, NotFound as for GetPod.
func (c *Control) DeletePod(ctx context.Context, user compute.UserID, id compute.PodID) error {
	_, err := c.ActOnPod(ctx, user, id, compute.PodTerminate)
	return err
}

// ownPod hides from a user what is not theirs or is no more.
func ownPod(tx store.Pods, user compute.UserID, id compute.PodID) (compute.Pod, error) {
	pod, err := tx.Pod(id)
	if err == nil && (pod.UserID != user || pod.Status == compute.PodTerminated) {
		return compute.Pod{}, compute.Errorf(compute.NotFound, "pod %q does not exist", id)
	}
	return pod, err
}

// PodChange is what updatePod asks for. Nil is unchanged.
type PodChange struct {
	Sealed *compute.Key // that asks, if it is for single pods alone: it may give the pod no secret, credential or template (rule auth.scopes.pod.secrets)

	TemplateID       *compute.TemplateID // its settings stand where those below are nil; no link is kept
	Name             *string
	Image            *string
	Args             *string
	Cmd, Entrypoint  *[]string // see Command
	DiskGB           *int64
	Ports            []string            // empty: none any more
	Env              map[string]string   // empty: none any more
	RegistryID       *compute.RegistryID // empty: none any more
	PersistentGB     *int64              // see withMounts
	MountPath        *string             // likewise
	Persistent       *compute.PersistentMount
	Network          []compute.NetworkMount // empty but not nil is refused
	Locked           *bool
	GlobalNetworking *bool
}

// checkSealed refuses what a change by a key for single pods must not bring into the pod, whose user may see more than it.
func (n PodChange) checkSealed(p compute.Pod) error {
	switch had := compute.SecretNames(p.Env); {
	case n.Sealed == nil:
	case n.TemplateID != nil:
		return n.Sealed.MayNot("templateId: a key for single pods must not use templates")
	case n.RegistryID != nil && *n.RegistryID != "" && *n.RegistryID != p.RegistryID:
		return n.Sealed.MayNot("registry: a key for single pods must not give its pod a credential")
	case n.Image != nil && *n.Image != p.Image && p.RegistryID != "" && (n.RegistryID == nil || *n.RegistryID != ""): // whose registry would get it
		return n.Sealed.MayNot("image: a key for single pods must not give a pod that has a credential another image, but with registry null")
	default:
		for _, name := range compute.SecretNames(n.Env) {
			if !slices.Contains(had, name) {
				return n.Sealed.MayNot("env: a key for single pods must not give its pod the secret " + name)
			}
		}
	}
	return nil
}

// UpdatePod changes what is present, and restarts a running pod whose container it concerns; one whose container is on its way gets another one.
// Rejected for a change of mounts that is not possible, Forbidden for what a Sealed one must not bring, Conflict for a pod of a cluster and for a
// locked one that would be restarted, Invalid for a serverless template, NotFound as for GetPod and for a template.
func (c *Control) UpdatePod(ctx context.Context, user compute.UserID, id compute.PodID, change PodChange) (compute.Pod, error) {
	var pod compute.Pod
	err := c.placement.Write(ctx, func(tx store.Tx, claims *Claims) (err error) {
		if pod, err = ownPod(tx, user, id); err != nil {
			return err
		}
		if err := checkAlone(pod); err != nil {
			return err
		}

		if err := change.checkSealed(pod); err != nil {
			return err
		}
		before := pod
		if err := c.change(tx, &pod, change); err != nil {
			return err
		}
		if err := claims.resize(tx, before, pod); err != nil {
			return err
		}
		if _, err := tx.ChangePod(pod); err != nil {
			return err
		}

		pod.Version++
		if !pod.Status.HoldsHost() || !concernsContainer(before, pod) {
			return nil
		}

		if before.Locked {
			if err := checkUnlocked(pod); err != nil {
				return err
			}
		}

		if pod.Status != compute.PodRunning {
			return renew(tx, &pod)
		}
		return move(tx, claims, &pod, compute.PodRestart)
	})
	if err == nil {
		c.podHint(id)
		if timed(pod) { // one that was locked may be due
			c.timerHint(id)
		}
	}

	return pod, err
}

// change applies the change to the pod, in the order of its members.
func (c *Control) change(tx store.Resources, p *compute.Pod, n PodChange) (err error) {
	if n.TemplateID != nil {
		if n, err = c.copyToChange(tx, p.UserID, *n.TemplateID, n); err != nil {
			return err
		}
	}
	if n.Args, err = (Command{n.Args, n.Cmd, n.Entrypoint}).change(p.Args); err != nil {
		return err
	}
	set(&p.Name, n.Name)
	set(&p.Image, n.Image)
	set(&p.Args, n.Args)
	set(&p.DiskGB, n.DiskGB)
	set(&p.Locked, n.Locked)
	if n.Ports != nil {
		p.Ports = n.Ports
	}
	if n.Env != nil {
		p.Env = n.Env
	}

	if n.Ports != nil || n.Args != nil || n.Env != nil { // else it was taken as it is
		if err := checkContainer(p.Ports, p.Args, p.Env); err != nil {
			return err
		}
	}

	if n.RegistryID != nil {
		if err := checkRegistry(tx, p.UserID, *n.RegistryID); err != nil {
			return err
		}
		p.RegistryID = *n.RegistryID
	}

	if n.GlobalNetworking != nil {
		if *n.GlobalNetworking && !c.catalog.canNetwork(p.GPU) {
			return compute.Errorf(compute.Rejected, "globalNetworking needs an NVIDIA GPU")
		}
		if d, _ := c.catalog.DataCenter(p.DataCenterID); *n.GlobalNetworking && !d.GlobalNetwork {
			return compute.Errorf(compute.Rejected, "globalNetworking: data center %s, where the pod is, does not have it", p.DataCenterID)
		}
		p.GlobalNetworking = *n.GlobalNetworking
		if err := c.checkNetwork(*p); err != nil {
			return err
		}
	}

	if n.Image != nil || n.Args != nil || n.Env != nil || n.RegistryID != nil || n.GlobalNetworking != nil {
		if err := c.runtime.checkPod(*p); err != nil {
			return err
		}
	}

	return changeMounts(p, n.withMounts(*p))
}

// withMounts gives the change with the mounts that PersistentGB and MountPath alone stand for: what of its mount is absent stays as the pod has it
// (rule graphql.edit). The path of a volume that is not there means nothing, as when a pod is made (rule graphql.edit.volume).
func (n PodChange) withMounts(p compute.Pod) PodChange {
	switch {
	case n.PersistentGB != nil || n.MountPath != nil && p.Persistent != nil:
		var mount compute.PersistentMount
		set(&mount, p.Persistent)
		set(&mount.SizeGB, n.PersistentGB)
		set(&mount.Path, n.MountPath)
		n.Persistent = &mount
	case n.MountPath != nil && p.Network != nil:
		n.Network = []compute.NetworkMount{{VolumeID: p.Network.VolumeID, Path: *n.MountPath}}
	}
	return n
}

// changeMounts applies the PATCH rules for mounts (rules pods.patch.mounts.*).
func changeMounts(p *compute.Pod, n PodChange) error {
	switch {
	case n.Persistent != nil && n.Network != nil:
		return compute.Errorf(compute.Rejected, "mounts: persistent and network cannot both be set")
	case n.Persistent != nil && p.Persistent == nil:
		return compute.Errorf(compute.Rejected, "mounts.persistent: the pod was created without one")
	case n.Persistent != nil && n.Persistent.SizeGB < p.Persistent.SizeGB:
		return compute.Errorf(compute.Rejected, "mounts.persistent.size: %d GB cannot shrink to %d", p.Persistent.SizeGB, n.Persistent.SizeGB)
	case n.Persistent != nil:
		p.Persistent = n.Persistent
	case n.Network != nil && len(n.Network) == 0:
		return compute.Errorf(compute.Rejected, "mounts.network: mounts cannot be cleared")
	case n.Network != nil && p.Network == nil:
		return compute.Errorf(compute.Rejected, "mounts.network: the pod was created without one")
	case n.Network != nil && n.Network[0].VolumeID != p.Network.VolumeID:
		return compute.Errorf(compute.Rejected, "mounts.network.volumeId: the volume of a pod cannot change")
	case n.Network != nil:
		p.Network = &n.Network[0]
	}

	return nil
}

// concernsContainer reports whether a running container must be started anew for the change (rule pods.patch.restart).
func concernsContainer(a, b compute.Pod) bool {
	return a.Image != b.Image || a.Args != b.Args || a.DiskGB != b.DiskGB || !slices.Equal(a.Ports, b.Ports) || !maps.Equal(a.Env, b.Env)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
