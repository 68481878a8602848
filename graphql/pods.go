package graphql

import (
	"cmp"
	"context"
	"errors"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// Pod is the query pod.
func (q queries) Pod(ctx context.Context, input *graph.PodFilter) (*graph.Pod, error) {
	if input == nil {
		return nil, nil //nolint:nilnil // there is none without an id
	}
	id := compute.PodID(value(input.PodID))
	pod, err := q.Control.GetPod(ctx, owner(ctx, id, compute.ScopeGraphQLRead), id)
	if err == nil {
		err = reserve(ctx, q.Answers, podSettings(pod).bytes(true), "read this one with GET /v2/pods/"+string(id))
	}
	return found(q.show(ctx)(pod, err))
}

// PodFindAndDeployOnDemand is the mutation of that name.
func (m mutations) PodFindAndDeployOnDemand(ctx context.Context, input *graph.PodFindAndDeployOnDemandInput) (*graph.Pod, error) {
	if input == nil {
		input = &graph.PodFindAndDeployOnDemandInput{}
	}
	n, types, clouds, err := gpuPod(input)
	if err == nil {
		n, err = m.complete(ctx, n)
	}
	if err == nil {
		n, err = m.Control.Choose(ctx, user(ctx), n, types, clouds)
	}
	if err != nil {
		return nil, err
	}
	return m.create(ctx, n, noInstances)
}

// PodRentInterruptable is the mutation podRentInterruptable.
func (m mutations) PodRentInterruptable(ctx context.Context, input graph.PodRentInterruptableInput) (*graph.Pod, error) {
	n, types, clouds, err := interruptiblePod(input)
	if err == nil {
		n, err = m.complete(ctx, n)
	}
	if err == nil {
		n, err = m.Control.Choose(ctx, user(ctx), n, types, clouds)
	}
	if err != nil {
		return nil, err
	}
	return m.create(ctx, n, noSpotInstances)
}

// DeployCPUPod is the mutation deployCpuPod.
func (m mutations) DeployCPUPod(ctx context.Context, input graph.DeployCPUPodInput) (*graph.Pod, error) {
	n, err := cpuPod(input, m.Control.SmallestCPU())
	if err == nil {
		n, err = m.complete(ctx, n)
	}
	if err != nil {
		return nil, err
	}
	return m.create(ctx, n, noInstances)
}

// create makes a pod for which the answer has room. full is what clients look for when no host has.
func (m mutations) create(ctx context.Context, n control.NewPod, full string) (*graph.Pod, error) {
	if err := m.reserveNew(ctx, n, 1, selected(ctx, "env"), "make this one with POST /v2/pods"); err != nil {
		return nil, err
	}
	pod, err := m.Control.CreatePod(ctx, user(ctx), n)
	return m.show(ctx)(pod, inWords(err, full))
}

// reserveNew counts so many pods with what is asked for, before they are made: one that is refused has made none. Errors as for reserve.
func (m mutations) reserveNew(ctx context.Context, n control.NewPod, pods int, env bool, instead string) error {
	bytes := settings{name: n.Name, image: n.Image, args: n.Args, ports: n.Ports, env: n.Env}.bytes(env)
	if env && value(n.StartSSH) {
		keys, err := m.Control.PublicKeys(ctx, user(ctx))
		if err != nil {
			return err
		}
		bytes += len(keys)
	}
	return reserve(ctx, m.Answers, pods*bytes, instead)
}

// complete fills in what the template has. The name of a pod without one is its image.
func (m mutations) complete(ctx context.Context, n control.NewPod) (control.NewPod, error) {
	n, err := m.Control.FromTemplate(ctx, user(ctx), n)
	if err != nil {
		return n, err
	}
	n.Name = cmp.Or(n.Name, n.Image)
	var bad violations
	bad.must(n.Image != "", "imageName", "is required")
	return n, bad.err()
}

// PodResume is the mutation podResume.
func (m mutations) PodResume(ctx context.Context, input graph.PodResumeInput) (*graph.Pod, error) {
	if err := refused([]refusal{{"syncMachine", value(input.SyncMachine)}}); err != nil {
		return nil, err
	}
	var bad violations
	versions, _ := cudaVersions(&bad, input.AllowedCudaVersions, nil, nil)
	if err := bad.err(); err != nil {
		return nil, err
	}
	r := control.Resume{GPUs: input.GpuCount, CUDAVersions: versions}
	if input.ComputeType != nil {
		r.OnGPUs = yes(*input.ComputeType == graph.ComputeTypeGpu)
	}
	return m.resume(ctx, compute.PodID(input.PodID), r)
}

// PodBidResume is the mutation podBidResume.
func (m mutations) PodBidResume(ctx context.Context, input graph.PodBidResumeInput) (*graph.Pod, error) {
	var bad violations
	bad.must(input.BidPerGpu > 0, "bidPerGpu", "must be > 0")
	if err := bad.err(); err != nil {
		return nil, err
	}
	return m.resume(ctx, compute.PodID(input.PodID), control.Resume{GPUs: &input.GpuCount, BidPerGPU: input.BidPerGpu})
}

func (m mutations) resume(ctx context.Context, id compute.PodID, r control.Resume) (*graph.Pod, error) {
	if err := m.reserveStored(ctx, user(ctx), id); err != nil {
		return nil, err
	}
	pod, err := m.Control.ResumePod(ctx, user(ctx), id, r)
	return m.show(ctx)(pod, inWords(err, noGPUs))
}

// What clients look for when no host has room.
const (
	noInstances     = "There are no longer any instances available with the requested specifications. Please refresh and try again."
	noSpotInstances = "There are no longer any instances available with the request specifications. Please try again later."
	noGPUs          = "There are not enough free GPUs on the host machine to start this pod."
)

// inWords puts the words that clients look for before the refusal for want of room, and those of the SDK from 2.0 on into it, which tries the
// next choice of hardware only then.
func inWords(err error, words string) error {
	if own, ok := errors.AsType[*compute.Error](err); ok && errors.Is(err, control.ErrFull) {
		return &compute.Error{Code: own.Code, Detail: words + " (out of stock: " + own.Detail + ")", Cause: err}
	}
	return err
}

// PodStop is the mutation podStop.
func (m mutations) PodStop(ctx context.Context, input graph.PodStopInput) (*graph.Pod, error) {
	if err := refused([]refusal{{"incrementVersion", value(input.IncrementVersion)}}); err != nil {
		return nil, err
	}
	return m.act(ctx, compute.PodID(input.PodID), compute.PodStop)
}

// PodRestart is the mutation podRestart.
func (m mutations) PodRestart(ctx context.Context, input graph.PodRestartInput) (*graph.Pod, error) {
	return m.act(ctx, compute.PodID(input.PodID), compute.PodRestart)
}

// PodTerminate is the mutation podTerminate. A client compares the words for a pod that does not exist (rule
// graphql.terminate.unknown).
func (m mutations) PodTerminate(ctx context.Context, input graph.PodTerminateInput) (*bool, error) {
	id := compute.PodID(input.PodID)
	err := m.Control.DeletePod(ctx, owner(ctx, id, compute.ScopeGraphQLWrite), id)
	if compute.CodeOf(err) == compute.NotFound {
		err = compute.Errorf(compute.NotFound, "pod not found to terminate")
	}
	return nil, err
}

// PodEditJob is the mutation podEditJob.
func (m mutations) PodEditJob(ctx context.Context, input graph.PodEditJobInput) (*graph.Pod, error) {
	id := compute.PodID(input.PodID)
	pod, err := m.Control.GetPod(ctx, user(ctx), id)
	if err != nil {
		return nil, err
	}
	change, err := podChange(input)
	if err != nil {
		return nil, err
	}
	after := podSettings(pod).with(change.Image, change.Args, change.Ports, change.Env)
	if err := reserve(ctx, m.Answers, after.bytes(selected(ctx, "env")), "change this one with PATCH /v2/pods/"+input.PodID); err != nil {
		return nil, err
	}
	return m.show(ctx)(m.Control.UpdatePod(ctx, user(ctx), id, change))
}

func (m mutations) act(ctx context.Context, id compute.PodID, action compute.PodEvent) (*graph.Pod, error) {
	of := owner(ctx, id, compute.ScopeGraphQLWrite)
	if err := m.reserveStored(ctx, of, id); err != nil {
		return nil, err
	}
	return m.show(ctx)(m.Control.ActOnPod(ctx, of, id, action))
}

// reserveStored counts a pod before something is done with it: where that is refused, nothing was done. Errors as for reserve, and NotFound as for
// GetPod.
func (m mutations) reserveStored(ctx context.Context, of compute.UserID, id compute.PodID) error {
	pod, err := m.Control.GetPod(ctx, of, id)
	if err != nil {
		return err
	}
	return reserve(ctx, m.Answers, podSettings(pod).bytes(selected(ctx, "env")), "do this one with POST /v2/pods/"+string(id)+"/action")
}

// show gives the view of what a use case gave, with the environment only if that is asked for: it is counted only then.
func (s Services) show(ctx context.Context) func(compute.Pod, error) (*graph.Pod, error) {
	return func(p compute.Pod, err error) (*graph.Pod, error) {
		if err != nil {
			return nil, err
		}
		if !selected(ctx, "env") {
			p.Env = nil
		}
		return s.podView(p, s.Clock.Wall(), hostOf(ctx)), nil
	}
}
