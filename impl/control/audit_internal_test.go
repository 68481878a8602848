package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// audit works out from the rows alone what is free of each host.
func audit(ctx context.Context, s store.Store, fleet []Host) (map[string]amount, error) {
	all, by := map[string]amount{}, map[string]Host{}
	for _, h := range fleet {
		all[h.ID], by[h.ID] = amount{h.GPUCount, h.VCPUs, h.MemoryGB, h.DiskGB}, h
	}

	return all, s.Read(ctx, func(tx store.Tx) error {
		pods, _, err := tx.PagePods("u", unpaged(nil))
		for _, p := range pods {
			h, left := by[p.HostID], all[p.HostID]
			if p.Persistent != nil {
				left.diskGB -= p.Persistent.SizeGB
			}

			switch p.Status {
			case compute.PodProvisioning, compute.PodStarting, compute.PodRunning:
				left.diskGB -= p.DiskGB
				if p.GPU != nil {
					left.gpus -= p.GPU.Count
					left.vcpus -= h.VCPUs / h.GPUCount * p.GPU.Count
					left.memoryGB -= h.MemoryGB / h.GPUCount * p.GPU.Count
				} else {
					left.vcpus -= p.CPU.VCPUCount
					left.memoryGB -= p.CPU.MemoryGB
				}
			}

			all[p.HostID] = left
		}

		if err != nil {
			return err
		}

		workers, err := tx.ListWorkers()
		for _, w := range workers {
			h, left := by[w.HostID], all[w.HostID]
			left.diskGB -= w.DiskGB
			if w.GPU != nil {
				left.gpus -= w.GPU.Count
				left.vcpus -= h.VCPUs / h.GPUCount * w.GPU.Count
				left.memoryGB -= h.MemoryGB / h.GPUCount * w.GPU.Count
			} else {
				left.vcpus -= w.CPU.VCPUCount
				left.memoryGB -= w.CPU.MemoryGB
			}

			all[w.HostID] = left
		}

		return err
	})
}

// auditDevices gives who has each device of each host, by the rows alone. It fails where two have one, or somebody has not as
// many as were asked for.
func auditDevices(ctx context.Context, s store.Store) (map[string]string, error) {
	holders := map[string]string{}
	give := func(id string, gpu *compute.GPU, host string, devices []string) error {
		if gpu == nil {
			return nil
		}
		if int64(len(devices)) != gpu.Count {
			return fmt.Errorf("%s has devices %v for %d GPUs", id, devices, gpu.Count)
		}

		for _, d := range devices {
			key := host + " " + d
			if other, ok := holders[key]; ok {
				return fmt.Errorf("device %s is that of %s and %s", key, other, id)
			}
			holders[key] = id
		}

		return nil
	}

	return holders, s.Read(ctx, func(tx store.Tx) error {
		pods, _, err := tx.PagePods("u", unpaged(nil))
		for _, p := range pods {
			if p.Status.HoldsHost() {
				err = cmp.Or(err, give(string(p.ID), p.GPU, p.HostID, p.Devices))
			}
		}

		workers, e := tx.ListWorkers()
		for _, w := range workers {
			err = cmp.Or(err, give(string(w.ID), w.GPU, w.HostID, w.Devices))
		}
		return cmp.Or(err, e)
	})
}

// auditClaims fails unless the claims are what the rows of the user's pods and of workers say, and the sums are those of the claims.
func auditClaims(ctx context.Context, s store.Store) error {
	var want, claims []compute.Claim
	var sums map[string]compute.Claimed
	err := s.Read(ctx, func(tx store.Tx) error {
		pods, _, err := tx.PagePods("u", unpaged(nil))
		for _, p := range pods {
			want = append(want, claimsOf(p)...)
		}

		workers, e := tx.ListWorkers()
		for _, w := range workers {
			if w.HostID != "" {
				want = append(want, claimOf(string(w.ID), w.HostID, w.Devices, w.CPU, w.DiskGB))
			}
		}

		err = cmp.Or(err, e)
		claims, e = tx.ListClaims()
		err = cmp.Or(err, e)
		sums, e = tx.ClaimSums()
		return cmp.Or(err, e)
	})
	if err != nil {
		return err
	}

	slices.SortStableFunc(want, func(a, b compute.Claim) int { return cmp.Compare(a.HolderID, b.HolderID) })
	if !slices.EqualFunc(want, claims, func(a, b compute.Claim) bool { return reflect.DeepEqual(a, b) }) {
		return fmt.Errorf("the claims are %+v, pods and workers have %+v", claims, want)
	}
	for _, c := range claims {
		sums[c.HostID] = sums[c.HostID].Minus(c.Claimed())
	}

	for _, host := range slices.Sorted(maps.Keys(sums)) {
		if sums[host] != (compute.Claimed{}) {
			return fmt.Errorf("the sums of host %s are %+v more than its claims", host, sums[host])
		}
	}

	return nil
}

// claimsOf is what a pod is to have claimed.
func claimsOf(p compute.Pod) (all []compute.Claim) {
	if p.Status.HoldsHost() {
		all = append(all, claimOf(string(p.ID), p.HostID, p.Devices, p.CPU, p.DiskGB))
	}
	if p.Persistent != nil {
		all = append(all, compute.Claim{HolderID: string(p.ID), HostID: p.HostID, Kept: true, DiskGB: p.Persistent.SizeGB})
	}
	return all
}

func claimOf(id, host string, devices []string, cpu *compute.CPU, disk int64) compute.Claim {
	c := compute.Claim{HolderID: id, HostID: host, Devices: devices, DiskGB: disk}
	if cpu != nil {
		c.VCPUs, c.MemoryGB = cpu.VCPUCount, cpu.MemoryGB
	}
	return c
}
