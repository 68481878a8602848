package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// hidden gives a check that what is another user's is NotFound, and that nothing of it is beside the error.
func hidden[T any](t *testing.T) func(T, error) {
	return func(one T, err error) {
		t.Helper()
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		require.Zero(t, one)
	}
}

func TestOwn_GivesNothingOfAnotherUsers(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	app := f.app("app")
	environment, build, endpoint := f.environment(app, "production"), f.build(app), f.n.created(t, cpuEndpoint("e")).ID
	f.n.writes(t, func(tx store.Tx) error {
		at := tx.Wall()
		for _, err := range []error{
			tx.InsertPod(compute.Pod{ID: "pod", UserID: "u", CreatedAt: at, Status: compute.PodExited}), tx.InsertVolume(compute.Volume{ID: "volume", UserID: "u", CreatedAt: at}),
			tx.InsertGlobalVolume(compute.GlobalVolume{ID: "volume", UserID: "u", CreatedAt: at}), tx.InsertRegistry(compute.Registry{ID: "registry", UserID: "u", CreatedAt: at}),
			tx.InsertSecret(compute.Secret{ID: "secret", UserID: "u", CreatedAt: at}, []byte("sealed")), tx.InsertTemplate(compute.Template{ID: "template", UserID: "u", CreatedAt: at}),
			tx.InsertCluster(compute.Cluster{ID: "cluster", UserID: "u", CreatedAt: at}),
		} {
			require.NoError(t, err)
		}

		hidden[compute.FlashApp](t)(ownApp(tx, "v", app))
		hidden[compute.FlashEnvironment](t)(ownEnvironment(tx, "v", environment))
		hidden[compute.FlashBuild](t)(ownBuild(tx, "v", build))
		hidden[compute.Endpoint](t)(ownEndpoint(tx, "v", endpoint))
		hidden[compute.Pod](t)(ownPod(tx, "v", "pod"))
		hidden[compute.Volume](t)(ownVolume(tx, "v", "volume"))
		hidden[compute.GlobalVolume](t)(ownGlobalVolume(tx, "v", "volume"))
		hidden[compute.Registry](t)(ownRegistry(tx, "v", "registry"))
		hidden[compute.Secret](t)(ownSecret(tx, "v", "secret"))
		hidden[compute.Template](t)(ownTemplate(tx, "v", "template"))
		hidden[compute.Template](t)(readableTemplate(tx, "v", "template"))
		hidden[Cluster](t)(ownCluster(tx, "v", "cluster"))
		return nil
	})
}
