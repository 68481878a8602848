package app_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

const endpointBody = `{"name":"e","type":"QUEUE","image":"sleeper","args":"1000","cpu":[{"id":"cpu3c","vcpuCount":2}],"workers":{"min":1},
	"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`

func TestEndpoint_OutlivesARestartWithItsReleases(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir()}
	s := start(t, c)
	key := s.FirstKey()
	status, made := call(t, "POST", s.URL()+"/v2/serverless", key, endpointBody)
	require.Equal(t, 201, status, made)

	id := made["id"].(string)
	_, changed := call(t, "PATCH", s.URL()+"/v2/serverless/"+id, key, `{"image":"other"}`)
	_, releases := call(t, "GET", s.URL()+"/v2/serverless/"+id+"/releases", key, "")
	require.Len(t, releases["releases"], 2)

	_, job := call(t, "POST", s.URL()+"/v2/"+id+"/run", key, `{"input":{}}`)
	require.NoError(t, s.Close())

	s = start(t, c)
	_, again := call(t, "GET", s.URL()+"/v2/serverless/"+id, key, "")
	delete(changed, "requestUrls") // another port
	delete(again, "requestUrls")
	require.Equal(t, changed, again)

	_, kept := call(t, "GET", s.URL()+"/v2/serverless/"+id+"/releases", key, "")
	for _, of := range []map[string]any{releases, kept} {
		for _, one := range of["releases"].([]any) {
			delete(one.(map[string]any), "workerCount")
		}
	}

	require.Equal(t, releases["releases"], kept["releases"])
	_, document := call(t, "GET", s.URL()+"/v2/"+id+"/status/"+job["id"].(string), key, "")
	require.Equal(t, "IN_QUEUE", document["status"])
	require.NoError(t, s.Close())
}

func TestEndpoint_BrokenOffDeletionEndsAtTheNextStart(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir()}
	s := start(t, c)
	key := s.FirstKey()
	_, made := call(t, "POST", s.URL()+"/v2/serverless", key, endpointBody)
	id := compute.EndpointID(made["id"].(string))
	call(t, "POST", s.URL()+"/v2/"+string(id)+"/run", key, `{"input":{}}`)
	require.NoError(t, s.Close())

	inStore := func(f func(store.Tx) error) {
		db, err := sqlite.Open(context.Background(), filepath.Join(c.Data, "berth.db"), compute.SystemClock{})
		require.NoError(t, err)
		require.NoError(t, db.Write(context.Background(), f))
		require.NoError(t, db.Close())
	}

	inStore(func(tx store.Tx) error {
		e, err := tx.Endpoint(id)
		require.NoError(t, err)
		e.DeletedAt = tx.Now()
		return tx.UpdateEndpoint(e)
	})

	s = start(t, c)
	status, _ := call(t, "GET", s.URL()+"/v2/serverless/"+string(id), key, "")
	require.Equal(t, 404, status)
	require.NoError(t, s.Close())

	inStore(func(tx store.Tx) error {
		all, err := tx.ListEndpoints()
		require.NoError(t, err)
		require.Empty(t, all)
		counts, err := tx.CountJobs(id)
		require.Zero(t, counts.InQueue)
		return err
	})
}

func TestProcesses_WorkersRunADeclaredCommand(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{
		Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{{Name: "sleeper", Command: []string{"sleep"}}}, RuntimeSettings: setting.Values{"process-accept": {"args"}},
	})
	key := s.FirstKey()
	_, made := call(t, "POST", s.URL()+"/v2/serverless", key, endpointBody)

	at := s.URL() + "/v2/serverless/" + made["id"].(string)
	require.Eventually(t, func() bool {
		_, answer := call(t, "GET", at+"/workers", key, "")
		workers := answer["workers"].([]any)
		return len(workers) == 1 && workers[0].(map[string]any)["startedAt"] != nil
	}, 20*time.Second, 50*time.Millisecond)

	status, refused := call(t, "PATCH", at, key, `{"image":"nosuch","workers":{"min":2}}`)
	require.Equal(t, 400, status)
	require.Contains(t, refused["detail"], `"nosuch" is none of its commands (sleeper)`)
	require.NoError(t, s.Close())
}

func TestEndpoint_HasTheIDThatItIsDeclaredWith(t *testing.T) {
	t.Parallel()
	const id = "f08vqgrv1p2xkd"
	c := app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{ID: id, Name: "one"}}}
	for range 2 { // of a new directory, and of one that has it
		s := start(t, c)
		require.EqualValues(t, id, s.Endpoints()["one"])
		if key := s.FirstKey(); key != "" {
			status, _ := call(t, "POST", s.URL()+"/v2/"+id+"/run", key, `{"input":{}}`)
			require.Equal(t, 200, status)
		}
		require.NoError(t, s.Close())
	}

	c.Endpoints[0].ID = "" // any
	s := start(t, c)
	require.EqualValues(t, id, s.Endpoints()["one"])
	require.NoError(t, s.Close())
	for says, endpoint := range map[string]app.Endpoint{
		"the declared endpoint one has the id f08vqgrv1p2xkd since it was made, and cannot get anotheridof14c": {ID: "anotheridof14c", Name: "one"},
		"the declared endpoint two cannot get the id f08vqgrv1p2xkd: the endpoint one has it":                  {ID: id, Name: "two"},
		"is no id of an endpoint": {ID: "Upper-case-123", Name: "three"},
	} {
		c.Endpoints = []app.Endpoint{endpoint}
		_, err := app.Start(t.Context(), c)
		require.ErrorContains(t, err, says)
	}
}
