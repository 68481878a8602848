//go:build unix

package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

// cutLast runs a group whose connection is cut before the last bytes of its commit, or of the answer to that. then is called before.
func (o *owned) cutLast(d pgtest.Direction, then func()) *round {
	o.Helper()
	within := map[pgtest.Direction]int{
		pgtest.ToServer: 27, // the end of the message that begins COMMIT, before those that describe it, execute it and end it
		pgtest.ToClient: 10, // the end of the answer to it, and that the server is ready again
	}
	return o.cut(d, o.bytes(d)-within[d], then)
}

func TestUnknown_UnfinishedCommitIsWaitedFor(t *testing.T) {
	t.Parallel()
	o := own(t)
	o.proxy.Hold(true)
	r := o.cutLast(pgtest.ToServer, func() {})
	o.requireReported(r, "the server waits for the rest of the command")
	require.Error(t, r.errs[0])
	o.proxy.Hold(false)
	o.requireReported(o.group(func() {}), "then")
	o.requireCounted()
}

func TestUnknown_NothingIsWrittenUntilOpenedAgain(t *testing.T) {
	t.Parallel()
	for d, name := range map[pgtest.Direction]string{pgtest.ToServer: "it is not", pgtest.ToClient: "it is"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := own(t)
			r := o.cutLast(d, o.proxy.Refuse)
			for i, err := range r.errs {
				require.True(t, store.IsUnknown(err), err)
				require.Equal(t, store.Away, store.TroubleOf(err))
				require.Zero(t, r.effects[i])
			}
			require.EqualValues(t, 1, o.unknown.Load())
			o.look(r)
			require.Equal(t, [3]bool{d == pgtest.ToClient, d == pgtest.ToClient, d == pgtest.ToClient}, r.disk)

			o.proxy.Up()
			err := o.store.Write(t.Context(), func(store.Tx) error { t.Error("it wrote"); return nil })
			require.Equal(t, store.Away, store.TroubleOf(err))
			require.False(t, store.IsUnknown(err))

			before := o.owner
			require.NoError(t, o.owners.Release(t.Context(), me))
			o.open()
			require.Equal(t, before.Epoch+1, o.owner.Epoch)
			o.requireReported(o.group(func() {}), "then")
			o.requireCounted()
		})
	}
}

func TestUnknown_IsACommitLostToAnotherOwner(t *testing.T) {
	t.Parallel()
	o := own(t)
	other := store.Replica{ID: "other", Address: "http://127.0.0.1:2"}
	r := o.cutLast(pgtest.ToClient, func() {
		require.NoError(t, o.owners.Release(t.Context(), me))
		owner, err := o.owners.Hold(t.Context(), other, time.Hour)
		require.NoError(t, err)
		require.Equal(t, other.ID, owner.ID)
	})
	for _, err := range r.errs {
		require.True(t, store.IsUnknown(err), err)
	}
	require.EqualValues(t, 1, o.unknown.Load())
}

func TestDB_ReopensAConnectionLostWhileIdle(t *testing.T) {
	t.Parallel()
	o := own(t)
	url, err := o.proxy.URL(o.url)
	require.NoError(t, err)
	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })

	for range 3 {
		require.NoError(t, o.store.Write(t.Context(), func(tx store.Tx) error { return tx.SetLag(0) }))
		require.NoError(t, o.store.Read(t.Context(), func(tx store.Tx) error { _, err := tx.Lag(); return err }))
		owner, err := owners.Hold(t.Context(), me, time.Hour)
		require.NoError(t, err)
		require.Equal(t, o.owner.Epoch, owner.Epoch)
		o.proxy.Down()
		o.proxy.Up()
	}
	require.NoError(t, o.store.Trouble())
}

func TestOwners_NextHoldAfterReleaseHasAnotherEpoch(t *testing.T) {
	t.Parallel()
	o := own(t)
	again, err := o.owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err)
	require.Equal(t, o.owner.Epoch, again.Epoch)
	require.NoError(t, o.owners.Release(t.Context(), me))
	again, err = o.owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err)
	require.Equal(t, o.owner.Epoch+1, again.Epoch)

	err = o.store.Write(t.Context(), func(store.Tx) error { return nil })
	require.Equal(t, store.Moved, store.TroubleOf(err))
}

func TestOpen_ErrorSaysWhereButNoPassword(t *testing.T) {
	t.Parallel()
	for _, open := range []func(string) error{
		func(url string) error { _, err := postgres.Open(t.Context(), url, nil); return err },
		func(url string) error { _, err := postgres.OpenOwners(t.Context(), url); return err },
	} {
		err := open("postgres://berth:hunter2@127.0.0.1:1/jobs")
		require.ErrorContains(t, err, "127.0.0.1:1/jobs")
		require.NotContains(t, err.Error(), "hunter2")
		require.Equal(t, store.Away, store.TroubleOf(err))
	}
}

func TestSame_KnowsADatabaseByEachOfItsURLs(t *testing.T) {
	t.Parallel()
	one, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	two, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	for url, want := range map[string]bool{one: true, one + "&application_name=x": true, two: false} {
		same, err := postgres.Same(t.Context(), one, url)
		require.NoError(t, err)
		require.Equal(t, want, same, url)
	}
	_, err = postgres.Same(t.Context(), one, "postgres://berth:hunter2@127.0.0.1:1/jobs")
	require.ErrorContains(t, err, "127.0.0.1:1/jobs")
	require.NotContains(t, err.Error(), "hunter2")
}
