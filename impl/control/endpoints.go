package control

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// EndpointQueue is what Endpoints needs of the queue.
type EndpointQueue interface {
	// SetEndpoint makes an endpoint known, or its new settings.
	SetEndpoint(compute.Endpoint)
	// RemoveEndpoint refuses further requests of the endpoint, cancels its jobs, and has its workers stopped.
	RemoveEndpoint(context.Context, compute.EndpointID) error
	// WorkerStates reports every worker of the endpoint how it is seen now, and of those that are missing why.
	WorkerStates(compute.EndpointID) []compute.WorkerState
}

// Endpoints carries out what is asked of endpoints. It is safe for concurrent use.
type Endpoints struct {
	store    store.Store
	ids      *compute.IDs
	catalog  Catalog
	queue    EndpointQueue
	runtime  Runtime
	changing sync.Mutex // held from a change until the queue knows it: the queue learns changes in their order
}

// NewEndpoints makes Endpoints over the placement's catalog and what the workers of those run on that are not declared.
func NewEndpoints(s store.Store, ids *compute.IDs, p *Placement, q EndpointQueue, r Runtime) *Endpoints {
	return &Endpoints{store: s, ids: ids, catalog: p.catalog, queue: q, runtime: r}
}

// EndpointChange is what createEndpoint sets and updateEndpoint changes. Nil is the default, or unchanged.
type EndpointChange struct {
	Name          *string
	TemplateID    *compute.TemplateID // its settings are copied, and those below win; empty: none any more
	Template      *TemplateChange     // in place of TemplateID and of the settings below down to RegistryID: changes the endpoint's own template, or makes one
	OfTemplate    compute.TemplateID  // with Template: ErrOtherTemplate unless the endpoint has this one; empty: whichever it has
	Image         *string
	Args          *string
	Cmd           *[]string // see Command
	Entrypoint    *[]string // likewise
	DiskGB        *int64
	Ports         []string            // empty: none any more
	Env           map[string]string   // empty: none any more; joins that of a template
	RegistryID    *compute.RegistryID // empty: none any more
	GPU           *EndpointGPUChange
	CPUs          []compute.CPU // MemoryGB is derived
	DataCenterIDs []string      // empty: any
	Compliance    []string      // empty: any
	VolumeIDs     []compute.VolumeID
	GlobalIDs     []compute.VolumeID // of global volumes: one, or none any more
	WorkersMin    *int64
	WorkersMax    *int64
	IdleTimeout   *time.Duration // refused for a queue that is scaled by ByCount, unless IdleByCount is set
	IdleByCount   bool
	Scaling       *Scaling
	Timeout       *time.Duration
	FlashBoot     *compute.FlashBoot
	Environment   *compute.FlashEnvironmentID // of an app of the user's; empty: none any more
}

// command has Args say what Cmd and Entrypoint do, over what is stored. Errors as for Command.
func (x *EndpointChange) command(stored string) (err error) {
	x.Args, err = Command{x.Args, x.Cmd, x.Entrypoint}.change(stored)
	x.Cmd, x.Entrypoint = nil, nil
	return err
}

// EndpointGPUChange is the GPU part of an EndpointChange. Nil is the default, or unchanged.
type EndpointGPUChange struct {
	Pools        []string
	Excluded     []string
	Count        *int64
	CUDAVersions []string // empty: any
	LeastCUDA    *string  // empty: any
}

// Scaling is how the number of workers is decided: seconds for ByDelay, jobs for ByCount.
type Scaling struct {
	Scaler compute.Scaler // empty: as it is
	Value  float64
}

// The defaults of an endpoint (rule serverless.defaults).
const (
	defaultWorkersMax  = 3
	defaultIdleTimeout = 10 * time.Second
	defaultTimeout     = 300 * time.Second
)

// Create stores an endpoint with its first release (rules serverless.create, serverless.defaults). Rejected names the
// field; Invalid a field that is missing or a template of the wrong kind; NotFound a template, credential or volume that is
// not the user's.
func (n *Endpoints) Create(ctx context.Context, user compute.UserID, kind compute.EndpointType, change EndpointChange) (e compute.Endpoint, err error) {
	if change.Image == nil && change.TemplateID == nil && change.Template == nil {
		return e, errNoImage()
	}

	n.changing.Lock()
	defer n.changing.Unlock()

	id, release := newID(ctx, n.ids.Endpoint), n.ids.Release()
	err = create(ctx, n.store, func(tx store.Tx) error {
		e = compute.Endpoint{
			ID: id, UserID: user, Type: kind, DiskGB: defaultDiskGB, Ports: []string{}, Env: map[string]string{},
			DataCenterIDs: []string{}, Compliance: []string{}, VolumeIDs: []compute.VolumeID{}, WorkersMax: defaultWorkersMax, IdleTimeout: defaultIdleTimeout,
			Timeout: defaultTimeout, FlashBoot: compute.FlashBootOff, Version: 1, CreatedAt: tx.Wall(),
		}

		if err := n.change(tx, &e, change); err != nil {
			return err
		}
		if err := n.runtime.checkEndpoint(e); err != nil {
			return err
		}
		if err := tx.InsertEndpoint(e); err != nil {
			return err
		}

		return insertRelease(tx, release, e, user, nil)
	})
	if err == nil {
		n.queue.SetEndpoint(e)
	}

	return e, err
}

// insertRelease stores a release of the endpoint's version. Its id was chosen before the transaction, which may run again.
func insertRelease(tx store.Serverless, id compute.ReleaseID, e compute.Endpoint, by compute.UserID, diff []compute.FieldChange) error {
	return tx.InsertRelease(compute.Release{
		ID: id, EndpointID: e.ID, Version: e.Version, CreatedBy: by, Diff: diff, CreatedAt: tx.Wall(),
	})
}

// Get gives the user's endpoint. NotFound for an unknown, a deleted and somebody else's one.
func (n *Endpoints) Get(ctx context.Context, user compute.UserID, id compute.EndpointID) (e compute.Endpoint, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		e, err = ownEndpoint(tx, user, id)
		return err
	})
	return e, err
}

// List gives the user's endpoints, newest first. Rejected as for ListPods.
func (n *Endpoints) List(ctx context.Context, user compute.UserID, room compute.Room) (all []compute.Endpoint, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		all, err = whole(tx.PageEndpoints(user, unpaged(room)))
		return err
	})
	return all, err
}

// Page gives a page of the user's endpoints, newest first, and where the next one begins.
func (n *Endpoints) Page(ctx context.Context, user compute.UserID, p compute.Page) (all []compute.Endpoint, next compute.Position, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		all, next, err = tx.PageEndpoints(user, p)
		return err
	})
	return all, next, err
}

// WorkersOfAll gives the workers of the endpoints, newest first, in one read.
func (n *Endpoints) WorkersOfAll(ctx context.Context, endpoints []compute.Endpoint) (map[compute.EndpointID][]compute.Worker, error) {
	all := map[compute.EndpointID][]compute.Worker{}
	for _, e := range endpoints {
		all[e.ID] = nil
	}

	err := n.store.Read(ctx, func(tx store.Tx) error {
		workers, err := tx.ListWorkers()
		for _, w := range slices.Backward(workers) {
			if list, asked := all[w.EndpointID]; asked {
				all[w.EndpointID] = append(list, w)
			}
		}
		return err
	})

	return all, err
}

// Update changes what is present. What the workers are made of makes a release, which they take as they are replaced; all
// else acts at once (rules serverless.releases, serverless.update.at-once). Errors as for Create and Get.
func (n *Endpoints) Update(ctx context.Context, user compute.UserID, id compute.EndpointID, change EndpointChange) (e compute.Endpoint, err error) {
	n.changing.Lock()
	defer n.changing.Unlock()

	release := n.ids.Release()
	err = n.store.Write(ctx, func(tx store.Tx) (err error) {
		if e, err = ownEndpoint(tx, user, id); err != nil {
			return err
		}
		before := e
		if err := n.change(tx, &e, change); err != nil {
			return err
		}

		diff := makingDiff(before, e)
		if before.Environment != e.Environment {
			moved, err := buildDiff(tx, before.Environment, e.Environment)
			if err != nil {
				return err
			}
			diff = append(diff, moved...)
		}
		if len(diff) > 0 {
			if err := n.runtime.checkEndpoint(e); err != nil {
				return err
			}
			e.Version++
			if err := insertRelease(tx, release, e, user, diff); err != nil {
				return err
			}
		}

		return tx.UpdateEndpoint(e)
	})
	if err == nil {
		n.queue.SetEndpoint(e)
	}

	return e, err
}

// Delete cancels the endpoint's jobs, has its workers stopped and removes it (rule serverless.delete.jobs). It is NotFound
// for everybody from the beginning, but for its user's next Delete if the storage fails one: that ends what is left. NotFound as for Get.
func (n *Endpoints) Delete(ctx context.Context, user compute.UserID, id compute.EndpointID) error {
	n.changing.Lock()
	err := n.store.Write(ctx, func(tx store.Tx) error {
		e, err := tx.Endpoint(id)
		if err == nil && e.UserID != user {
			_, err = ownEndpoint(tx, user, id)
		}
		if err != nil || !e.DeletedAt.IsZero() {
			return err
		}
		e.DeletedAt = tx.Wall()
		return tx.UpdateEndpoint(e)
	})

	n.changing.Unlock()
	if err != nil {
		return err
	}
	return n.remove(context.WithoutCancel(ctx), id)
}

// remove ends the deletion of an endpoint that is marked.
func (n *Endpoints) remove(ctx context.Context, id compute.EndpointID) error {
	if err := n.queue.RemoveEndpoint(ctx, id); err != nil {
		return err
	}
	return n.store.Write(ctx, func(tx store.Tx) error {
		e, err := tx.Endpoint(id)
		if err != nil {
			return ignoring(err, compute.NotFound) // somebody else has ended it
		}
		if err := tx.DeleteEndpoint(id); err != nil {
			return err
		}
		return forgetTemplate(tx, e)
	})
}

// forgetTemplate deletes the template that the endpoint, which is no more, brought along, unless something else uses it.
func forgetTemplate(tx store.Tx, e compute.Endpoint) error {
	t, err := tx.Template(e.TemplateID)
	if err == nil && t.EndpointID == e.ID {
		err = ignoring(deleteTemplate(tx, t.ID), compute.Rejected)
	}
	return ignoring(err, compute.NotFound)
}

// ignoring gives no error for one of that code.
func ignoring(err error, code compute.Code) error {
	if compute.CodeOf(err) == code {
		return nil
	}
	return err
}

// Resume ends the deletions that a stop of the server broke off. One that fails leaves the others theirs.
func (n *Endpoints) Resume(ctx context.Context) error {
	var all []compute.Endpoint
	err := n.store.Read(ctx, func(tx store.Tx) (err error) {
		all, err = tx.ListEndpoints()
		return err
	})
	for _, e := range all {
		if !e.DeletedAt.IsZero() {
			err = errors.Join(err, n.remove(ctx, e.ID))
		}
	}
	return err
}

// ownEndpoint hides from a user what is not theirs or is no more.
func ownEndpoint(tx store.Endpoints, user compute.UserID, id compute.EndpointID) (compute.Endpoint, error) {
	e, err := tx.Endpoint(id)
	if err == nil && (e.UserID != user || !e.DeletedAt.IsZero()) {
		return compute.Endpoint{}, compute.Errorf(compute.NotFound, "endpoint %q does not exist", id)
	}
	return e, err
}

// EndpointWorker is a worker with how it is seen now. One that is missing, or that somebody else started, has no more than an
// id, and a missing one what it would be made of.
type EndpointWorker struct {
	compute.Worker
	Status   compute.WorkerStatus
	Reason   string // why it is UNHEALTHY or THROTTLED, for people
	GPUCount int64
	Stale    bool // made of an earlier release than the latest
}

// Workers gives the workers of the user's endpoint, newest first, then those that are missing and those that somebody else
// started. NotFound as for Get.
func (n *Endpoints) Workers(ctx context.Context, user compute.UserID, id compute.EndpointID) (e compute.Endpoint, all []EndpointWorker, err error) {
	seen := map[compute.WorkerID]compute.WorkerState{} // before the rows: one that is up has the time since when in its row already
	for _, s := range n.queue.WorkerStates(id) {
		seen[s.ID] = s
	}

	var rows []compute.Worker
	err = n.store.Read(ctx, func(tx store.Tx) error {
		if e, err = ownEndpoint(tx, user, id); err != nil {
			return err
		}
		rows, err = tx.ListWorkersOf(id)
		return err
	})
	if err != nil {
		return e, nil, err
	}

	for _, w := range slices.Backward(rows) {
		one := EndpointWorker{Worker: w, Status: compute.WorkerInitializing, Stale: w.Version < e.Version}
		if s, ok := seen[w.ID]; ok {
			one.Status, one.Reason = s.Status, s.Reason
		}
		if w.GPU != nil {
			one.GPUCount = w.GPU.Count
		}
		delete(seen, w.ID)
		all = append(all, one)
	}

	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if !seen[id].Managed { // else it was removed a moment later
			all = append(all, seenAlone(e, seen[id]))
		}
	}

	return e, all, nil
}

// seenAlone is a worker that is not stored: it is missing, or somebody else started it.
func seenAlone(e compute.Endpoint, s compute.WorkerState) EndpointWorker {
	one := EndpointWorker{Worker: compute.Worker{ID: s.ID, EndpointID: e.ID}, Status: s.Status, Reason: s.Reason}
	if s.Missing {
		one.Image, one.Version = e.Image, e.Version
		if e.GPU != nil {
			one.GPUCount = e.GPU.Count
		}
	}
	return one
}

// EndedWorkers gives what is kept of the workers of the user's endpoint that have ended, the last one first, without their logs.
// NotFound as for Get.
func (n *Endpoints) EndedWorkers(ctx context.Context, user compute.UserID, id compute.EndpointID) (all []compute.EndedWorker, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		if _, err := ownEndpoint(tx, user, id); err != nil {
			return err
		}
		all, err = tx.ListEndedWorkersOf(id)
		return err
	})
	return all, err
}

// Worker gives the endpoint of the user and the id of a worker of it that has a log: berth started it, had to put its start off, or
// keeps it after its end (rule serverless.workers.logs.kept). NotFound as for Get, and for every other worker.
func (n *Endpoints) Worker(ctx context.Context, user compute.UserID, id compute.EndpointID, worker compute.WorkerID) (e compute.Endpoint, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		if e, err = ownEndpoint(tx, user, id); err != nil {
			return err
		}
		of, err := endpointOf(tx, worker)
		if err == nil && of != id {
			err = unknownWorker(worker)
		}
		return err
	})
	if compute.CodeOf(err) != compute.NotFound || e.ID != id {
		return e, err
	}

	for _, s := range n.queue.WorkerStates(id) {
		switch {
		case s.ID != worker || s.Managed:
		case s.Missing:
			return e, nil
		default:
			return e, compute.Errorf(compute.NotFound, "worker %q was not started here: its log is where it was", worker)
		}
	}

	return e, err
}

// OfWorker gives the endpoint of the user and the id of a worker of it that has a log. NotFound for every other worker.
func (n *Endpoints) OfWorker(ctx context.Context, user compute.UserID, worker compute.WorkerID) (e compute.Endpoint, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		of, err := endpointOf(tx, worker)
		if err != nil {
			return err
		}
		e, err = ownEndpoint(tx, user, of)
		return err
	})
	return e, err
}

// endpointOf gives the endpoint of a worker that there is, or that has ended and is kept. NotFound for every other one.
func endpointOf(tx store.Containers, worker compute.WorkerID) (compute.EndpointID, error) {
	w, err := tx.Worker(worker)
	if compute.CodeOf(err) != compute.NotFound {
		return w.EndpointID, err
	}
	ended, err := tx.EndedWorker(worker)
	if compute.CodeOf(err) == compute.NotFound {
		err = unknownWorker(worker)
	}
	return ended.EndpointID, err
}

func unknownWorker(id compute.WorkerID) error {
	return compute.Errorf(compute.NotFound, "worker %q does not exist, or has ended and is not kept any more", id)
}
