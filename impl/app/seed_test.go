package app_test

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/seed"
)

const (
	seededKey   = "seeded-key-0123456789"
	seededPod   = "podofaseed0001"
	seededOther = "podofaseed0002"
)

// wholeSeed has an item of each list, in an order in which they could not be created, and references to those further down.
const wholeSeed = `
faults:
  - {operation: listTemplates, status: 503, times: 1}
pods:
  - &pod
    id: podofaseed0001
    name: first
    image: busybox
    gpu: {id: NVIDIA GeForce RTX 4090}
    registry: registryseed01
    mounts: {network: [{volumeId: volumeofseed01, path: /data}]}
  - <<: *pod
    id: podofaseed0002
    name: second
    state: stopped
clusters:
  - {id: clusterseed001, name: c, type: TRAINING, image: busybox, compute: {gpuTypeId: NVIDIA H100 80GB HBM3, gpuCountPerPod: 8, podCount: 2}}
endpoints:
  - {id: endpointseed01, name: e, type: QUEUE, templateId: templateseed01, gpu: {pools: [AMPERE_16]}, scaling: {type: QUEUE_DELAY, queueDelay: 4}, networkVolumes: [volumeofseed01], workers: {min: 0, max: 1}}
templates:
  - {id: templateseed01, name: t, image: busybox, serverless: true, registry: registryseed01}
globalVolumes:
  - {name: g}
networkVolumes:
  - {id: volumeofseed01, name: v, size: 10, dataCenter: EU-RO-1}
secrets:
  - {name: s, value: hidden}
delegations:
  - {resource: 'arn:aws:ecr:eu-west-1:123456789012:repository/r'}
registries:
  - {id: registryseed01, name: r, username: u, password: p}
sshKeys:
  - {keys: []}
quotas: {minute: 77, hour: 1000, day: 1000}
keys:
  - {id: keyofseed1, name: fixed, key: seeded-key-0123456789, scopes: [all]}
  - {name: reads, key: reader-key-0123456789, scopes: [all], user: auditor}
  - {name: disabled, key: disabled-key-0123456, scopes: [all], user: gone}
users:
  - {name: auditor, role: reader}
  - {name: gone, disabled: true}
  - {name: owner, role: admin}
`

// seedFile writes a seed.
func seedFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// podsOf gives the status of each pod by its id.
func podsOf(t *testing.T, s *app.Server) map[string]string {
	status, body := call(t, "GET", s.URL()+"/v2/pods", seededKey, "")
	require.Equal(t, 200, status, body)
	all := map[string]string{}
	for _, p := range body["pods"].([]any) {
		pod := p.(map[string]any)
		all[pod["id"].(string)] = pod["status"].(string)
	}
	return all
}

func TestSeed_IsThereFromTheStartInWhateverOrder(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Seed: seedFile(t, wholeSeed), TestControls: true})
	for _, path := range []string{
		"/v2/registries/registryseed01", "/v2/network-volumes/volumeofseed01", "/v2/templates/templateseed01", "/v2/serverless/endpointseed01",
		"/v2/clusters/clusterseed001", "/v2/pods/" + seededPod,
	} {
		status, body := call(t, "GET", s.URL()+path, seededKey, "")
		require.Equal(t, 200, status, "%s: %s", path, body)
	}
	require.Equal(t, "EXITED", podsOf(t, s)[seededOther])
	require.NoError(t, s.Advance(t.Context(), time.Minute))
	require.Equal(t, "RUNNING", podsOf(t, s)[seededPod])

	status, _ := call(t, "GET", s.URL()+"/v2/templates", seededKey, "")
	require.Equal(t, 503, status, "the fault")
	for key, want := range map[string]int{"reader-key-0123456789": 403, "disabled-key-0123456": 401} {
		status, body := call(t, "POST", s.URL()+"/v2/global-volumes", key, `{"name":"more"}`)
		require.Equal(t, want, status, "the user of the key: %s", body)
	}
	require.NoError(t, s.Close())
}

func TestSeed_ResetGoesBackToIt(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Seed: seedFile(t, wholeSeed), TestControls: true})
	before := slices.Sorted(maps.Keys(podsOf(t, s)))
	for method, path := range map[string]string{"DELETE": "/v2/pods/" + seededPod, "POST": "/v2/global-volumes"} {
		status, body := call(t, method, s.URL()+path, seededKey, `{"name":"more"}`)
		require.Less(t, status, 300, body)
	}
	status, _ := call(t, "DELETE", s.URL()+"/_berth/keys/keyofseed1", s.ControlsKey(), "")
	require.Equal(t, 204, status)

	status, body := call(t, "POST", s.URL()+"/_berth/reset", s.ControlsKey(), "")
	require.Equal(t, 204, status, body)
	after := podsOf(t, s)
	require.Contains(t, after, seededPod)
	require.Len(t, after, len(before))
	require.Equal(t, "EXITED", after[seededOther])
	_, body = call(t, "GET", s.URL()+"/v2/global-volumes", seededKey, "")
	require.Len(t, body["globalVolumes"], 1)
	status, _ = call(t, "GET", s.URL()+"/v2/templates", seededKey, "")
	require.Equal(t, 503, status, "the fault is there again")
	status, body = call(t, "POST", s.URL()+"/v2/endpointseed01/run", seededKey, `{"input":{"n":1}}`)
	require.Equal(t, 200, status, "the queue of the endpoint, which the reset deleted: %s", body)
	require.NoError(t, s.Close())
}

func TestSeed_IsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Seed: seedFile(t, wholeSeed), TestControls: true}
	s := start(t, c)
	status, body := call(t, "DELETE", s.URL()+"/v2/templates/templateseed01", seededKey, "")
	require.Equal(t, 400, status, "an endpoint has it: %s", body)
	status, body = call(t, "DELETE", s.URL()+"/v2/serverless/endpointseed01", seededKey, "")
	require.Equal(t, 204, status, body)
	require.NoError(t, s.Close())

	s = start(t, c)
	status, _ = call(t, "GET", s.URL()+"/v2/serverless/endpointseed01", seededKey, "")
	require.Equal(t, 404, status, "somebody deleted it")
	status, _ = call(t, "GET", s.URL()+"/v2/templates", seededKey, "")
	require.Equal(t, 503, status, "faults are there at each start")
	require.NoError(t, s.Close())

	c.Seed = seedFile(t, strings.Replace(wholeSeed, "keys:\n", "keys:\n  - {id: keyofseed2, key: another-key-0123456789, scopes: [all]}\n", 1))
	s = start(t, c)
	for key, path := range map[string]string{"another-key-0123456789": "/v2/pods/" + seededPod, seededKey: "/v2/serverless/endpointseed01"} {
		status, body = call(t, "GET", s.URL()+path, key, "")
		require.Equal(t, 200, status, "what the new seed has and the server has not: %s", body)
	}
	require.NoError(t, s.Close())
}

// TestSeed_SaysWhatItLeavesOut: a pod that was terminated has its id for a day, and another seed has it once more.
func TestSeed_SaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	var log lines
	c := app.Config{Data: t.TempDir(), Seed: seedFile(t, wholeSeed), TestControls: true, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s := start(t, c)
	status, body := call(t, "DELETE", s.URL()+"/v2/pods/"+seededPod, seededKey, "")
	require.Equal(t, 204, status, body)
	require.NoError(t, s.Close())

	c.Seed = seedFile(t, strings.Replace(wholeSeed, "keys:\n", "keys:\n  - {id: keyofseed2, key: another-key-0123456789, scopes: [all]}\n", 1))
	s = start(t, c)
	require.NotContains(t, podsOf(t, s), seededPod)
	require.Regexp(t, `a pod of the seed is not created.* pod=`+seededPod+` file=\S+ line=\d+`, log.text.String())
	require.NoError(t, s.Close())
}

func TestSeed_WhatIsRefusedIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	path := seedFile(t, `
pods:
  - {id: podofaseed0001, name: a, image: b, gpu: {id: NVIDIA GeForce RTX 4090}, registry: nonesuch}
  - {id: podofaseed0002, name: a, image: b}
`)
	_, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Seed: path, Listen: "127.0.0.1:0"})
	var all seed.Problems
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 2)
	require.Equal(t, seed.Place{File: path, Line: 3, Column: 5, Pointer: "/pods/0"}, all[0].Place)
	require.Contains(t, all[0].Message, "nonesuch")
	require.Equal(t, 4, all[1].Line)

	_, err = app.Start(t.Context(), app.Config{Data: t.TempDir(), Seed: seedFile(t, "quotas: {minute: 1, hour: 1, day: 1}"), Listen: "127.0.0.1:0"})
	require.ErrorContains(t, err, "--test-controls")
}

func TestSeed_NothingIsWrittenOfOneThatBreaksASchema(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	_, err := app.Start(t.Context(), app.Config{Data: dir, Seed: seedFile(t, strings.Replace(wholeSeed, "username", "usernam", 1)), Listen: "127.0.0.1:0"})
	require.ErrorContains(t, err, "/registries/0/usernam")
	require.NoDirExists(t, dir)
}
