package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
	"github.com/berthdev/berth/impl/setting"
)

// notOnKubernetes are the rules that do not hold there: Pods have no network of their account; the GPUs are not measured; containers that
// run nothing write nothing; and where the machine is busy, nobody may look while a Pod is STARTING.
var notOnKubernetes = []string{
	"catalog.datacenters.global-network", "pods.create.global-networking.data-center", "pods.global-networking.dns", "pods.global-networking.ip",
	"pods.global-networking.keep", "pods.patch.global-networking.data-center", "pods.runtime.gpus", "pods.logs.order",
	"pods.action.conflict.starting", "pods.action.starting.stop", "pods.action.starting.terminate", "pods.actions.starting",
}

// TestKubernetes_Rules checks the rules of what runs on a runtime against a server over a cluster that has everything of the catalog.
func TestKubernetes_Rules(t *testing.T) {
	t.Parallel()
	cluster := kubetest.New(t)
	cluster.Idle()
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	for i, d := range catalog.DataCenters {
		for j, gpu := range catalog.GPUs {
			if i > 0 && !slices.Contains([]string{"NVIDIA L4", "NVIDIA GeForce RTX 4090"}, gpu.ID) {
				continue // all types are in the first one
			}
			cluster.AddNode(t, kubetest.Node{
				Name: fmt.Sprintf("n%d-%d", i, j), CPUs: 512, MemoryGB: 4096, DiskGB: 50_000, GPUs: 64, Zone: d.ID, CUDA: "12.8",
				Product: strings.ReplaceAll(gpu.ID, " ", "-"),
			})
		}
	}

	c := app.Config{
		Data: t.TempDir(), Runtime: "kubernetes", RuntimeSettings: setting.Values{"kube-config": {cluster.Kubeconfig(t)}}, WorkerURL: "http://berth.test",
		PrivateWebhooks: true, Docs: true,
	}
	s := start(t, c)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	keys, err := app.OpenKeys(t.Context(), c.Data, "")
	require.NoError(t, err)
	_, exempt, err := keys.Create(t.Context(), app.NewKey("exempt", []string{"all"}, true, 0))
	require.NoError(t, err)
	require.NoError(t, keys.Close())

	documents, err := conformance.LoadDocuments("")
	require.NoError(t, err)
	rules, err := conformance.Select("", nil, nil, []string{"pods", "clusters", "catalog", "volumes", "templates", "serverless", "secrets", "placement", "graphql"})
	require.NoError(t, err)
	rules = slices.DeleteFunc(rules, func(r conformance.Rule) bool { return slices.Contains(notOnKubernetes, r.ID) })
	suite := conformance.Suite{
		Target: conformance.Target{URL: s.URL(), QueueURL: s.QueueURL(), Key: s.FirstKey(), ExemptKey: exempt}, Documents: documents,
	}
	outcomes, err := suite.Run(t.Context(), conformance.Options{Rules: rules})
	require.NoError(t, err)

	passed := 0
	for _, one := range outcomes {
		assert.Empty(t, one.Failure, one.ID)
		if one.Failure == "" && one.Skipped == "" {
			passed++
		}
	}
	require.Greater(t, passed, 350, "most are not skipped")
}
