//go:build unix

package berth_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/store/pgtest"
)

func TestStart_SecondServerOfAStore(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	secret := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(secret, make([]byte, 32), 0o600))

	o := berth.Options{Store: cluster.URL(""), SecretKey: secret}
	owner, err := berth.Start(t.Context(), o)
	require.NoError(t, err)
	other, err := berth.Start(t.Context(), o)
	require.NoError(t, err)
	for _, at := range []*berth.Server{owner, other} {
		for _, of := range []*berth.Server{owner, other} {
			status, answer := call(t, "GET", at.URL()+"/v2/pods", of.Key(), "")
			require.Equal(t, 200, status, answer)
		}
	}

	require.NoError(t, other.Close())
	require.Eventually(t, func() bool {
		status, _ := call(t, "GET", owner.URL()+"/v2/pods", other.Key(), "")
		return status == 401
	}, 20*time.Second, 20*time.Millisecond, "it went with its program")
	require.NoError(t, owner.Close())

	o.Store, err = cluster.Schema(t.Context())
	require.NoError(t, err)
	o.Endpoints = []berth.Endpoint{{Name: "echo", Handler: echo}}
	owner, err = berth.Start(t.Context(), o)
	require.NoError(t, err)
	_, err = berth.Start(t.Context(), o)
	require.ErrorContains(t, err, "another server owns the database")
	require.Equal(t, "COMPLETED", run(t, owner, "echo", `{"n":1}`)["status"])
	require.NoError(t, owner.Close())
}
