package graphql_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/limit"
	pods "github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// edge is the GraphQL edge over a real file, without loops and listeners.
type edge struct {
	*testing.T
	handler *graphql.Handler
	others  *overtaken
	db      *watched
	token   string
	log     bytes.Buffer
}

// open makes an edge with what set says.
func open(t *testing.T, set func(*graphql.Services)) *edge {
	e := &edge{T: t}
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)

	t.Cleanup(func() { _ = db.Close() })
	e.others = &overtaken{Store: db}
	e.db = &watched{Store: e.others}
	ids := compute.NewIDs(rand.Reader, clock)
	keyring, err := control.NewKeyring(t.Context(), db, ids, clock, nil)
	require.NoError(t, err)

	_, e.token, err = keyring.Create(t.Context(), control.NewKey{UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(t, err)
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)

	placement, err := control.NewPlacement(t.Context(), e.others, catalog, control.SimulatedFleet(catalog), control.PlacementOptions{Place: pods.Pack})
	require.NoError(t, err)
	sealer, err := control.NewSealer([]byte("a key that has thirty-two bytes."))
	require.NoError(t, err)

	registries, err := control.NewRegistries(t.Context(), e.db, ids, sealer)
	require.NoError(t, err)
	secrets, err := control.NewSecrets(t.Context(), e.db, ids, sealer)
	require.NoError(t, err)
	bodies, err := limit.NewBodies(filepath.Join(t.TempDir(), "bodies"), time.Minute)
	require.NoError(t, err)

	endpoints := control.NewEndpoints(e.db, ids, placement, noQueue{}, control.Runtime{Can: compute.AllCapabilities})
	s := graphql.Services{
		Flash:  control.NewFlash(db, ids, endpoints, sealer, clock, limit.NewArtifacts(t.TempDir(), 1)),
		Logins: control.NewLogins(e.db, ids, clock, keyring),
		Bodies: bodies, Answers: limit.NewAnswers(time.Minute),
		Registries: registries, Secrets: secrets, Endpoints: endpoints,
		Live:    func(compute.PodID) compute.PodRuntime { return compute.PodRuntime{} },
		Control: control.New(e.db, ids, placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: func(compute.PodID) {}}), Keyring: keyring, Clock: clock,
		Client: func(*http.Request) string { return "192.0.2.1" }, BaseURL: func(*http.Request) string { return "http://berth.test" },
		Host: func(*http.Request) string { return "berth.test" },
		Log:  slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}

	if set != nil {
		set(&s)
	}
	s.Limits = s.Limits.WithDefaults()
	e.handler = graphql.New(s)
	return e
}

// noQueue is a queue to which nobody submits.
type noQueue struct{}

func (noQueue) SetEndpoint(compute.Endpoint)                             {}
func (noQueue) RemoveEndpoint(context.Context, compute.EndpointID) error { return nil }
func (noQueue) WorkerStates(compute.EndpointID) []compute.WorkerState    { return nil }

// send sends a document and gives the status and the body.
func (e *edge) send(document string) (int, string) {
	body, err := json.Marshal(map[string]string{"query": document})
	require.NoError(e, err)
	return e.do(http.MethodPost, "/graphql?api_key="+e.token, string(body))
}

func (e *edge) do(method, target, body string) (int, string) {
	r := httptest.NewRequestWithContext(e.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestServices_KeyIsNotInvalidIfTheStoreFails(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.token = compute.NewToken(compute.NewIDs(rand.Reader, compute.SystemClock{}), "0123456789")
	status, _ := e.send(`{myself{id}}`)
	require.Equal(t, 401, status)
	require.NoError(t, e.db.Close())
	status, body := e.send(`{myself{id}}`)
	require.Equal(t, 503, status)
	require.Contains(t, body, "the store is closed")
}

// overtaken is a store in which somebody else writes something before the next write.
type overtaken struct {
	store.Store
	first func(store.Tx) error // nil: nobody does
}

func (o *overtaken) Write(ctx context.Context, f func(store.Tx) error) error {
	if first := o.first; first != nil {
		o.first = nil
		if err := o.Store.Write(ctx, first); err != nil {
			return err
		}
	}
	return o.Store.Write(ctx, f)
}

// created sends a mutation and gives the id in its answer.
func (e *edge) created(document string) string {
	status, body := e.send(document)
	require.Equal(e, 200, status, body)
	_, rest, found := strings.Cut(body, `{"id":"`)
	require.True(e, found, body)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func TestServices_PodEditJobKeepsWhatSomebodyElseChangesMeanwhile(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	id := e.created(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i",volumeInGb:20,volumeMountPath:"/a"}){id}}`)
	changed := func(input string, meanwhile compute.PersistentMount) (m compute.PersistentMount) {
		e.others.first = func(tx store.Tx) error {
			p, err := tx.Pod(compute.PodID(id))
			p.Persistent = &meanwhile
			_, changed := tx.ChangePod(p)
			return errors.Join(err, changed)
		}
		require.Equal(t, id, e.created(`mutation{podEditJob(input:{podId:"`+id+`",`+input+`}){id}}`))
		require.Nil(t, e.others.first)
		require.NoError(t, e.db.Read(t.Context(), func(tx store.Tx) error {
			p, err := tx.Pod(compute.PodID(id))
			m = *p.Persistent
			return err
		}))
		return m
	}
	require.Equal(t, compute.PersistentMount{SizeGB: 30, Path: "/c"}, changed(`volumeMountPath:"/c"`, compute.PersistentMount{SizeGB: 30, Path: "/b"}))
	require.Equal(t, compute.PersistentMount{SizeGB: 40, Path: "/d"}, changed(`volumeInGb:40`, compute.PersistentMount{SizeGB: 30, Path: "/d"}))
}

func TestServices_SaveEndpointKeepsTheScalerThatSomebodyElseSetsMeanwhile(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	id := e.created(`mutation{saveEndpoint(input:{name:"a",template:{name:"t",imageName:"i"},instanceIds:["cpu3g-2-8"]}){id}}`)
	e.others.first = func(tx store.Tx) error {
		one, err := tx.Endpoint(compute.EndpointID(id))
		one.Scaler, one.ScalerValue = compute.ByCount, 7
		return errors.Join(err, tx.UpdateEndpoint(one))
	}
	require.Equal(t, id, e.created(`mutation{saveEndpoint(input:{id:"`+id+`",scalerValue:8}){id}}`))
	require.Nil(t, e.others.first)
	require.NoError(t, e.db.Read(t.Context(), func(tx store.Tx) error {
		one, err := tx.Endpoint(compute.EndpointID(id))
		require.Equal(t, compute.ByCount, one.Scaler)
		require.EqualValues(t, 8, one.ScalerValue)
		return err
	}))
}

// watched is a store that counts the statements of its reads, and fails when it is asked to. A transaction knows only the
// methods that are counted, each of which is one statement: any other one panics.
type watched struct {
	store.Store
	fault      error
	statements atomic.Int64 // fields are resolved side by side
}

func (w *watched) Read(ctx context.Context, f func(store.Tx) error) error {
	if w.fault != nil {
		return w.fault
	}
	return w.Store.Read(ctx, func(tx store.Tx) error { return f(counted{real: tx, w: w}) })
}

type counted struct {
	store.Tx
	real store.Tx
	w    *watched
}

func (c counted) Pod(id compute.PodID) (compute.Pod, error) {
	c.w.statements.Add(1)
	return c.real.Pod(id)
}

func (c counted) PagePods(user compute.UserID, p compute.Page) ([]compute.Pod, compute.Position, error) {
	c.w.statements.Add(1)
	return c.real.PagePods(user, p)
}

func (c counted) Template(id compute.TemplateID) (compute.Template, error) {
	c.w.statements.Add(1)
	return c.real.Template(id)
}

func (c counted) NewestRegistry() (compute.Registry, bool, error) { return c.real.NewestRegistry() }

func (c counted) NewestSecret() (compute.Secret, bool, error) { return c.real.NewestSecret() }

func (c counted) PageTemplates(user compute.UserID, p compute.Page) ([]compute.Template, compute.Position, error) {
	c.w.statements.Add(1)
	return c.real.PageTemplates(user, p)
}

func (c counted) PageVolumes(user compute.UserID, p compute.Page) ([]compute.Volume, compute.Position, error) {
	c.w.statements.Add(1)
	return c.real.PageVolumes(user, p)
}

func (c counted) PageEndpoints(user compute.UserID, p compute.Page) ([]compute.Endpoint, compute.Position, error) {
	c.w.statements.Add(1)
	return c.real.PageEndpoints(user, p)
}

func (c counted) Endpoint(id compute.EndpointID) (compute.Endpoint, error) {
	c.w.statements.Add(1)
	return c.real.Endpoint(id)
}

func (c counted) ListWorkers() ([]compute.Worker, error) {
	c.w.statements.Add(1)
	return c.real.ListWorkers()
}

func (c counted) ListSecrets(user compute.UserID, room compute.Room) ([]compute.Secret, bool, error) {
	c.w.statements.Add(1)
	return c.real.ListSecrets(user, room)
}

func (c counted) ListRegistries(user compute.UserID, room compute.Room) ([]compute.Registry, bool, error) {
	c.w.statements.Add(1)
	return c.real.ListRegistries(user, room)
}

func (c counted) SSHKeys(user compute.UserID) ([]string, error) {
	c.w.statements.Add(1)
	return c.real.SSHKeys(user)
}

func TestHandler_TenThousandOfEachTakeNoMoreStatements(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	insert := func(from, to int) {
		require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error {
			for i := from; i < to; i++ {
				p := compute.Pod{
					ID: compute.PodID(fmt.Sprintf("pod%011d", i)), UserID: "u", Name: "a", Image: "i", Ports: []string{"22/tcp"}, Env: map[string]string{"A": "1"},
					GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Secure, DataCenterID: "EU-RO-1", Status: compute.PodRunning,
					CreatedAt: tx.Now(), StartedAt: tx.Now(), MovedAt: tx.Now(),
				}

				id := fmt.Sprintf("one%011d", i)
				if err := errors.Join(
					tx.InsertPod(p),
					tx.InsertTemplate(compute.Template{ID: compute.TemplateID(id), UserID: "u", RegistryID: "r", CreatedAt: tx.Now()}),
					tx.InsertVolume(compute.Volume{ID: compute.VolumeID(id), UserID: "u", DataCenterID: "EU-RO-1", CreatedAt: tx.Now()}),
					tx.InsertEndpoint(compute.Endpoint{
						ID: compute.EndpointID(id), UserID: "u", Name: id, Type: compute.QueueEndpoint, Scaler: compute.ByDelay, VolumeIDs: []compute.VolumeID{compute.VolumeID(id)},
						CreatedAt: tx.Now(),
					}),
					tx.InsertWorker(compute.Worker{ID: compute.WorkerID(id), EndpointID: compute.EndpointID(id), CreatedAt: tx.Now()}),
					tx.InsertRegistry(compute.Registry{ID: compute.RegistryID(id), UserID: "u"}),
				); err != nil {
					return err
				}
			}

			return nil
		}))
	}

	ask := func(pods int) (statements int64) {
		e.db.statements.Store(0)
		status, body := e.send(`{myself{id pubKey currentSpendPerHr pods{id name env machine{podHostId} runtime{ports{privatePort} gpus{id}}}
			podTemplates{id imageName env{key} isRunpod} networkVolumes{id dataCenter{globalNetwork}} containerRegistryCreds{id name}
			endpoints{id workersStandby networkVolume{id} ...{pods{id dockerArgs}}}}}`)
		require.Equal(t, 200, status, body)
		for _, field := range []string{"podHostId", "isRunpod", "globalNetwork", "workersStandby", "dockerArgs"} {
			require.Equal(t, pods, strings.Count(body, field))
		}
		return e.db.statements.Load()
	}

	insert(0, 1)
	one := ask(1)
	require.EqualValues(t, 9, one, "pods, spend, keys, templates, volumes, credentials, endpoints, their volumes and their workers")
	insert(1, 10_000)
	require.Equal(t, one, ask(10_000))
}

func TestHandler_KeepsTheTextOfAnUnknownErrorInside(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	e.db.fault = errors.New("the secret reason")
	status, body := e.send(`{a:pod(input:{podId:"x"}){id} gpuTypes(input:{id:"none"}){id}}`)
	require.Equal(t, 200, status)
	require.NotContains(t, body, "secret")
	require.Contains(t, body, `"code":"INTERNAL"`)
	require.Contains(t, body, `"data":{"a":null,"gpuTypes":[]}`)
	require.Contains(t, e.log.String(), "the secret reason")
	require.Contains(t, e.log.String(), "path=a")
}

func TestHandler_PanicIsAnInternalError(t *testing.T) {
	t.Parallel()
	e := open(t, func(s *graphql.Services) { s.Control = nil })
	status, body := e.send(`{pod(input:{podId:"x"}){id}}`)
	require.Equal(t, 200, status)
	require.Contains(t, body, `"code":"INTERNAL"`)
	require.NotContains(t, body, "goroutine")
	require.Contains(t, e.log.String(), "panic")
}

func TestHandler_LogsNoKey(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	for _, fault := range []error{nil, errors.New("broken")} {
		e.db.fault = fault
		for _, document := range []string{`{myself{pods{id}}}`, `{pod(input:`, `{nosuch}`, `{pod(input:{podId:"x"}){id}}`, `mutation{podTerminate(input:{podId:"x"})}`} {
			e.send(document)
			e.do(http.MethodGet, "/graphql?api_key="+e.token, "")
			e.do(http.MethodPost, "/graphql?api_key="+e.token+"x", document)
		}
	}
	require.Contains(t, e.log.String(), "broken")
	require.NotContains(t, e.log.String(), e.token[len(e.token)-40:])
}

func TestLimits_AreSettings(t *testing.T) {
	t.Parallel()
	for document, set := range map[string]func(*graphql.Limits){
		`{myself{pods{id}}}`:                                       func(l *graphql.Limits) { l.Depth = 2 },
		`{gpuTypes{id} myself{id}}`:                                func(l *graphql.Limits) { l.Fields = 3 },
		`{...a ...a} fragment a on Query{gpuTypes{id} myself{id}}`: func(l *graphql.Limits) { l.Fields = 7 },
		`{a:gpuTypes{id} b:gpuTypes{id}}`:                          func(l *graphql.Limits) { l.Aliases = 1 },
		`{gpuTypes{id id id}}`:                                     func(l *graphql.Limits) { l.Tokens = 5 },
		`{gpuTypes { id } }`:                                       func(l *graphql.Limits) { l.Body = 20 },
		`{gpuTypes{id memoryInGb}}`:                                func(l *graphql.Limits) { l.Values = 100 },
	} {
		status, body := open(t, func(s *graphql.Services) { set(&s.Limits) }).send(document)
		require.NotEqual(t, 200, status, "%s", document)
		require.Contains(t, body, `"code":"REJECTED"`, "%s", document)
		status, body = open(t, nil).send(document)
		require.Equal(t, 200, status, "%s: %s", document, body)
	}
}

// unread is a body that nobody may read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("the body was read")
	return 0, io.EOF
}

func TestHandler_FindsTheKeyBeforeItReadsTheBody(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	ask := func(query, authorization string, length int64) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql"+query, unread{t})
		r.Header.Set("Content-Type", "application/json")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		r.ContentLength = length
		w := httptest.NewRecorder()
		e.handler.ServeHTTP(w, r)
		return w.Code
	}

	require.Equal(t, 401, ask("?api_key=wrong", "", 10))
	require.Equal(t, 401, ask("", "Bearer "+e.token+"x", -1))
	require.Equal(t, 413, ask("", "", 64<<10+1), "without a key")
	require.Equal(t, 413, ask("", "Bearer "+e.token, 1<<20+1))
}

func TestLimits_BoundTheMemoryOfABody(t *testing.T) {
	e := open(t, nil)
	for name, variables := range map[string]string{
		"members below a long name": `{"` + strings.Repeat("n", 500_000) + `":{` + members(55_000) + `}}`,
		"members":                   `{` + members(100_000) + `}`,
		"objects":                   `[` + strings.TrimSuffix(strings.Repeat(`{},`, 300_000), ",") + `]`,
		"nested":                    strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000),
	} {
		body := `{"query":"{gpuTypes{id}}","variables":` + variables + `}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, answer := e.do(http.MethodPost, "/graphql?api_key="+e.token, body)
		runtime.ReadMemStats(&after)
		require.Equal(t, 400, status, "%s: %s", name, answer)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(30<<20), name)
	}
}

// members gives so many members of an object.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%x":0`, i)
	}
	return strings.TrimPrefix(b.String(), ",")
}

func TestHandler_BoundsTheListOfErrors(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	status, body := e.send(`query(` + variables(400) + `){gpuTypes{id}}`)
	require.Equal(t, 400, status)
	require.Equal(t, 100, strings.Count(body, `"message"`), body)
	values := strings.TrimSuffix(strings.Repeat("0,", 5_000), ",")
	status, body = e.do(http.MethodPost, "/graphql?api_key="+e.token, `{"query":"query($i:[String]){gpuTypes(input:{ids:$i}){id}}","variables":{"i":[`+values+`]}}`)
	require.Equal(t, 400, status)
	require.Less(t, len(body), 20_000)
}

// variables gives so many declarations of variables.
func variables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "$v%d:Int ", i)
	}
	return b.String()
}

func TestHandler_IntrospectionAndPlaygroundAreOffUnlessSet(t *testing.T) {
	t.Parallel()
	const schema, hidden = `{__schema{queryType{name}}}`, `{...a} fragment a on Query{...{__type(name:"Pod"){name}}}`
	off := open(t, nil)
	for _, document := range []string{schema, hidden} {
		status, body := off.send(document)
		require.Equal(t, 400, status)
		require.Contains(t, body, "introspection is off")
	}

	status, _ := off.send(`{__typename}`)
	require.Equal(t, 200, status)
	status, _ = off.do(http.MethodGet, "/graphql?api_key="+off.token, "")
	require.Equal(t, 405, status)

	on := open(t, func(s *graphql.Services) { s.Introspection, s.Playground = true, true })
	for _, document := range []string{schema, hidden} {
		status, _ = on.send(document)
		require.Equal(t, 200, status)
	}
	status, body := on.do(http.MethodGet, "/graphql", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, "<html")
}
