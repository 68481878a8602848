package app_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/faulttest"
	"github.com/berthdev/berth/store/sqlite"
)

// TestStorage_FullDiskKeepsNoServerFromStarting cuts off a deletion, the removal of a host and a build, and then starts on a full disk.
func TestStorage_FullDiskKeepsNoServerFromStarting(t *testing.T) {
	t.Parallel()
	var log lines
	dir := t.TempDir()
	c := app.Config{Data: filepath.Join(dir, "data"), Log: slog.New(slog.NewTextHandler(&log, nil))}
	s := start(t, c)
	made := ask(t, s, "POST", "/v2/pods", newPod)
	require.Equal(t, 201, made.status)
	pod := compute.PodID(made.json["id"].(string))
	require.NoError(t, s.Close())

	change(t, c.Data, func(tx store.Tx) error {
		p, err := tx.Pod(pod)
		if err != nil {
			return err
		}
		deleted := compute.Endpoint{ID: "deleted0000000", UserID: p.UserID, Type: compute.QueueEndpoint, Scaler: compute.ByDelay, CreatedAt: tx.Now(), DeletedAt: tx.Now()}
		built := deleted
		built.ID, built.DeletedAt = "built000000000", time.Time{}
		return errors.Join(
			tx.InsertEndpoint(deleted), tx.InsertEndpoint(built), tx.SetHostChange(compute.HostChange{ID: p.HostID, Removed: true}),
			tx.InsertBuild(compute.Build{ID: "build", EndpointID: built.ID, Status: compute.BuildBuilding, Image: "i", CreatedAt: tx.Now()}),
		)
	})

	disk := faulttest.New(t, dir)
	disk.Fail(faulttest.Always(faulttest.Full, faulttest.Write, faulttest.Truncate))
	c.Listen = "127.0.0.1:0"
	again, err := app.Start(t.Context(), c)
	require.NoError(t, err)
	_, body := call(t, "GET", again.URL()+"/v2/pods/"+string(pod), s.FirstKey(), "")
	require.Equal(t, string(pod), body["id"], "reads go on")
	_ = again.Close()
	require.Equal(t, 2, strings.Count(log.text.String(), "what was cut off is ended later"), log.text.String())
	require.Contains(t, log.text.String(), "builds that the last server left are ended later")
}

// change writes to the database of a data directory that no server has.
func change(t *testing.T, data string, f func(store.Tx) error) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), f))
	require.NoError(t, db.Close())
}
