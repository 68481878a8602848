package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestControl_Has_KnowsEachResourceAndWhoseItIs(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, nil)
	ctx := t.Context()
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error {
		at := tx.Wall()
		return errors.Join(
			tx.InsertRegistry(compute.Registry{ID: "registry", UserID: "u", Name: "n", Login: []byte("sealed"), CreatedAt: at}),
			tx.InsertDelegation(compute.Delegation{ID: "delegation", UserID: "u", Account: "1", Region: "r", Repository: "a/b", Tag: "t", CreatedAt: at}),
			tx.InsertSecret(compute.Secret{ID: "secret", UserID: "u", Name: "n", CreatedAt: at}, []byte("sealed")),
			tx.InsertTemplate(newTemplate("template", "u", at)),
			tx.InsertVolume(compute.Volume{ID: "volume", UserID: "u", Name: "n", SizeGB: 10, DataCenterID: "EU-RO-1", Type: compute.StandardVolume, CreatedAt: at}),
			tx.InsertGlobalVolume(compute.GlobalVolume{ID: "global", UserID: "u", Name: "n", CreatedAt: at}),
			tx.InsertPod(compute.Pod{ID: "pod", UserID: "u", Status: compute.PodRunning, CreatedAt: at}),
			tx.InsertEndpoint(compute.Endpoint{ID: "endpoint", UserID: "u", Name: "n", Type: compute.QueueEndpoint, Declared: true, CreatedAt: at}),
			tx.InsertCluster(compute.Cluster{ID: "cluster", UserID: "u", Name: "n", Type: compute.RayCluster, GPU: compute.GPU{ID: "g", Count: 1}, PodCount: 2, CreatedAt: at}),
		)
	}))

	kinds := map[Resource]string{
		ResourceRegistry: "registry", ResourceDelegation: "delegation", ResourceSecret: "secret", ResourceTemplate: "template", ResourceVolume: "volume",
		ResourceGlobalVolume: "global", ResourcePod: "pod", ResourceEndpoint: "endpoint", ResourceCluster: "cluster",
	}
	for of, id := range kinds {
		has, err := c.Has(ctx, "u", of, id)
		require.NoError(t, err, "%s", of)
		require.True(t, has, "%s", of)
		has, err = c.Has(ctx, "u", of, "none")
		require.NoError(t, err, "%s", of)
		require.False(t, has, "%s", of)

		has, err = c.Has(ctx, "v", of, id)
		require.False(t, has, "%s", of)
		if of == ResourceDelegation { // of which each user's are looked at alone
			require.NoError(t, err)
			continue
		}
		require.Equal(t, compute.Conflict, compute.CodeOf(err), "%s", of)
		require.ErrorContains(t, err, "another user has a "+string(of)+" with the id "+id)
	}

	has, err := c.Has(ctx, "u", "something else", "pod")
	require.NoError(t, err)
	require.False(t, has)
}

func TestControl_Seeded_RemembersWhichSeedIsThere(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, nil)
	digest, err := c.Seeded(t.Context())
	require.NoError(t, err)
	require.Empty(t, digest)
	require.NoError(t, c.SetSeeded(t.Context(), "one"))
	require.NoError(t, c.SetSeeded(t.Context(), "two"))
	digest, err = c.Seeded(t.Context())
	require.NoError(t, err)
	require.Equal(t, "two", digest)
}
