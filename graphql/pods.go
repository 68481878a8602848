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
		err = counted(ctx, q.Answers, "/v2/pods/"+string(id), pod.Env, pod.Args)
	}
	return found(q.show(pod, err))
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

	pod, err := m.Control.CreatePod(ctx, user(ctx), n)
	return m.show(pod, inWords(err, noInstances))
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

	pod, err := m.Control.CreatePod(ctx, user(ctx), n)
	return m.show(pod, inWords(err, noSpotInstances))
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
	pod, err := m.Control.CreatePod(ctx, user(ctx), n)
	return m.show(pod, inWords(err, noInstances))
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
	pod, err := m.Control.ResumePod(ctx, user(ctx), compute.PodID(input.PodID), r)
	return m.show(pod, inWords(err, noGPUs))
}

// PodBidResume is the mutation podBidResume.
func (m mutations) PodBidResume(ctx context.Context, input graph.PodBidResumeInput) (*graph.Pod, error) {
	var bad violations
	bad.must(input.BidPerGpu > 0, "bidPerGpu", "must be > 0")
	if err := bad.err(); err != nil {
		return nil, err
	}
	r := control.Resume{GPUs: &input.GpuCount, BidPerGPU: input.BidPerGpu}
	pod, err := m.Control.ResumePod(ctx, user(ctx), compute.PodID(input.PodID), r)
	return m.show(pod, inWords(err, noGPUs))
}

// What clients look for when no host has room.
const (
	noInstances     = "There are no longer any instances available with the requested specifications. Please refresh and try again."
	noSpotInstances = "There are no longer any instances available with the request specifications. Please try again later."
	noGPUs          = "There are not enough free GPUs on the host machine to start this pod."
)

// inWords puts the words that clients look for before the refusal for want of room.
func inWords(err error, words string) error {
	if own, ok := errors.AsType[*compute.Error](err); ok && errors.Is(err, control.ErrFull) {
		return &compute.Error{Code: own.Code, Detail: words + " (" + own.Detail + ")", Cause: err}
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
	change, err := podChange(pod, input)
	if err != nil {
		return nil, err
	}
	return m.show(m.Control.UpdatePod(ctx, user(ctx), id, change))
}

func (m mutations) act(ctx context.Context, id compute.PodID, action compute.PodEvent) (*graph.Pod, error) {
	return m.show(m.Control.ActOnPod(ctx, owner(ctx, id, compute.ScopeGraphQLWrite), id, action))
}

// show gives the view of what a use case gave.
func (s Services) show(p compute.Pod, err error) (*graph.Pod, error) {
	if err != nil {
		return nil, err
	}
	return s.podView(p, s.Clock.Wall()), nil
}
