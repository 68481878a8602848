package control

import (
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// connect gives a pod that is about to start its address in the global network of its account, or takes it away, as was asked
// (rules pods.global-networking.ip, pods.patch.global-networking). A pod keeps its address while it is stopped. Rejected when
// there is none left.
func connect(tx store.Pods, p *compute.Pod) error {
	switch {
	case !p.GlobalNetworking:
		p.Address = 0
		return nil
	case p.Address != 0:
		return nil
	}

	own := int64(-1)
	blocks, used := map[int64]bool{}, map[compute.NetworkAddress]bool{}
	err := tx.NetworkAddresses(func(user compute.UserID, a compute.NetworkAddress) {
		blocks[a.Block()], used[a] = true, true
		if user == p.UserID {
			own = a.Block()
		}
	})
	if err != nil {
		return err
	}

	if own < 0 { // the first of the account takes a block
		for own = 0; blocks[own]; own++ {
		}
	}

	first := compute.NetworkAddress(own * compute.BlockSize)
	for a := first + compute.FirstInBlock; own < compute.NetworkBlocks && a <= first+compute.LastInBlock; a++ {
		if !used[a] {
			p.Address = a
			return nil
		}
	}

	return compute.Errorf(compute.Rejected, "globalNetworking: there is no address left")
}
