package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/store"
)

// TestUnpaged_ListsThatAreLargeAreReadWhileThereIsMemoryForThem: two megabytes of each, and a bill of many records, and then more of each than a list
// may have.
func TestUnpaged_ListsThatAreLargeAreReadWhileThereIsMemoryForThem(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Millisecond)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	long, made := strings.Repeat("x", 700_000), 0
	add := func(n int) {
		require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) (err error) {
			for range n {
				id, at := fmt.Sprintf("onewithalong%d", made), tx.Wall()
				made++
				err = errors.Join(err,
					tx.InsertRegistry(compute.Registry{ID: compute.RegistryID(id), UserID: "u", Name: long, CreatedAt: at}),
					tx.InsertDelegation(compute.Delegation{ID: compute.DelegationID(id), UserID: "u", Repository: long, CreatedAt: at}),
					tx.InsertSecret(compute.Secret{ID: compute.SecretID(id), UserID: "u", Name: id, Description: long, CreatedAt: at}, []byte("v")),
				)
			}
			return err
		}))
		for range n {
			cluster := e.call("POST", "/v2/clusters", token, `{"name":"`+long+`","type":"TRAINING","image":"i","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":2}}`)
			require.Equal(t, 201, cluster.Code, "%s", cluster.Body)
		}
	}

	add(3)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) (err error) {
		for i := range 5000 {
			err = errors.Join(err, tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: fmt.Sprint(i), HolderID: fmt.Sprint(i), Rate: 1_000_000_000}))
		}
		return err
	}))
	e.clock.Advance(time.Minute)
	lists := []string{"/v2/registries", "/v2/registries/delegations", "/v2/account/secrets", "/v2/clusters"}
	all := append([]string{"/v2/billing/pods"}, lists...)
	taken := func() (leave func()) {
		one, free := answers.Try("others", 20_000_000)
		require.True(t, free, "what the lists had is given back")
		more, free := answers.Try("more", 12_000_000)
		require.True(t, free)
		return func() { one(); more() }
	}

	leave := taken()
	for _, path := range all {
		busy := e.call("GET", path, token, "")
		require.Equal(t, 503, busy.Code, "that is no fault of the request: %s", path)
		require.Contains(t, busy.Body.String(), "too many large answers are under way")
		require.Equal(t, limit.RetryAfter, busy.Header().Get("Retry-After"))
	}
	leave()
	for _, path := range all {
		listed := e.call("GET", path, token, "")
		require.Equal(t, 200, listed.Code, path)
		require.Greater(t, listed.Body.Len(), 500_000, path)
	}

	add(9)
	for _, path := range lists {
		refused := e.call("GET", path, token, "")
		require.Equal(t, 400, refused.Code, path)
		var problem struct{ Detail string }
		require.NoError(t, json.Unmarshal(refused.Body.Bytes(), &problem))
		require.Equal(t, "the list has over 8388608 bytes: delete some of what is in it, or ask for one by its id", problem.Detail)
	}
	require.Equal(t, 200, e.call("GET", "/v2/account/secrets?name=onewithalong1", token, "").Code)
	taken()()
}
