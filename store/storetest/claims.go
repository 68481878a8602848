package storetest

import (
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// claimedHost is the size of the hosts of these tests.
var claimedHost = compute.HostSize{GPUs: 4, VCPUs: 32, MemoryGB: 64, DiskGB: 100, VCPUsPerGPU: 8, MemoryGBPerGPU: 16}

func listClaims(tx store.Tx) ([]compute.Claim, error) { return tx.ListClaims() }

func claimSums(tx store.Tx) (map[string]compute.Claimed, error) { return tx.ClaimSums() }

// claim tries to store claims.
func claim(t *testing.T, s store.Store, claims ...compute.Claim) error {
	t.Helper()
	return s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertClaims(claimedHost, claims...) })
}

// devices gives who has which device: "host device".
func devices(t *testing.T, s store.Store) []string {
	t.Helper()
	return read(t, s, func(tx store.Tx) (all []string, err error) {
		err = tx.ClaimedDevices(func(host, device string) { all = append(all, host+" "+device) })
		return all, err
	})
}

func claims(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.Empty(t, read(t, s, listClaims))
	require.Empty(t, read(t, s, claimSums))

	gpus := compute.Claim{HolderID: "a", HostID: "h", Devices: []string{"1", "GPU-ü"}, DiskGB: 20}
	storage := compute.Claim{HolderID: "a", HostID: "h", Kept: true, DiskGB: 10}
	cpu := compute.Claim{HolderID: "b", HostID: "h", VCPUs: 2, MemoryGB: 8, DiskGB: 5}
	other := compute.Claim{HolderID: "c", HostID: "i", Devices: []string{"1"}}
	require.NoError(t, claim(t, s, gpus, storage))
	require.NoError(t, claim(t, s, cpu))
	require.NoError(t, claim(t, s, other))
	require.Equal(t, []compute.Claim{gpus, storage, cpu, other}, read(t, s, listClaims))
	require.Equal(t, []compute.Claim{other}, read(t, s, func(tx store.Tx) ([]compute.Claim, error) { return tx.ClaimsOn("i") }))
	require.Equal(t, []compute.Claim{gpus, storage}, read(t, s, func(tx store.Tx) ([]compute.Claim, error) { return tx.ClaimsOf("a") }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Claim, error) { return tx.ClaimsOf("nobody") }))
	require.Equal(t, map[string]compute.Claimed{"h": {GPUs: 2, VCPUs: 2, MemoryGB: 8, DiskGB: 35}, "i": {GPUs: 1}}, read(t, s, claimSums))
	require.ElementsMatch(t, []string{"h 1", "h GPU-ü", "i 1"}, devices(t, s))

	resize := func(holder string, kept bool, by int64) bool {
		return guarded(t, s, func(tx store.Tx) (bool, error) { return tx.ResizeClaim(holder, kept, by, claimedHost.DiskGB) })
	}
	require.True(t, resize("a", false, 65))
	require.False(t, resize("a", true, 1), "the disk is full")
	require.False(t, resize("a", true, 1<<31), "nor is there so much")
	require.False(t, resize("a", true, math.MaxInt64))
	require.True(t, resize("a", false, -60))
	require.True(t, resize("a", true, 1))
	require.False(t, resize("b", true, 1), "it has no such claim")
	require.EqualValues(t, 41, read(t, s, claimSums)["h"].DiskGB)

	release := func(holder string, kept bool) (released []compute.Claim) {
		write(t, s, func(tx store.Tx) (err error) {
			released, err = tx.ReleaseClaims(holder, kept)
			return err
		})
		return released
	}

	gpus.DiskGB, storage.DiskGB = 25, 11
	require.Equal(t, []compute.Claim{gpus}, release("a", false))
	require.Empty(t, release("a", false))
	require.Equal(t, []compute.Claim{storage}, release("a", true))
	require.Equal(t, map[string]compute.Claimed{"h": cpu.Claimed(), "i": {GPUs: 1}}, read(t, s, claimSums))
	require.Equal(t, []compute.Claim{cpu, other}, read(t, s, listClaims))
	require.Equal(t, []string{"i 1"}, devices(t, s))
	require.Len(t, release("b", true), 1)
	require.Len(t, release("c", false), 1)
	require.Empty(t, read(t, s, claimSums))
	require.NoError(t, claim(t, s, compute.Claim{HolderID: "d", HostID: "h"})) // of nothing
	require.True(t, resize("d", false, 100))
	require.False(t, resize("d", false, 1))
}

func claimedOnce(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.NoError(t, claim(t, s, compute.Claim{HolderID: "a", HostID: "h", Devices: []string{"0", "1"}}))
	before, sums := read(t, s, listClaims), read(t, s, claimSums)
	refused := func(c compute.Claim) {
		t.Helper()
		require.Equal(t, compute.Conflict, compute.CodeOf(claim(t, s, c)))
		// Where nothing else fails, nothing of it is left, without the transaction being undone.
		write(t, s, func(tx store.Tx) error {
			require.Equal(t, compute.Conflict, compute.CodeOf(tx.InsertClaims(claimedHost, c)))
			return nil
		})
		require.Equal(t, before, read(t, s, listClaims))
		require.Equal(t, sums, read(t, s, claimSums))
	}

	refused(compute.Claim{HolderID: "b", HostID: "h", Devices: []string{"2", "1"}, DiskGB: 1})
	refused(compute.Claim{HolderID: "b", HostID: "h", Devices: []string{"2", "2"}, DiskGB: 1})
	refused(compute.Claim{HolderID: "a", HostID: "h", Devices: []string{"2"}, DiskGB: 1})
	require.NoError(t, claim(t, s, compute.Claim{HolderID: "b", HostID: "i", Devices: []string{"1"}}), "that of another host")
}

func claimsFit(t *testing.T, open Open) {
	s, _ := begin(t, open)
	full := func(c compute.Claim) {
		t.Helper()
		c.HolderID, c.HostID = "late", "h"
		require.Equal(t, compute.Conflict, compute.CodeOf(claim(t, s, c)))
	}

	all := func() {
		t.Helper()
		full(compute.Claim{Devices: []string{"5", "6", "7", "8", "9"}})
		full(compute.Claim{VCPUs: 33})
		full(compute.Claim{MemoryGB: 65})
		full(compute.Claim{DiskGB: 101})
	}

	all()
	require.NoError(t, claim(t, s, compute.Claim{HolderID: "a", HostID: "h", Devices: []string{"0"}, DiskGB: 60}))
	all()
	full(compute.Claim{Devices: []string{"1", "2", "3", "4"}})
	full(compute.Claim{VCPUs: 25})
	full(compute.Claim{MemoryGB: 49})
	full(compute.Claim{DiskGB: 41})
	full(compute.Claim{Devices: []string{"1"}, VCPUs: 17})
	require.NoError(t, claim(t, s, compute.Claim{HolderID: "b", HostID: "h", Devices: []string{"1"}, VCPUs: 16, MemoryGB: 32, DiskGB: 40}))

	full(compute.Claim{VCPUs: 1})
	require.Equal(t, map[string]compute.Claimed{"h": {GPUs: 2, VCPUs: 16, MemoryGB: 32, DiskGB: 100}}, read(t, s, claimSums))

	// A sure function that is refused harms nobody.
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertClaims(claimedHost, compute.Claim{HolderID: "c", HostID: "h", DiskGB: 1})
	})))
	whole := compute.Claim{HolderID: "whole", HostID: "i", Devices: []string{"0", "1", "2", "3"}, DiskGB: 100}
	require.NoError(t, claim(t, s, whole), "one may have all of a host")
}

// claimsRefused checks that what is refused, a device or room, leaves nothing that would have the others of its group run again.
func claimsRefused(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s := beginCounted(t, open)
		require.NoError(t, claim(t, s, compute.Claim{HolderID: "a", HostID: "h", Devices: []string{"0"}}))
		runs := 0
		refused := func(c compute.Claim) func(store.Tx) error {
			return func(tx store.Tx) error { return tx.InsertClaims(claimedHost, c) }
		}

		got := group(t, s,
			func(tx store.Tx) error {
				runs++
				return tx.InsertClaims(claimedHost, compute.Claim{HolderID: "b", HostID: "h", Devices: []string{"1"}})
			},
			refused(compute.Claim{HolderID: "c", HostID: "h", Devices: []string{"2", "0"}}),
			refused(compute.Claim{HolderID: "c", HostID: "i", DiskGB: 101}),
			insert("j"))
		require.NoError(t, got[0].err)

		require.Equal(t, compute.Conflict, compute.CodeOf(got[1].err))
		require.Equal(t, compute.Conflict, compute.CodeOf(got[2].err))
		require.NoError(t, got[3].err)
		require.Equal(t, 1, runs)
		require.Equal(t, map[string]compute.Claimed{"h": {GPUs: 2}}, read(t, s, claimSums))
	})
}
