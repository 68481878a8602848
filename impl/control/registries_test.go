package control_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

func open(t *testing.T) (store.Store, *compute.IDs) {
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, compute.NewIDs(rand.Reader, clock)
}

func newRegistries(t *testing.T, db store.Store, ids *compute.IDs) *control.Registries {
	sealer, err := control.NewSealer([]byte("a key that has thirty-two bytes."))
	require.NoError(t, err)
	registries, err := control.NewRegistries(t.Context(), db, ids, sealer)
	require.NoError(t, err)
	return registries
}

func TestRegistries_LoginIsSealedAndNeverPrinted(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	login := compute.Login{Username: "the-user", Password: "the-password"}
	made, err := newRegistries(t, db, ids).Create(t.Context(), "u", "n", login)
	require.NoError(t, err)
	require.NotContains(t, string(made.Login), "the-")

	again := newRegistries(t, db, ids)
	opened, err := again.Login(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, login, opened)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", opened, opened, opened, opened), "the-")

	_, err = again.Login(t.Context(), "none")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestRegistries_UpdateReplacesTheLogin(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	registries := newRegistries(t, db, ids)
	made, err := registries.Create(t.Context(), "u", "n", compute.Login{Username: "before", Password: "p"})
	require.NoError(t, err)

	after := compute.Login{Username: "after", Password: "q"}
	_, err = registries.Update(t.Context(), "somebody else", made.ID, after)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	changed, err := registries.Update(t.Context(), "u", made.ID, after)
	require.NoError(t, err)
	require.Equal(t, "n", changed.Name)

	opened, err := registries.Login(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, after, opened)
}

func TestRegistries_LoginOpensInItsOwnRowAlone(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	registries := newRegistries(t, db, ids)
	made, err := registries.Create(t.Context(), "u", "n", compute.Login{Username: "u", Password: "p"})
	require.NoError(t, err)
	moved := made
	moved.ID = "another"
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.InsertRegistry(moved) }))
	_, err = registries.Login(t.Context(), moved.ID)
	require.Equal(t, compute.Internal, compute.CodeOf(err))
}
