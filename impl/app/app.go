// Package app wires the rooms into a running server. It is the one room that knows every other. Embedders import it by way
// of package berth, at the root of the tree.
package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/reference"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/process"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/impl/webhook"
	"github.com/berthdev/berth/store"
)

const (
	defaultListen      = "127.0.0.1:8765"
	defaultDrain       = 10 * time.Second
	defaultRetention   = 24 * time.Hour
	defaultWorkersMax  = 3
	defaultIdleTimeout = 10 * time.Second

	// LeastLease has room for three pings of whole seconds, which is how often an unmodified worker can ping.
	LeastLease = 3 * time.Second

	// owner is the one user of a server: keys, pods and endpoints are theirs.
	owner compute.UserID = "owner"
)

// workings are what works unasked.
type workings struct {
	pods     *loop.Pods
	workers  *loop.Workers
	webhooks *loop.Webhooks
}

// Server is a running server.
type Server struct {
	url, queueURL string
	firstKey      string
	controlsKey   string
	endpoints     map[string]compute.EndpointID

	config     Config
	running    *compute.RunningClock // that of the server, or what a clock that can be set runs with
	keeping    sync.Mutex            // held over a keepTime
	lag        time.Duration         // of the clock, as it is stored
	store      store.Store
	storage    *storage // what the test controls set of it; nil without them
	queue      *queue.Queue
	rates      *control.Rates
	queueRates *control.QueueRates
	keyring    *control.Keyring
	listeners  []net.Listener // that of the metrics is the last one
	servers    []*http.Server
	reached    *limit.Connections
	hosts      *limit.Hosts
	proxies    *limit.Proxies
	failed     chan error
	unlock     func() error
	stop       context.CancelFunc
	loops      sync.WaitGroup
	stopPods   context.CancelFunc // after the others: requests may end pods until none is answered any more
	podLoop    sync.WaitGroup
	workings   workings
	fleet      *sim.Fleet      // nil if pods do not run on it
	pods       runtime.Runtime // what pods run on
	workers    runtime.Runtime // what the workers of endpoints run on that are not declared
	workerSim  *sim.Fleet      // nil if those do not run on it
	placement  *control.Placement
	process    *process.Runtime
	processes  *control.Processes // nil if pods are no processes
	controls   *controls          // nil if there are none
	poster     *webhook.Poster

	metricsURL string
	metrics    *observe.Metrics // nil: nothing is measured
	tracing    *observe.Tracing // nil: nothing is traced
	leaving    atomic.Bool      // Close was called
}

// URL is the base of the REST interface, without a slash at the end.
func (s *Server) URL() string { return s.url }

// QueueURL is the base of the queue interface, without a slash at the end.
func (s *Server) QueueURL() string { return s.queueURL }

// FirstKey is the key that was made because the data directory had none; empty otherwise. It cannot be had again.
func (s *Server) FirstKey() string { return s.firstKey }

// ControlsKey is the key of the test controls; empty if there are none. It is a new one at each start.
func (s *Server) ControlsKey() string { return s.controlsKey }

// Endpoints are the ids of the declared endpoints by name.
func (s *Server) Endpoints() map[string]compute.EndpointID { return s.endpoints }

// CreateKey makes a key and gives its token, which cannot be had again.
func (s *Server) CreateKey(ctx context.Context, n control.NewKey) (compute.KeyID, string, error) {
	key, token, err := s.keyring.Create(ctx, n)
	return key.ID, token, err
}

// DeleteKey deletes a key: its token is refused from then on.
func (s *Server) DeleteKey(ctx context.Context, id compute.KeyID) error {
	return s.keyring.Delete(ctx, id)
}

// Failed receives when a listener fails.
func (s *Server) Failed() <-chan error { return s.failed }

// Start starts a server, which is ready when Start returns.
func Start(ctx context.Context, c Config) (_ *Server, err error) {
	running := compute.NewRunningClock()
	settable := compute.NewSettableClock(running)
	switch {
	case c.TestControls:
		c.clock = settable
	case c.clock == nil:
		c.clock = running
	}
	c = c.withDefaults()
	s := &Server{
		config: c, running: running, reached: limit.NewConnections(c.MaxConnections, c.StallTimeout), failed: make(chan error, 3),
		endpoints: map[string]compute.EndpointID{},
	}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	if s.hosts, err = hostsOf(c); err != nil {
		return nil, err
	}
	if s.proxies, err = limit.NewProxies(c.TrustedProxies); err != nil {
		return nil, fmt.Errorf("trusted proxies: %w", err)
	}
	if c.Lease < LeastLease {
		return nil, fmt.Errorf("the lease must be at least %s, and not %s", LeastLease, c.Lease)
	}
	var made []string
	if made, s.unlock, err = openDirectory(c.Data, c.Version, c.Log); err != nil {
		return nil, err
	}
	if err = s.listen(); err != nil { // before anything is made: an address that is taken must not cost the first key
		return nil, err
	}
	files := readFiles(ctx, c)
	defer func() {
		for range files { // a start that failed before leaves nobody at work in the directory
		}
	}()
	if err = s.openStore(ctx, c); err != nil {
		return nil, err
	}
	if err = s.startClock(ctx); err != nil {
		return nil, err
	}
	ids := compute.NewIDs(rand.Reader, c.clock)
	if s.keyring, err = control.NewKeyring(ctx, s.store, ids, c.clock); err != nil {
		return nil, err
	}
	firstKey := s.makeFirstKey(ctx)
	defer func() {
		for range firstKey { // a start that failed before leaves nobody at work in the store
		}
	}()
	if s.rates, err = control.NewRates(ctx, s.store, c.clock, compute.Windows(c.Quotas.Minute, c.Quotas.Hour, c.Quotas.Day)); err != nil {
		return nil, err
	}
	queueQuotas, err := compute.QueueQuotas(c.QueueRates)
	if err != nil {
		return nil, err
	}
	s.queueRates = control.NewQueueRates(c.clock, queueQuotas)
	if err = s.startRuntimes(c, ids); err != nil {
		return nil, err
	}
	earlier, err := s.noteRuntimes(ctx)
	if err != nil {
		return nil, err
	}
	read := <-files
	if read.err != nil {
		return nil, read.err
	}
	s.placement = read.placement
	if err = s.placement.Open(ctx, s.store); err != nil {
		return nil, err
	}
	secrets, err := control.NewSecrets(read.secret)
	if err != nil {
		return nil, err
	}
	s.keyring.SetPodKeys(secrets.PodKeys())
	registries, err := control.NewRegistries(ctx, s.store, ids, secrets)
	if err != nil {
		return nil, explainSecret(c, read, err)
	}
	kept := keepSecret(c, read)
	defer func() {
		for range kept { // a start that failed before leaves nobody at work in the directory
		}
	}()
	s.poster = webhook.New(c.PrivateWebhooks)
	webhooks := loop.NewWebhooks(s.store, s.poster.Post, c.clock, c.Log)
	var workers *loop.Workers
	settings := queue.DefaultSettings()
	settings.Lease = c.Lease
	if s.queue, err = queue.New(ctx, s.store, c.clock, ids, settings, s.observedQueue(queue.Hooks{
		Demand: func() { workers.Hint() }, Document: httpapi.JobDocument, Delivery: func() { webhooks.Hint() },
	})); err != nil {
		return nil, err
	}
	workers = loop.NewWorkers(s.workerFleet(ids, registries.Login))
	pods := loop.NewPods(s.store, s.placement, s.pods, c.clock, c.Log)
	pods.Login, pods.Key, pods.URL, pods.Simulated = registries.Login, secrets.PodKeys().Token, s.workerURL, s.fleet != nil
	workers.Held = pods.Has
	ctl := control.New(s.store, ids, s.placement, control.Hints{Pod: pods.Hint, Volumes: pods.HintVolumes})
	endpoints := control.NewEndpoints(s.store, ids, s.placement, s.queue)
	ctl.Processes, endpoints.Processes = s.processes, s.processes
	if err = endpoints.Resume(ctx); err != nil {
		return nil, err
	}
	if err = errors.Join(<-kept, <-firstKey); err != nil {
		return nil, err
	}
	if !c.Ephemeral { // the names of the files that were made; at once, since the disk has most of them by now
		if err = atomicfile.SyncDir(append(made, c.Data)...); err != nil {
			return nil, err
		}
	}
	loopCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	services := httpapi.Services{
		Control: ctl, Pods: pods, Draining: loopCtx, Endpoints: endpoints, Workers: workers, QueueURL: s.publicURL, Registries: registries, Queue: s.queue, Keyring: s.keyring, Rates: s.rates, QueueRates: s.queueRates, IDs: ids,
		Clock: c.clock, Log: c.Log, Faults: &fault.Script{}, Hosts: s.hosts, Proxies: s.proxies, Answers: limit.NewAnswers(c.StallTimeout),
		Trouble: s.store.Trouble, Ready: func(ctx context.Context) error { return s.store.Read(ctx, func(store.Tx) error { return nil }) },
	}
	s.observe(&services, webhooks)
	if services.Bodies, err = limit.NewBodies(filepath.Join(c.Data, bodiesDir), c.StallTimeout); err != nil {
		return nil, err
	}
	retention := &loop.Retention{
		Store: s.store, Clock: c.clock, Rates: s.rates, Keyring: s.keyring, Endpoints: endpoints, Pods: c.PodRetention,
	}
	s.workings = workings{pods, workers, webhooks}
	if c.TestControls {
		if s.controls, err = s.newControls(ctx, settable, []loop.Due{
			{Next: soonest(earliest()), Do: retention.Step}, // nobody sees when
			{Next: soonest(s.fleet.Next), Do: done(pods.Step)},
			{Next: s.queue.Next, Do: s.queue.Sweep},
			{Next: soonest(earliest(workers.Next, s.workerSim.Next)), Do: done(workers.Step)},
			{Next: webhooks.Next, Do: webhooks.Step},
		}); err != nil {
			return nil, err
		}
		services.Controls = s.controls
	}
	services.GraphQL = graphql.New(graphql.Services{
		Control: ctl, Live: pods.Live, Endpoints: endpoints, Registries: registries, Keyring: s.keyring, Faults: services.Faults, Clock: c.clock, Log: c.Log, Limits: c.GraphQL.Limits, Bodies: services.Bodies, Answers: services.Answers,
		Introspection: c.GraphQL.Introspection || c.TestControls, Playground: c.GraphQL.Playground,
	})
	if c.Docs {
		services.Home = reference.Root
		services.Docs = reference.Handlers(reference.Settings{Controls: c.TestControls, Playground: c.GraphQL.Playground})
	}
	handler, err := httpapi.New(services)
	if err != nil {
		return nil, err
	}
	if err = s.declare(ctx, endpoints); err != nil {
		return nil, err
	}
	s.running.Look()
	s.serve(handler)
	podCtx, stopPods := context.WithCancel(context.WithoutCancel(ctx))
	s.stopPods = stopPods
	s.podLoop.Go(func() { pods.Run(podCtx) })
	s.loops.Go(func() { workers.Run(loopCtx) })
	s.loops.Go(func() { webhooks.Run(loopCtx) })
	for _, at := range earlier {
		s.loops.Go(func() { s.endEarlierContainers(loopCtx, at) })
	}
	every := func(clock compute.Clock, length time.Duration, name string, work func(context.Context) error) {
		s.loops.Go(func() { loop.Every(loopCtx, length, clock, c.Log, name, work) })
	}
	every(c.clock, loop.SweepTick, "sweep", s.queue.Sweep)
	every(c.clock, loop.RetentionTick, "retention", retention.Step)
	// Other processes and restarts do not live on a clock that a test has frozen.
	every(compute.SystemClock{}, loop.KeepTick, "keys", s.keyring.Refresh)
	every(compute.SystemClock{}, loop.KeepTick, "request counts", s.rates.Save)
	every(compute.SystemClock{}, loop.KeepTick, "meter", workers.See)
	every(compute.SystemClock{}, loop.KeepTick, "clock", s.keepTime)
	every(compute.SystemClock{}, lookTick, "clock", s.look)
	return s, nil
}

func soonest(next func() time.Time) func(context.Context) (time.Time, error) {
	return func(context.Context) (time.Time, error) { return next(), nil }
}

// earliest gives the first of the times that are not zero.
func earliest(all ...func() time.Time) func() time.Time {
	return func() (first time.Time) {
		for _, next := range all {
			if t := next(); first.IsZero() || !t.IsZero() && t.Before(first) {
				first = t
			}
		}
		return first
	}
}

func done(step func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		step(ctx)
		return ctx.Err()
	}
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = defaultListen
	}
	c.Runtime, c.Version = cmp.Or(c.Runtime, RuntimeSim), cmp.Or(c.Version, "dev")
	c.Drain, c.PodRetention, c.StallTimeout = cmp.Or(c.Drain, defaultDrain), cmp.Or(c.PodRetention, defaultRetention), cmp.Or(c.StallTimeout, limit.DefaultSpan)
	c.Quotas.Minute = cmp.Or(c.Quotas.Minute, 1_000)
	c.Quotas.Hour = cmp.Or(c.Quotas.Hour, 30_000)
	c.Quotas.Day = cmp.Or(c.Quotas.Day, 500_000)
	c.GraphQL.Limits = c.GraphQL.Limits.WithDefaults()
	c.Lease = cmp.Or(c.Lease, queue.DefaultSettings().Lease)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func (s *Server) declare(ctx context.Context, endpoints *control.Endpoints) error {
	for _, e := range s.config.Endpoints {
		n := control.NewEndpoint{
			Name: e.Name, Image: e.Name, WorkersMin: e.WorkersMin, WorkersMax: e.WorkersMax, IdleTimeout: e.IdleTimeout,
			Scaler: e.Scaler, ScalerValue: float64(e.ScalerValue),
		}
		switch {
		case len(e.Command) == 0:
			n.WorkersMin, n.WorkersMax = 0, 0
		case n.WorkersMax == 0:
			n.WorkersMax = defaultWorkersMax
		}
		if n.IdleTimeout == 0 {
			n.IdleTimeout = defaultIdleTimeout
		}
		made, err := endpoints.Declare(ctx, owner, n)
		if err != nil {
			return fmt.Errorf("endpoint %s: %w", e.Name, err)
		}
		s.endpoints[e.Name] = made.ID
	}
	return nil
}

// declares tells whether the settings of this start declare the endpoint. It is asked once all are declared.
func (s *Server) declares(id compute.EndpointID) bool {
	for _, one := range s.endpoints {
		if one == id {
			return true
		}
	}
	return false
}

// ReplaceWorkers has the workers of a declared endpoint replaced, each as soon as it holds no job: their program has changed.
func (s *Server) ReplaceWorkers(name string) { s.workings.workers.Replace(s.endpoints[name]) }

// listen opens the addresses: one for everything, and if the settings say so a second one for the queue and one for the metrics.
func (s *Server) listen() (err error) {
	if s.url, err = s.open(s.config.Listen); err != nil {
		return err
	}
	s.queueURL = s.url
	if s.config.QueueListen != "" {
		if s.queueURL, err = s.open(s.config.QueueListen); err != nil {
			return err
		}
	}
	return s.listenMetrics()
}

// open opens an address and gives its base. Who connects waits until serve.
func (s *Server) open(address string) (string, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", err
	}
	s.listeners = append(s.listeners, listener{l.(*net.TCPListener)})
	return "http://" + reachable(l.Addr()), nil
}

// serve answers at the addresses.
func (s *Server) serve(handler http.Handler) {
	for i, l := range s.listeners {
		server := s.reached.Server(handler)
		server.ErrorLog = slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn)
		if s.metricsURL != "" && i == len(s.listeners)-1 {
			server = s.reached.Server(s.metricsHandler())
		}
		s.servers = append(s.servers, server)
		go func() {
			if err := server.Serve(s.reached.Listen(l)); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- err
			}
		}()
	}
}

// reachable gives an address that this machine can connect to: an unspecified one listens on all.
func reachable(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
	}
	return a.String()
}

// Close drains: workers finish or give back what they hold, held requests are answered with what is known, and after the
// drain time what is left is cut off. Then the pods are ended whose end was acknowledged. Everything acknowledged is on disk already.
func (s *Server) Close() error {
	s.giveNotice()
	s.stop()
	s.queue.Close()
	s.loops.Wait()
	s.poster.Close()
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Drain)
	defer cancel()
	var errs []error
	for _, server := range s.servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, err, server.Close())
		}
	}
	s.stopPods()
	s.podLoop.Wait()
	s.closeTracing()
	return errors.Join(append(errs, s.rates.Save(context.Background()), s.process.Close(), s.workers.Close(), s.pods.Close(), s.store.Close(), s.unlock())...)
}

// abandon closes what a failed start had opened.
func (s *Server) abandon() {
	if s.stop != nil {
		s.stop()
	}
	s.closeTracing()
	for _, server := range s.servers {
		_ = server.Close()
	}
	for _, l := range s.listeners {
		_ = l.Close()
	}
	if s.process != nil {
		_ = s.process.Close()
	}
	if s.workers != nil {
		_ = s.workers.Close()
	}
	if s.pods != nil {
		_ = s.pods.Close()
	}
	if s.firstKey != "" { // nobody has seen it, and the next start makes none if there is one
		id, _ := compute.ParseToken(s.firstKey)
		_ = s.keyring.Delete(context.Background(), id)
	}
	if s.store != nil {
		_ = s.store.Close()
	}
	if s.unlock != nil {
		_ = s.unlock()
	}
}
