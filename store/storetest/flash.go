package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func flash(t *testing.T, open Open) {
	s, _ := begin(t, open)
	try := func(f func(tx store.Tx) error) compute.Code { return compute.CodeOf(s.Write(t.Context(), f)) }
	apps := func(user compute.UserID) []compute.FlashApp {
		return read(t, s, func(tx store.Tx) ([]compute.FlashApp, error) { return tx.ListFlashApps(user) })
	}
	environments := func(app compute.FlashAppID) []compute.FlashEnvironment {
		return read(t, s, func(tx store.Tx) ([]compute.FlashEnvironment, error) { return tx.ListFlashEnvironments(app) })
	}

	shop, desk := compute.FlashApp{ID: "a", UserID: "u", Name: "shop", CreatedAt: start}, compute.FlashApp{ID: "b", UserID: "u", Name: "Shop", CreatedAt: start.Add(time.Second)}
	theirs := compute.FlashApp{ID: "c", UserID: "v", Name: "shop", CreatedAt: start}
	for _, one := range []compute.FlashApp{shop, desk, theirs} {
		write(t, s, func(tx store.Tx) error { return tx.InsertFlashApp(one) })
	}
	require.Equal(t, []compute.FlashApp{desk, shop}, apps("u"))
	require.Equal(t, shop, read(t, s, func(tx store.Tx) (compute.FlashApp, error) { return tx.FlashApp("a") }))
	again := shop
	again.ID = "d"
	require.Equal(t, compute.Conflict, try(func(tx store.Tx) error { return tx.InsertFlashApp(again) }), "the name is taken")

	production, staging := compute.FlashEnvironment{ID: "e", AppID: "a", Name: "production", CreatedAt: start}, compute.FlashEnvironment{ID: "f", AppID: "a", Name: "staging", BuildID: "x", CreatedAt: start}
	other := compute.FlashEnvironment{ID: "g", AppID: "b", Name: "production", CreatedAt: start}
	for _, one := range []compute.FlashEnvironment{production, staging, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertFlashEnvironment(one) })
	}
	require.Equal(t, []compute.FlashEnvironment{staging, production}, environments("a"))
	twice := production
	twice.ID = "h"
	require.Equal(t, compute.Conflict, try(func(tx store.Tx) error { return tx.InsertFlashEnvironment(twice) }), "the name is taken")
	write(t, s, func(tx store.Tx) error { return tx.SetFlashEnvironmentBuild("e", "y") })
	production.BuildID = "y"
	require.Equal(t, production, read(t, s, func(tx store.Tx) (compute.FlashEnvironment, error) { return tx.FlashEnvironment("e") }))
	write(t, s, func(tx store.Tx) error { return tx.DeleteFlashEnvironment("f") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteFlashEnvironment("f") })
	require.Equal(t, []compute.FlashEnvironment{production}, environments("a"))

	flashBuilds(t, s)
	write(t, s, func(tx store.Tx) error { return tx.DeleteFlashApp("a") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteFlashApp("a") })
	require.Equal(t, []compute.FlashApp{desk}, apps("u"))
	require.Equal(t, []compute.FlashApp{theirs}, apps("v"))
	require.Empty(t, environments("a"))
	require.Equal(t, []compute.FlashEnvironment{other}, environments("b"))

	for _, f := range []func(tx store.Tx) error{
		func(tx store.Tx) error { _, err := tx.FlashApp("a"); return err },
		func(tx store.Tx) error { _, err := tx.FlashEnvironment("e"); return err },
		func(tx store.Tx) error { return tx.SetFlashEnvironmentBuild("e", "y") },
		func(tx store.Tx) error { _, err := tx.FlashBuild("x"); return err },
		func(tx store.Tx) error { _, err := tx.FlashManifest("x"); return err },
		func(tx store.Tx) error { return tx.UpdateFlashBuild(compute.FlashBuild{ID: "x"}) },
		func(tx store.Tx) error { return tx.SetFlashManifest("x", nil) },
	} {
		require.Equal(t, compute.NotFound, try(f), "it went with the app")
	}
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Empty(t, apps("u"))
}

// flashBuilds stores builds of the app a, of which x is left.
func flashBuilds(t *testing.T, s store.Store) {
	t.Helper()
	builds := func() []compute.FlashBuild {
		return read(t, s, func(tx store.Tx) ([]compute.FlashBuild, error) { return tx.ListFlashBuilds("a") })
	}

	x := compute.FlashBuild{ID: "x", AppID: "a", UserID: "u", Size: 1 << 40, PreparedAt: start}
	y := compute.FlashBuild{ID: "y", AppID: "a", UserID: "u", Size: 1, PreparedAt: start.Add(time.Second)}
	z := compute.FlashBuild{ID: "z", AppID: "b", UserID: "u", Size: 1, PreparedAt: start.Add(time.Second)}
	for _, one := range []compute.FlashBuild{x, y, z} {
		write(t, s, func(tx store.Tx) error { return tx.InsertFlashBuild(one) })
	}
	require.Equal(t, []compute.FlashBuild{y, x}, builds())
	require.Equal(t, []compute.FlashBuild{z, y, x}, read(t, s, func(tx store.Tx) ([]compute.FlashBuild, error) { return tx.ListFlashBuildsOf("u") }))
	require.ElementsMatch(t, []compute.FlashBuildID{"x", "y", "z"}, read(t, s, func(tx store.Tx) ([]compute.FlashBuildID, error) { return tx.FlashBuildIDs() }))

	x.ReceivedAt, x.CreatedAt = start.Add(time.Minute), start.Add(time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.UpdateFlashBuild(x) })
	manifest := func() string {
		return string(read(t, s, func(tx store.Tx) (json.RawMessage, error) { return tx.FlashManifest("x") }))
	}
	require.Empty(t, manifest())
	write(t, s, func(tx store.Tx) error { return tx.SetFlashManifest("x", json.RawMessage(`{"a": 1}`)) })
	require.Equal(t, `{"a": 1}`, manifest())
	require.Equal(t, x, read(t, s, func(tx store.Tx) (compute.FlashBuild, error) { return tx.FlashBuild("x") }))

	gone := func(before time.Time) int {
		var n int
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteFlashUploads(before, 10)
			return err
		})
		return n
	}
	require.Equal(t, 0, gone(y.PreparedAt))
	require.Equal(t, 2, gone(y.PreparedAt.Add(time.Second)), "the uploads, and no build")
	require.Equal(t, []compute.FlashBuild{x}, builds())
	write(t, s, func(tx store.Tx) error { return tx.InsertFlashBuild(y) })
	write(t, s, func(tx store.Tx) error { return tx.DeleteFlashBuild("y") })
	require.Equal(t, []compute.FlashBuild{x}, builds())
}
