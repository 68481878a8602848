package control

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// addressBook is a transaction that knows nothing but who has which address.
type addressBook struct {
	store.Pods
	owners map[compute.NetworkAddress]compute.UserID
	err    error
}

func (b addressBook) NetworkAddresses(each func(compute.UserID, compute.NetworkAddress)) error {
	for _, a := range slices.Sorted(maps.Keys(b.owners)) {
		each(b.owners[a], a)
	}
	return b.err
}

// inBlock gives an address of a block.
func inBlock(block, place int) compute.NetworkAddress {
	return compute.NetworkAddress(block*compute.BlockSize + place)
}

func TestConnect_GivesTheFirstFreeAddressOfTheAccount(t *testing.T) {
	t.Parallel()
	const first, last = compute.FirstInBlock, compute.LastInBlock
	taken := func(all map[compute.UserID][]compute.NetworkAddress) addressBook {
		b := addressBook{owners: map[compute.NetworkAddress]compute.UserID{}}
		for user, addresses := range all {
			for _, a := range addresses {
				b.owners[a] = user
			}
		}
		return b
	}

	for name, c := range map[string]struct {
		book addressBook
		want compute.NetworkAddress
	}{
		"the first of all":                 {addressBook{}, inBlock(0, first)},
		"the next one of the account":      {taken(map[compute.UserID][]compute.NetworkAddress{"v": {inBlock(0, first)}, "u": {inBlock(1, first)}}), inBlock(1, first+1)},
		"a gap":                            {taken(map[compute.UserID][]compute.NetworkAddress{"u": {inBlock(0, first), inBlock(0, first+2)}}), inBlock(0, first+1)},
		"the first block that nobody has":  {taken(map[compute.UserID][]compute.NetworkAddress{"v": {inBlock(0, first)}, "w": {inBlock(2, first)}}), inBlock(1, first)},
		"whoever has addresses before it":  {taken(map[compute.UserID][]compute.NetworkAddress{"u": {inBlock(2, first)}, "w": {inBlock(3, first)}}), inBlock(2, first+1)},
		"an account with the last of each": {taken(map[compute.UserID][]compute.NetworkAddress{"u": {inBlock(1, last)}}), inBlock(1, first)},
	} {
		pod := compute.Pod{UserID: "u", GlobalNetworking: true}
		require.NoError(t, connect(c.book, &pod), name)
		require.Equal(t, c.want, pod.Address, name)
	}
}

func TestConnect_RefusesWhereNoAddressIsLeft(t *testing.T) {
	t.Parallel()
	full := addressBook{owners: map[compute.NetworkAddress]compute.UserID{}}
	for place := compute.FirstInBlock; place <= compute.LastInBlock; place++ {
		full.owners[inBlock(0, place)] = "u"
	}
	pod := compute.Pod{UserID: "u", GlobalNetworking: true}
	err := connect(full, &pod)
	require.Equal(t, compute.Rejected, compute.CodeOf(err), "an account has one block")
	require.ErrorContains(t, err, "there is no address left")
	require.Zero(t, pod.Address)
	delete(full.owners, inBlock(0, compute.LastInBlock))
	require.NoError(t, connect(full, &pod))
	require.Equal(t, inBlock(0, compute.LastInBlock), pod.Address)

	blocks := addressBook{owners: map[compute.NetworkAddress]compute.UserID{}}
	for block := range compute.NetworkBlocks {
		blocks.owners[inBlock(block, compute.FirstInBlock)] = "v"
	}
	pod.Address = 0
	require.Equal(t, compute.Rejected, compute.CodeOf(connect(blocks, &pod)), "every block is somebody's")
	delete(blocks.owners, inBlock(compute.NetworkBlocks-1, compute.FirstInBlock))
	require.NoError(t, connect(blocks, &pod))
	require.Equal(t, inBlock(compute.NetworkBlocks-1, compute.FirstInBlock), pod.Address)
}

func TestConnect_LeavesAndTakesAnAddressAsAsked(t *testing.T) {
	t.Parallel()
	unread := addressBook{err: errors.New("nobody is to ask for the addresses")}
	pod := compute.Pod{UserID: "u", GlobalNetworking: true, Address: 99}
	require.NoError(t, connect(unread, &pod))
	require.EqualValues(t, 99, pod.Address, "it has one")
	pod.GlobalNetworking = false
	require.NoError(t, connect(unread, &pod))
	require.Zero(t, pod.Address)

	pod.GlobalNetworking = true
	require.ErrorIs(t, connect(unread, &pod), unread.err)
	require.Zero(t, pod.Address)
}
