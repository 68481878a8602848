// Package docker is a runtime that runs allocations as containers of a Docker Engine, or of what speaks its API, such as
// Podman's socket. It uses the engine's own Go client, which agrees with the engine on a version of the API, 1.41 or later.
//
// The engine is the truth. Everything that a runtime makes carries two labels, the owner's and the allocation's id, so that
// the next runtime of the same owner finds it: a container outlives the runtime and a restart of berth. A container is never
// restarted by the engine.
//
//   - The container disk is the container's own: Start makes a new container in place of one that has ended. Its size is
//     limited where the storage driver can do that (btrfs, zfs, overlay2 on xfs with pquota), and not limited elsewhere.
//   - A persistent mount is a volume of the allocation, a network mount a volume of the owner. The engine's local volumes
//     have no limit to their size.
//   - The logs are those of the present run, the last 30 MB.
//   - An image that is there is not pulled again (see Config.Pull); a private one that somebody else pulled is there, too.
//   - Allocations with a link are in a network of the engine for its subnet, which goes with the last of them, and in no other.
//   - No program in a container gains privileges that it does not begin with, unless Config.AllowNewPrivileges.
//   - The container knows on which ports of the host its TCP ports are, if the address is one of this machine.
//   - GPUs need the NVIDIA runtime in the engine. A container that asks for none sees none, whatever its environment says.
package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// The labels of containers and volumes.
const (
	labelOwner      = "dev.berth.owner"
	labelAllocation = "dev.berth.allocation"
	labelVolume     = "dev.berth.volume"  // the id of a network volume
	labelNetwork    = "dev.berth.network" // of a container in one
	labelGeneration = "dev.berth.generation"
	labelPorts      = "dev.berth.ports" // as asked for, with commas between
)

const (
	callTime = 30 * time.Second // for an answer of the engine that should come at once
	pause    = time.Second      // before an engine that did not answer is asked again
)

var (
	errClosed    = errors.New("docker: the runtime is closed")
	errElsewhere = errors.New("docker: the GPUs are on another machine")
)

var _ runtime.Runtime = (*Runtime)(nil)

// PullPolicy says when an image is pulled.
type PullPolicy string

// The pull policies.
const (
	PullIfAbsent PullPolicy = "if-absent"
	PullAlways   PullPolicy = "always"
	PullNever    PullPolicy = "never"
)

// Config is what a runtime is made of.
type Config struct {
	Owner   string        // whose containers they are; only one runtime of an owner may be open
	Volumes string        // whose network volumes they are; empty: Owner
	Host    string        // address of the engine; empty: DOCKER_HOST, or the usual socket
	Publish netip.Addr    // address of this host that ports are published on; zero: 127.0.0.1
	Pull    PullPolicy    // empty: if-absent
	Clock   compute.Clock // for pauses; it must run
	Log     *slog.Logger  // nil: silent

	// AllowNewPrivileges lets programs gain privileges that who starts them has not: by sudo and the like.
	AllowNewPrivileges bool

	ReachHost bool // containers reach the machine by HostName, which takes an engine of API 1.41
	// MeasureGPUs gives what nvidia-smi says of all GPUs of the engine's host; nil: it is asked on this machine, if that is the host.
	MeasureGPUs func(context.Context) ([]byte, error)

	// DirectHTTP has HTTP ports on the machine of an engine that is reached by SSH be asked at an address of that machine, and not by SSH.
	DirectHTTP bool

	machine string // name or address of the machine of the engine; empty: this one
	certs   string // directory with the certificates for an engine over TCP; empty: as the environment says
	// fetch brings an image that was built on another engine; nil: there is no other.
	fetch func(ctx context.Context, image string, to *Runtime) error
}

// Runtime runs allocations as containers.
type Runtime struct {
	config Config
	engine *client.Client
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	ends   *runtime.Ends
	own    bool // ends is the runtime's own
	locks  runtime.Locks
	// networks is held for reading by who puts a container into a network, and for writing by who removes those without any.
	networks sync.RWMutex

	seen    seen
	gpuTurn sync.Mutex // of who measures
	gpus    gpuSample

	mu      sync.Mutex
	closed  bool
	renew   context.CancelFunc // has the engine asked anew what ends
	known   *system.Info       // what the engine reported of itself since it was last connected to
	noSizes bool               // the engine could not limit a disk that it should be able to
	address string             // of the engine's machine, if that is another one
	reserve func(ports []string, address netip.Addr) reserved
	starts  map[string]*start        // what is being started
	failed  map[string]runtime.State // what could not be started, or was stopped before it was up
	quiet   map[string]bool          // containers whose end was asked for, by the engine's id
	samples map[string]sample        // the last measurement of each allocation
}

// New makes a runtime. The engine need not answer yet.
func New(c Config) (*Runtime, error) {
	h, err := newRuntime(c, runtime.NewEnds())
	if err == nil {
		h.own = true
	}
	return h, err
}

// newRuntime makes a runtime that hands what ended to ends, which is somebody else's.
func newRuntime(c Config, ends *runtime.Ends) (*Runtime, error) {
	if c.Owner == "" {
		return nil, errors.New("docker: owner must not be empty")
	}
	c.Volumes, c.Host = cmp.Or(c.Volumes, c.Owner), addressOf(c.Host)
	if !c.Publish.IsValid() {
		c.Publish = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}

	switch c.Pull {
	case "":
		c.Pull = PullIfAbsent
	case PullIfAbsent, PullAlways, PullNever:
	default:
		return nil, fmt.Errorf("docker: pull must be %s, %s or %s, and not %q", PullIfAbsent, PullAlways, PullNever, c.Pull)
	}

	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	reserve := reserve
	if c.machine != "" {
		c.Publish, c.ReachHost, reserve = netip.IPv4Unspecified(), false, guess
		c.MeasureGPUs = func(context.Context) ([]byte, error) { return nil, errElsewhere }
	}
	if c.MeasureGPUs == nil {
		c.MeasureGPUs = nvidiaSMI
	}
	engine, err := dial(c.Host, c.certs)
	if err != nil {
		return nil, err
	}

	h := &Runtime{
		config: c, engine: engine, reserve: reserve, ends: ends,
		starts: map[string]*start{}, failed: map[string]runtime.State{}, quiet: map[string]bool{}, samples: map[string]sample{},
	}
	h.renew = func() {}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.work.Go(h.listen)

	return h, nil
}

// Place packs.
func (h *Runtime) Place(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool) {
	return runtime.Pack(rooms)
}

// Ended delivers the ids of allocations whose container ended without Stop or Remove, or could not be started.
func (h *Runtime) Ended() <-chan string { return h.ends.Out() }

// Close leaves every container as it is. What is being started is started by whoever takes it up next.
func (h *Runtime) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
	if h.own {
		h.ends.Close()
	}
	return h.engine.Close()
}

// label filters for what is ours.
func (h *Runtime) label() client.Filters {
	return make(client.Filters).Add("label", labelOwner+"="+h.config.Owner)
}

// ask calls the engine, which should answer at once, and reports when it did not.
func ask[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	short, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	answer, err := f(short)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		err = fmt.Errorf("%w within %s", runtime.ErrUnavailable, callTime)
	}
	return answer, fault(err)
}

// unreached is the error of an engine that cannot be reached. Users read it: the cause, which names the engine's address, is for the log.
type unreached struct{ cause error }

// Error is that of ErrUnavailable.
func (e *unreached) Error() string { return runtime.ErrUnavailable.Error() }

// Unwrap gives ErrUnavailable, too.
func (e *unreached) Unwrap() []error { return []error{runtime.ErrUnavailable, e.cause} }

// whole gives an error for the log: with the cause, if it has one that is not for users.
func whole(err error) error {
	if e, ok := errors.AsType[*unreached](err); ok {
		return e.cause
	}
	return err
}

// fault marks the errors that mean that the engine cannot be reached. What it gives does not name the engine's address.
func fault(err error) error {
	var connection *net.OpError
	var request *url.Error
	switch {
	case err == nil || errors.Is(err, runtime.ErrUnavailable):
		return err
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case client.IsErrConnectionFailed(err), errdefs.IsUnavailable(err), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &connection):
		return &unreached{err}
	case errors.As(err, &request):
		return request.Err
	}
	return err
}

// info gives what the engine says of itself.
func (h *Runtime) info(ctx context.Context) (system.Info, error) {
	h.mu.Lock()
	known := h.known
	h.mu.Unlock()
	if known != nil {
		return *known, nil
	}

	answer, err := ask(ctx, func(ctx context.Context) (client.SystemInfoResult, error) {
		return h.engine.Info(ctx, client.InfoOptions{})
	})
	if err != nil {
		return system.Info{}, err
	}

	h.mu.Lock()
	h.known = &answer.Info
	h.mu.Unlock()
	return answer.Info, nil
}
