package control

import (
	"context"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// NewPod is what createPod asks for. Nil pointers and maps are absent.
type NewPod struct {
	Name             string
	Image            string
	Args             string
	DiskGB           int64 // 0: the default
	Ports            []string
	Env              map[string]string
	RegistryID       string
	Persistent       *compute.PersistentMount
	Network          []compute.NetworkMount
	GPU              *compute.GPU
	CPU              *compute.CPU // MemoryGB is derived
	Cloud            compute.Cloud
	DataCenterIDs    []string
	GlobalNetworking bool
}

const defaultDiskGB = 20 // rule pods.defaults

// CreatePod checks the rules between fields and stores the pod, PROVISIONING. Rejected names the field; NotFound a
// network volume or credential that does not exist.
func (c *Control) CreatePod(ctx context.Context, user compute.UserID, n NewPod) (compute.Pod, error) {
	pod, err := c.newPod(user, n)
	if err != nil {
		return compute.Pod{}, err
	}
	err = c.store.Write(ctx, func(tx store.Tx) error {
		pod.CreatedAt, pod.MovedAt = tx.Now(), tx.Now()
		return tx.InsertPod(pod)
	})
	if err != nil {
		return compute.Pod{}, err
	}
	c.podHint(pod.ID)
	return pod, nil
}

// newPod applies the rules that need no store.
func (c *Control) newPod(user compute.UserID, n NewPod) (compute.Pod, error) {
	p := compute.Pod{
		UserID: user, Name: n.Name, Image: n.Image, Args: n.Args, DiskGB: n.DiskGB, Ports: n.Ports, Env: n.Env,
		RegistryID: n.RegistryID, Persistent: n.Persistent, GPU: n.GPU, CPU: n.CPU, Cloud: n.Cloud,
		GlobalNetworking: n.GlobalNetworking, Status: compute.PodProvisioning, Version: 1,
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
	if err := checkPorts(p.Ports); err != nil {
		return p, err
	}
	if n.Persistent != nil && len(n.Network) > 0 {
		return p, compute.Errorf(compute.Rejected, "mounts: persistent and network cannot both be set")
	}
	var price float64
	var err error
	switch {
	case (n.GPU == nil) == (n.CPU == nil):
		return p, compute.Errorf(compute.Rejected, "exactly one of gpu and cpu must be set")
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
	if p.DataCenterID, err = c.catalog.place(n); err != nil {
		return p, err
	}
	if len(n.Network) > 0 {
		return p, compute.Errorf(compute.NotFound, "mounts.network: network volume %q does not exist", n.Network[0].VolumeID)
	}
	if n.RegistryID != "" {
		return p, compute.Errorf(compute.NotFound, "registry: credential %q does not exist", n.RegistryID)
	}
	p.ID = c.ids.Pod()
	return p, nil
}

// checkPorts refuses the same private port twice (rule pods.ports.twice).
func checkPorts(ports []string) error {
	seen := map[string]bool{}
	for _, p := range ports {
		number, _, _ := strings.Cut(p, "/")
		if seen[number] {
			return compute.Errorf(compute.Rejected, "ports: port %s is listed twice", number)
		}
		seen[number] = true
	}
	return nil
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

// ListPods gives the user's pods, newest first.
func (c *Control) ListPods(ctx context.Context, user compute.UserID) ([]compute.Pod, error) {
	var pods []compute.Pod
	err := c.store.Read(ctx, func(tx store.Tx) (err error) {
		pods, err = tx.ListPods(user)
		return err
	})
	return pods, err
}

// DeletePod terminates the pod. NotFound as for GetPod.
func (c *Control) DeletePod(ctx context.Context, user compute.UserID, id compute.PodID) error {
	err := c.store.Write(ctx, func(tx store.Tx) error {
		pod, err := ownPod(tx, user, id)
		if err != nil {
			return err
		}
		if pod.Status, err = compute.PodMachine.Next(pod.Status, compute.PodTerminate); err != nil {
			return err
		}
		_, err = tx.MovePod(pod)
		return err
	})
	if err == nil {
		c.podHint(id)
	}
	return err
}

// ownPod hides from a user what is not theirs or is no more.
func ownPod(tx store.Tx, user compute.UserID, id compute.PodID) (compute.Pod, error) {
	pod, err := tx.Pod(id)
	if err == nil && (pod.UserID != user || pod.Status == compute.PodTerminated) {
		err = compute.Errorf(compute.NotFound, "pod %q does not exist", id)
	}
	return pod, err
}
