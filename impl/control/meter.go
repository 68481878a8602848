package control

import (
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// meterPod opens the pod's charge when it becomes RUNNING and closes it when it ceases to be, in the transaction of the move:
// what is billed is as durable as the status (rule billing.pods.running). Its disk and network are in its price, as cost says.
func meterPod(tx store.Charges, from compute.PodStatus, p compute.Pod) error {
	switch {
	case p.Status == compute.PodRunning: // opened below
	case from == compute.PodRunning:
		return tx.CloseCharge(string(p.ID))
	default:
		return nil
	}

	c := compute.Charge{
		UserID: p.UserID, Item: compute.PodCPU, ResourceID: string(p.ID), HolderID: string(p.ID), Rate: compute.ToNanoUSD(p.CostPerHour),
	}
	if p.GPU != nil {
		c.Item = compute.PodGPU
	}
	if p.ClusterID != "" {
		c.Item, c.ResourceID = compute.ClusterGPU, string(p.ClusterID)
	}

	return tx.OpenCharge(c)
}

// meterVolume opens a charge for the volume at its size now, after closing the one at the size before.
func (c Catalog) meterVolume(tx store.Charges, v compute.Volume) error {
	if err := tx.CloseCharge(string(v.ID)); err != nil {
		return err
	}
	item, price := compute.StorageStandard, c.Volumes.Standard
	if v.Type == compute.HighPerformanceVolume {
		item, price = compute.StorageHighPerformance, c.Volumes.HighPerformance
	}
	return tx.OpenCharge(compute.Charge{
		UserID: v.UserID, Item: item, ResourceID: string(v.ID), HolderID: string(v.ID), Rate: compute.ToNanoUSD(times(price, v.SizeGB)),
	})
}

// meterWorker opens the charge of a worker, in the transaction that stores it. A container may outlive berth or not, so
// what runs is seen every second: one that is gone after a crash is billed up to then. Where the endpoint says nothing of
// its hardware, a worker is billed as a CPU worker of the smallest size (rule billing.serverless).
func (c Catalog) meterWorker(tx store.Containers, w compute.Worker, user compute.UserID) error {
	item, price := compute.ServerlessCPU, w.CostPerHour
	switch {
	case w.GPU != nil:
		item = compute.ServerlessGPU
	case w.CPU == nil && len(c.CPUs) > 0:
		price = times(c.CPUs[0].ServerlessPricePerVCPU, c.CPUs[0].MinVCPU)
	}
	return tx.OpenCharge(compute.Charge{
		UserID: user, Item: item, ResourceID: string(w.EndpointID), HolderID: string(w.ID), Rate: compute.ToNanoUSD(price), SeenAt: tx.Wall(),
	})
}

// times multiplies a price without the dust that floating point leaves behind.
func times(price float64, n int64) float64 {
	return (compute.ToNanoUSD(price) * compute.NanoUSD(n)).USD()
}
