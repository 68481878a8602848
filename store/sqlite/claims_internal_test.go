package sqlite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// A database in which two have one device, as no release should have left it, is upgraded all the same: the older one keeps it, and
// what else the other one has.
func TestClaims_UpgradeLeavesADeviceToTheOlder(t *testing.T) {
	t.Parallel()
	path := load(t, releases(t)[1]+`
UPDATE workers SET host_id = 'EU-RO-1-secure', devices = '["2", "GPU-1"]', gpu_count = 2 WHERE id = '`+string(releasedWorker)+`';
UPDATE pods SET devices = 'null' WHERE gpu_id IS NULL;`)
	s, err := Open(t.Context(), path, compute.NewFrozenClock(at(20)))
	require.NoError(t, err)

	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		claims, err := tx.ClaimsOn("EU-RO-1-secure")
		require.NoError(t, err)
		require.Equal(t, []compute.Claim{
			{HolderID: string(releasedPod), HostID: "EU-RO-1-secure", Devices: []string{"GPU-1", "1"}, DiskGB: 20},
			{HolderID: string(releasedWorker), HostID: "EU-RO-1-secure", Devices: []string{"2"}, DiskGB: 5},
		}, claims)
		sums, err := tx.ClaimSums()
		require.Equal(t, compute.Claimed{GPUs: 3, DiskGB: 25}, sums["EU-RO-1-secure"])
		return err
	}))
}

// The index is what keeps a device from being given away twice: without it the suite of stores fails.
func TestClaims_OnlyTheIndexKeepsADeviceFromTwo(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir()+"/berth.db", compute.NewFrozenClock(at(0)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	insert := func(holder string) error {
		return s.Write(t.Context(), func(tx store.Tx) error {
			return tx.InsertClaims(compute.HostSize{GPUs: 4}, compute.Claim{HolderID: holder, HostID: "h", Devices: []string{"0"}})
		})
	}
	require.NoError(t, insert("a"))

	require.Equal(t, compute.Conflict, compute.CodeOf(insert("b")))

	require.NoError(t, s.Write(t.Context(), func(store.Tx) error {
		_, err := s.engine.conn.Exec("DROP INDEX claims_of_device")
		return err
	}))
	require.NoError(t, insert("b"))
}
