//go:build unix

package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// TestCheck_LooksTwiceAtContainersBesideAServer: one that is being removed at the first look is no flaw.
func TestCheck_LooksTwiceAtContainersBesideAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(data, databaseFile), compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.InsertRuntime(compute.RuntimeAt{Name: "docker", Address: "here"}) }))
	require.NoError(t, db.Close())
	require.NoError(t, os.WriteFile(filepath.Join(data, ownerFile), []byte("name"), 0o600))
	unlock, err := lock(data, "berth serve")
	require.NoError(t, err)
	defer func() { require.NoError(t, unlock()) }()

	looks := 0
	check := func() (ids []string) {
		looks = 0
		r, err := Check(t.Context(), CheckOptions{Data: data, open: func(compute.RuntimeAt) (runtime.Opened, error) {
			looks++
			there := runtime.Opened{Pods: sim.New(compute.SystemClock{}), Workers: sim.New(compute.SystemClock{})}
			for _, id := range []string{"left", "going"}[:3-min(looks, 2)] {
				require.NoError(t, there.Pods.Start(t.Context(), runtime.Allocation{ID: id}))
			}
			return there, nil
		}})
		require.NoError(t, err)
		for _, f := range r.Flaws {
			ids = append(ids, f.ID)
		}
		return ids
	}

	require.Equal(t, []string{"left"}, check())
	require.Equal(t, 2, looks)
}
