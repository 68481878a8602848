package control

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/script"
	"github.com/berthdev/berth/store"
)

func TestScripts_AreOfEndpointsWithSimulatedWorkers(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ctx := t.Context()
	require.NoError(t, s.Write(ctx, func(tx store.Tx) error {
		queue := compute.Endpoint{ID: "queue", UserID: "u", Name: "queue", Type: compute.QueueEndpoint, CreatedAt: tx.Wall()}
		balancer, declared, gone := queue, queue, queue
		balancer.ID, balancer.Type = "balancer", compute.LoadBalancer
		declared.ID, declared.Declared = "declared", true
		gone.ID, gone.DeletedAt = "gone", tx.Wall()
		return errors.Join(tx.InsertEndpoint(queue), tx.InsertEndpoint(balancer), tx.InsertEndpoint(declared), tx.InsertEndpoint(gone))
	}))
	changes := 0
	simulated := NewScripts(s, Runtime{Can: compute.Capabilities{Simulates: true}}, func() { changes++ })
	genuine := NewScripts(s, Runtime{Can: compute.AllCapabilities}, func() { changes++ })
	one := script.Script{Answers: []script.Answer{{Output: json.RawMessage(`1`)}, {Output: json.RawMessage(`2`)}}}

	for id, c := range map[compute.EndpointID]struct {
		scripts *Scripts
		code    compute.Code
		says    string
	}{
		"balancer": {simulated, compute.Rejected, `endpoint "balancer" has no queue: its type is LOAD_BALANCER`},
		"declared": {simulated, compute.Rejected, `the settings of the server declare endpoint "declared"`},
		"queue":    {genuine, compute.Rejected, `the workers of endpoint "queue" run on the runtime of the server`},
		"gone":     {simulated, compute.NotFound, `endpoint "gone" does not exist`},
		"none":     {simulated, compute.NotFound, "none"},
	} {
		err := c.scripts.Set(ctx, id, one)
		require.Equal(t, c.code, compute.CodeOf(err), "%s", id)
		require.ErrorContains(t, err, c.says)
		_, _, err = c.scripts.Get(ctx, id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s", id)
	}
	require.Equal(t, compute.Rejected, compute.CodeOf(simulated.Set(ctx, "queue", script.Script{Answers: []script.Answer{{}}})), "an answer of nothing")
	require.Equal(t, compute.NotFound, compute.CodeOf(simulated.Delete(ctx, "gone")))
	require.Zero(t, changes)

	require.NoError(t, simulated.Set(ctx, "queue", one))
	require.Equal(t, 1, changes)
	got, counts, err := simulated.Get(ctx, "queue")
	require.NoError(t, err)
	require.Equal(t, one, *got)
	require.Equal(t, script.Counts{Used: []int64{0, 0}}, counts)
	require.NoError(t, simulated.Delete(ctx, "queue"))
	require.Equal(t, 2, changes)
	_, _, err = simulated.Get(ctx, "queue")
	require.ErrorContains(t, err, `endpoint "queue" has no script`)
	simulated.Forget()
	require.Equal(t, 3, changes)
}
