package httpapi_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

func TestRefusals_OfHandlersAreCountedOnce(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "refusals.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	var refusals *audit.Refusals
	var q *queue.Queue
	e := openWith(t, func(s *httpapi.Services) {
		refusals = audit.NewRefusals(db, s.Clock)
		s.Refusals, q = refusals, s.Queue
	})
	base := "/v2/" + string(e.endpoint) + "/"
	work := []compute.Scope{compute.ScopeWork(e.endpoint)}
	worker, ofWorker, err := e.keyring.Create(t.Context(), control.NewKey{UserID: "u", WorkerID: "w1", Scopes: work})
	require.NoError(t, err)
	for _, of := range []struct{ method, operation, body string }{
		{"GET", "job-take/w2", ""}, {"GET", "job-take-batch/w2", ""}, {"GET", "job-stop/w2", ""}, {"GET", "ping/w2", ""},
		{"POST", "job-done/w2/j", `{"output":1}`}, {"POST", "job-stream/w2/j", `{"output":1}`},
	} {
		require.Equal(t, 403, e.call(of.method, base+of.operation, ofWorker, of.body).Code, of.operation)
	}

	all := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	revoked, late, err := e.keyring.Create(t.Context(), control.NewKey{UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(t, err)
	var job struct{ ID string }
	require.NoError(t, json.Unmarshal(e.call("POST", base+"run", all, `{"input":{}}`).Body.Bytes(), &job))
	held := make(chan int)
	go func() { held <- e.serve(with("GET", base+"status-sync/"+job.ID, late, "")).Code }()
	require.Eventually(t, func() bool { return q.Holding() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, e.keyring.Revoke(t.Context(), revoked.ID))
	require.Equal(t, 200, e.call("POST", base+"cancel/"+job.ID, all, "").Code)
	require.Equal(t, 401, <-held)
	require.Equal(t, 404, e.call("GET", base+"status/none", all, "").Code, "which refuses no key")

	require.NoError(t, refusals.Save(t.Context()))
	var counted []compute.Refusal
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) (err error) {
		counted, _, err = tx.PageRefusals(store.RefusalSearch{}, compute.Page{Limit: 10})
		return err
	}))
	for i := range counted {
		counted[i] = compute.Refusal{Interface: counted[i].Interface, Reason: counted[i].Reason, KeyID: counted[i].KeyID, UserID: counted[i].UserID, Count: counted[i].Count}
	}
	require.ElementsMatch(t, []compute.Refusal{
		{Interface: audit.Queue, Reason: compute.RefusedScope, KeyID: worker.ID, UserID: "u", Count: 6},
		{Interface: audit.Queue, Reason: compute.RefusedRevoked, KeyID: revoked.ID, UserID: "u", Count: 1},
	}, counted)
}
