// Package kubernetes is a runtime on which pods and workers are Pods of a Kubernetes cluster. The cluster's scheduler places them, and what
// has no room waits; berth claims nothing of its nodes.
//
// The client is net/http with types of our own: beside it a program with k8s.io/api/core/v1 is 3.5 MB larger and starts 0.8 to 1.5 ms
// later (6.2 and 9.6 MB, stripped).
//
// The cluster is the truth. What a runtime makes carries labels with the owner's name and the id of the allocation, so that the next
// runtime of the same owner finds it. What is asked about allocations is answered from a copy of the owner's Pods, which a watch keeps; a
// copy that was cut off for over 30 seconds answers nothing.
//
//   - Each run of an allocation is a Pod, berth-<id>-<generation>. A finalizer keeps it, with how it ended, until Remove or the next Start:
//     whoever deletes it, berth, kubectl, a drain or the loss of its node. Who deletes a namespace has to remove berth's allocations first.
//   - The container disk is the Pod's ephemeral storage. A persistent mount is a volume claim of the allocation, ReadWriteOnce; a network
//     volume is one that is shared, ReadWriteMany.
//   - Ports are those of a Service of the allocation, which exists from the start until Stop or Remove. HTTP ports are published likewise.
//   - The environment is in a Secret of the run, and so is the credential of the registry.
//   - GPUs are those of a device plugin, which counts them: a GPU type is that of the nodes whose product label names it; see
//     compute.SameGPU. Or, where a class of devices is set, they are devices of dynamic resource allocation: a run has a claim for so many of
//     the class that are the product, and the driver's ResourceSlices say which a node has. Which devices the scheduler gave is not read back.
//   - The logs are those of the present run, and their lines do not say which stream they were written to. The cluster removes those of a
//     Pod that was deleted, by Stop too.
//   - Kubernetes limits processes for each node, and not for a Pod; its times of starts and ends are whole seconds.
//   - Networks among pods are refused.
package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// The labels of what is made here. The names of annotations begin likewise.
const (
	labelOwner      = "berth.dev/owner"
	labelAllocation = "berth.dev/allocation"
	labelGeneration = "berth.dev/generation"
	labelVolume     = "berth.dev/volume" // the id of a network volume

	annotationPorts  = "berth.dev/ports"  // as asked for, with commas between
	annotationGPUs   = "berth.dev/gpus"   // how many the Pod's device claim asks for
	annotationAsked  = "berth.dev/asked"  // when, as askedForm has it
	annotationReason = "berth.dev/reason" // why berth ended it; empty: it was asked to
	annotationLabels = "labels.berth.dev/"

	finalizer = "berth.dev/end"
)

// askedForm is how times are written in annotations.
const askedForm = "2006-01-02T15:04:05.000Z07:00"

// containerName is that of the one container of a Pod.
const containerName = "main"

var (
	_ runtime.Runtime      = (*Runtime)(nil)
	_ runtime.HostReporter = (*Runtime)(nil)
)

// ServiceType is how ports are published.
type ServiceType string

// The types of services.
const (
	NodePort     ServiceType = "NodePort"
	LoadBalancer ServiceType = "LoadBalancer"
)

// PullPolicy says when an image is pulled.
type PullPolicy string

// The pull policies, as Kubernetes calls them.
const (
	PullIfAbsent PullPolicy = "IfNotPresent"
	PullAlways   PullPolicy = "Always"
	PullNever    PullPolicy = "Never"
)

// What Config has where it says nothing.
const (
	DefaultGPUResource = "nvidia.com/gpu"
	DefaultGPULabel    = "nvidia.com/gpu.product"
	DefaultGPUDriver   = "gpu.nvidia.com"
	DefaultZoneLabel   = "topology.kubernetes.io/zone"
	DefaultPullTimeout = 10 * time.Minute
	DefaultVolumeGB    = 100
)

// Config is what a runtime is made of.
type Config struct {
	Owner       string // whose Pods they are; only one runtime of an owner may be open
	VolumeOwner string // whose network volumes they are; empty: Owner

	File      string // a kubeconfig; empty: that of KUBECONFIG, the service account of berth's own Pod, or ~/.kube/config
	Context   string // in the kubeconfig; empty: its current one
	Namespace string // empty: that of the context or of berth's own Pod

	StorageClass string        // of volume claims; empty: the cluster's default
	VolumeGB     int64         // that the claim of a network volume asks for whose size is not known; 0: DefaultVolumeGB
	Service      ServiceType   // empty: NodePort
	GPUResource  string        // of which a GPU is one; empty: DefaultGPUResource
	GPULabel     string        // of nodes, which names their GPUs; empty: DefaultGPULabel
	GPUClass     string        // the DeviceClass of which GPUs are claimed; empty: a device plugin gives them
	GPUDriver    string        // with GPUClass: whose ResourceSlices have the GPUs of nodes; empty: DefaultGPUDriver
	ZoneLabel    string        // of nodes, which names their data center; empty: DefaultZoneLabel
	Pull         PullPolicy    // empty: PullIfAbsent
	PullTimeout  time.Duration // for how long a container that cannot be made is tried again; 0: DefaultPullTimeout

	// AllowNewPrivileges lets programs gain privileges that who starts them has not: by sudo and the like.
	AllowNewPrivileges bool

	Clock compute.Clock // for pauses and bounds; it must run
	Log   *slog.Logger  // nil: silent
}

// Runtime runs allocations as Pods.
type Runtime struct {
	config Config
	client *client
	inside bool            // berth runs in the cluster, and reaches the addresses of Pods
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	ends   *runtime.Ends
	locks  runtime.Locks
	hosts  chan struct{} // has a hint if hosts have changed
	kick   chan struct{} // has a hint if a Pod will never come up

	pods     *reflector[pod]
	nodes    *reflector[node]
	services *reflector[service]
	devices  *reflector[resourceSlice] // nil without a class of devices

	cache
}

// New makes a runtime. The cluster need not answer yet. The error says why it is not known which one is meant.
func New(c Config) (*Runtime, error) {
	found, err := source{file: c.File, context: c.Context, namespace: c.Namespace}.load()
	if err != nil {
		return nil, err
	}
	return open(c, found)
}

// open makes a runtime of a cluster.
func open(c Config, found credentials) (*Runtime, error) {
	if c.Owner == "" {
		return nil, errors.New("kubernetes: owner must not be empty")
	}
	c.VolumeOwner = cmp.Or(c.VolumeOwner, c.Owner)
	c.Service, c.Pull = cmp.Or(c.Service, NodePort), cmp.Or(c.Pull, PullIfAbsent)
	c.GPUResource, c.GPULabel = cmp.Or(c.GPUResource, DefaultGPUResource), cmp.Or(c.GPULabel, DefaultGPULabel)
	c.GPUDriver = cmp.Or(c.GPUDriver, DefaultGPUDriver)
	c.ZoneLabel, c.PullTimeout = cmp.Or(c.ZoneLabel, DefaultZoneLabel), cmp.Or(c.PullTimeout, DefaultPullTimeout)
	c.VolumeGB = cmp.Or(c.VolumeGB, DefaultVolumeGB)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}

	h := &Runtime{
		config: c, client: newClient(found, c.Clock), inside: found.inside, ends: runtime.NewEnds(), hosts: make(chan struct{}, 1), kick: make(chan struct{}, 1),
		cache: newCache(),
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	mine := labelOwner + "=" + c.Owner
	h.pods = newReflector(h, h.client.path(pods), mine, h.replacePods, h.changePod)
	h.services = newReflector(h, h.client.path(services), mine, h.replaceServices, h.changeService)
	h.nodes = newReflector(h, nodesPath, "", h.replaceNodes, h.changeNode)

	h.work.Go(func() { h.pods.run(h.ctx) })
	h.work.Go(func() { h.services.run(h.ctx) })
	h.work.Go(func() { h.nodes.run(h.ctx) })
	if c.GPUClass != "" {
		h.devices = newReflector(h, slicesPath, "", h.replaceSlices, h.changeSlice)
		h.work.Go(func() { h.devices.run(h.ctx) })
	}
	h.work.Go(h.watchOver)
	return h, nil
}

// nodesPath is that of the nodes, which are in no namespace.
const nodesPath = "/api/v1/nodes"

func newReflector[T any, P interface {
	*T
	object
}](h *Runtime, path, selector string, replaced func([]T, string), changed func(string, *T)) *reflector[T] {
	return &reflector[T]{
		client: h.client, clock: h.config.Clock, log: h.config.Log, path: path, selector: selector, replaced: replaced, changed: changed,
		versions: func(one *T) string { return P(one).head().ResourceVersion }, first: make(chan struct{}),
	}
}

// ready waits until there is a first copy of what is in the cluster, and gives ErrUnavailable if there is none, or if it is stale.
func (h *Runtime) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	firsts := []<-chan struct{}{h.pods.first, h.services.first, h.nodes.first}
	if h.devices != nil {
		firsts = append(firsts, h.devices.first)
	}
	for _, first := range firsts {
		select {
		case <-first:
			continue
		default:
		}

		select {
		case <-first:
		case <-short.Done():
			return cmp.Or(ctx.Err(), fmt.Errorf("%w within %s", runtime.ErrUnavailable, callTime))
		case <-h.ctx.Done():
			return errClosed
		}
	}

	ok, cause := h.pods.known()
	switch {
	case ok:
		return nil
	case cause == nil:
		return fmt.Errorf("%w: the watch on Pods was cut", runtime.ErrUnavailable)
	case errors.Is(cause, runtime.ErrUnavailable):
		return cause
	}
	return fmt.Errorf("%w: %w", runtime.ErrUnavailable, cause)
}

// Place packs. It is not asked: the cluster's scheduler places.
func (h *Runtime) Place(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool) {
	return runtime.Pack(rooms)
}

// Ended delivers the ids of allocations whose Pod ended, or was deleted by somebody else, without Stop or Remove.
func (h *Runtime) Ended() <-chan string { return h.ends.Out() }

// Close leaves every Pod as it is.
func (h *Runtime) Close() error {
	h.cancel()
	h.work.Wait()
	h.ends.Close()
	h.client.close()
	return nil
}

// Ping reports whether the API server answers.
func (h *Runtime) Ping(ctx context.Context) error {
	return h.client.do(ctx, call{what: "get the version", method: http.MethodGet, path: "/version"}, nil)
}
