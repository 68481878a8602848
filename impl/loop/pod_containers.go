package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// podPids is how many processes and threads a pod may have.
const podPids = 32_768

// labelName shows a person whose container it is.
const labelName = "dev.berth.name"

// active are the statuses in which a pod has, or is to get, a container.
var active = []compute.PodStatus{compute.PodProvisioning, compute.PodStarting, compute.PodRunning}

// list gives the pods that may have something to do: at first everything that there was before, later what the runtime has that it
// should not have.
func (l *Pods) list(ctx context.Context, first bool) ([]compute.PodID, error) {
	if first {
		return l.adopt(ctx)
	}
	return l.review(ctx)
}

// adopt takes up what was there before. It gives everything that the runtime has, also what belongs to a pod
// that is no more, and gives the runtime again what should be up and is not known to it.
func (l *Pods) adopt(ctx context.Context) (all []compute.PodID, err error) {
	ids, err := l.Runtime.List(ctx) // before the pods: a pod is stored before it gets a container
	for _, id := range ids {
		all = append(all, compute.PodID(id))
	}
	err = cmp.Or(err, l.reclaim(ctx, ids))
	pods, readErr := l.withStatus(ctx, active...)
	if err = cmp.Or(err, readErr); err != nil {
		return all, err
	}

	var failed []error
	known := func(p compute.Pod) string {
		if p.Status == compute.PodProvisioning {
			return "" // it has no container yet
		}
		return string(p.ID)
	}
	for p, found := range inspections(ctx, l.Runtime, l.Simulated, pods, known) {
		if p.Status == compute.PodRunning && !l.Simulated { // what is simulated goes on
			l.unseen.add(p.ID)
			l.see(ctx, p.ID, found)
		}
		if err := l.resume(ctx, p, found.err); err != nil {
			failed = append(failed, fmt.Errorf("pod %s: %w", p.ID, err)) // the others need not wait for it
			continue
		}
		all = append(all, p.ID)
	}

	return all, errors.Join(failed...)
}

// review gives every pod of which the runtime has something though it should have nothing, or nothing that is up, and has
// the runtime remove what it made for pods that it has no more.
func (l *Pods) review(ctx context.Context) (all []compute.PodID, err error) {
	ids, err := l.Runtime.List(ctx) // before the pods: a pod is stored before it gets a container
	for _, id := range ids {
		var p compute.Pod
		readErr := l.Store.Read(ctx, func(tx store.Tx) (err error) {
			p, err = tx.Pod(compute.PodID(id))
			return err
		})
		if compute.CodeOf(readErr) == compute.NotFound || readErr == nil && !p.Status.HoldsHost() {
			all = append(all, compute.PodID(id))
		}
	}
	return all, cmp.Or(err, l.Runtime.Sweep(ctx))
}

// reclaim notes what the containers of before have that are up, also those that are to be stopped. One that has ended has nothing any
// more, though its pod's row still says what it had. A container of an earlier run of its pod is ended first: the row says what the
// last run has claimed, which is something else. One that does not end is seen to by the looks at its pod: no look begins before this
// is done, and the other pods are not to wait for it. Simulated ones have nothing that another could want.
func (l *Pods) reclaim(ctx context.Context, ids []string) error {
	if l.Simulated {
		return nil
	}
	pods := make([]compute.Pod, len(ids)) // those that are no more have the zero one
	err := l.Store.Read(ctx, func(tx store.Tx) error {
		for i, id := range ids {
			p, err := tx.Pod(compute.PodID(id))
			if err != nil && compute.CodeOf(err) != compute.NotFound {
				return err
			}
			pods[i] = p
		}
		return nil
	})
	if err != nil {
		return err
	}

	var ends sync.WaitGroup
	runs, left := make([]int64, len(ids)), make([]bool, len(ids)) // what may be up of an earlier run, as far as is known

	var unknown []int // of the others an earlier try has noted it, and there are looks at them
	for i, id := range ids {
		if !l.shared.knows(compute.PodID(id)) {
			unknown = append(unknown, i)
		}
	}
	for i, found := range inspections(ctx, l.Runtime, false, unknown, func(i int) string { return ids[i] }) {
		id, p := compute.PodID(ids[i]), pods[i]
		run, up, err := found.up()
		runs[i] = run
		switch {
		case err != nil:
			left[i] = true
			l.warnOf(ctx, id, "it is not known whether a pod's container is up: it is asked for again", err)
		case up && (p.ID == "" || run != p.Generation()):
			ends.Go(func() { left[i] = !l.endEarlier(ctx, id) })
		case up:
			l.shared.noteUp(p) // no two that are up had the same
		}
	}

	ends.Wait()
	for i, is := range left {
		if is {
			l.shared.keep(compute.PodID(ids[i]), pods[i], runs[i])
		}
	}
	return nil
}

// endEarlier ends a container of an earlier run, if that can be done in the time that it takes at most.
func (l *Pods) endEarlier(ctx context.Context, id compute.PodID) bool {
	ctx, cancel := context.WithTimeout(ctx, stopGrace+5*time.Second)
	defer cancel()
	err := l.stop(ctx, id, stopGrace)
	if err != nil {
		l.warnOf(ctx, id, "a container of an earlier run of a pod does not end: it is tried again", err)
	}
	return err == nil
}

// warnOf logs what went wrong with a pod, unless only the server is being stopped.
func (l *Pods) warnOf(ctx context.Context, id compute.PodID, text string, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		l.Log.Warn(text, "pod", id, "error", err)
	}
}

// up reports whether a pod's container is up, and of which run; with an error, of unknownRun.
func (i inspection) up() (run int64, up bool, err error) {
	switch {
	case errors.Is(i.err, runtime.ErrUnknown): // there is no more of it than its mount
		return 0, false, nil
	case i.err != nil:
		return unknownRun, false, i.err
	}
	return i.state.Generation, i.state.Phase != runtime.Ended, nil
}

// resume starts what should be up and is not known to the runtime, because it ended with the last berth or was being started. err is that
// of its inspection.
func (l *Pods) resume(ctx context.Context, p compute.Pod, err error) error {
	if p.Status == compute.PodProvisioning {
		return nil
	}
	// Its container has that already, perhaps on a host that cannot be reached now, or is started here.
	free := l.Simulated || l.shared.noteUp(p)
	if !errors.Is(err, runtime.ErrUnknown) {
		if err != nil && !errors.Is(err, runtime.ErrUnavailable) {
			l.warnOf(ctx, p.ID, "it is not known how a pod's container is: it is asked for again", err)
		}
		return nil // it is there, or nobody knows, as its host cannot be reached: it is looked at until it can be, or is lost
	}

	if !free || l.shared.inDoubt(p) || l.dropped(p) {
		return nil // a container that is being stopped has its GPU or its address, or its host is no more: its look will find nothing, and say so
	}
	err = l.start(ctx, p)
	if err != nil && !errors.Is(err, runtime.ErrUnavailable) {
		l.Log.Error("pod could not be taken up again", "pod", p.ID, "error", err)
		err = nil // its look will find nothing, and say so
	}
	return err
}

// dropped reports whether the pod's host, which may have had an engine of its own, is not in the fleet any more: what the pod has is there, and a
// container elsewhere would be another one.
func (l *Pods) dropped(p compute.Pod) bool {
	_, engines := l.Runtime.(runtime.Engines)
	return engines && !l.Placement.Has(p.HostID)
}

// place starts the pod's container. A runtime that does not answer is asked again later. If the pod was started again before its
// container was seen to end, perhaps on another host, that is ended first: it has what somebody else claims now, and nobody else would
// end it.
func (l *Pods) place(ctx context.Context, one *podLook) error {
	if l.dropped(one.pod) {
		one.pod.EndedBy = compute.EndedByHost
		return l.fail(one, errors.New(control.LeftReason(one.pod.HostID)))
	}
	if !l.Simulated {
		if l.shared.hasEarlier(one.pod) {
			if err := l.stop(ctx, one.Key, stopGrace); err != nil {
				return err
			}
		}
		if !l.shared.take(one.pod) {
			return nil // a container that is being stopped has its GPU or its address: it waits
		}
	}

	one.pod.StartedAt = time.Time{}
	err := l.start(ctx, one.pod)
	switch {
	case errors.Is(err, runtime.ErrUnavailable) || ctx.Err() != nil:
		return err
	case err != nil:
		return l.fail(one, err)
	}
	return one.move(compute.PodPlaced)
}

func (l *Pods) fail(one *podLook, err error) error {
	l.Log.Warn("pod could not be started", "pod", one.Key, "error", err)
	one.pod.Reason = err.Error()
	return one.move(compute.PodFailed)
}

func (l *Pods) inspect(ctx context.Context, one *podLook) error {
	p := &one.pod
	state, err := l.Runtime.Inspect(ctx, string(p.ID))
	l.see(ctx, p.ID, inspection{state: state, err: err})
	if err == nil {
		l.note(ctx, one, state)
	}

	switch {
	case errors.Is(err, runtime.ErrUnknown):
		one.Memory.usage = usage{}
		p.Reason = gone(l.Placement, p.HostID)
		switch {
		case l.dropped(*p):
			p.Reason, p.EndedBy = control.LeftReason(p.HostID), compute.EndedByHost
		case l.Placement.Away(p.HostID) != "":
			p.EndedBy = compute.EndedByHost
		}
		return one.move(compute.PodFailed)
	case err != nil:
		return err
	case state.Generation != p.Generation():
		return l.replace(ctx, one)
	case state.Phase == runtime.Up && p.Status == compute.PodStarting:
		one.cameUp(state)
		return one.move(compute.PodHealthy)
	case state.Phase == runtime.Starting && p.Status == compute.PodStarting && p.Reason != state.Reason:
		p.Reason = state.Reason // what it waits for
		one.store()
	case state.Phase == runtime.Up && p.StartedAt.UnixMilli() != state.StartedAt.UnixMilli():
		p.StartedAt = state.StartedAt // it was started again with berth
		one.store()
	case state.Phase == runtime.Ended && state.ExitCode == 0:
		return one.move(compute.PodFinished)
	case state.Phase == runtime.Ended:
		p.Reason = reason(state)
		if state.Lost {
			p.EndedBy = compute.EndedByHost
		}
		return one.move(compute.PodFailed)
	}

	return nil
}

// gone says why nobody knows a container any more.
func gone(p *control.Placement, hostID string) string {
	if why := p.Away(hostID); why != "" {
		return "its host " + hostID + " cannot be reached: " + why
	}
	return "its container is gone"
}

// cameUp notes when and where the pod came up.
func (one *podLook) cameUp(state runtime.State) {
	p := &one.pod
	p.StartedAt, p.Reason = state.StartedAt, ""
	if state.HostID != "" {
		p.HostID = state.HostID
	}
}

// reason gives, for people, why a container ended.
func reason(s runtime.State) string {
	if s.StartedAt.IsZero() {
		return cmp.Or(s.Reason, "its container did not come up")
	}
	text := fmt.Sprintf("its container ended with exit code %d", s.ExitCode)
	switch {
	case s.ExitCode == -1 && s.Reason != "": // nobody knows of a code
		text = "its container ended"
	case s.ExitCode == -1:
		text = "its container was ended by a signal"
	}
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text
}

// replace ends a container from before the last start or restart that was asked for, and starts the one that was.
func (l *Pods) replace(ctx context.Context, one *podLook) error {
	if err := l.stop(ctx, one.Key, stopGrace); err != nil {
		return err
	}
	one.Memory.usage = usage{}
	if !l.Simulated && !l.shared.take(one.pod) {
		return nil
	}

	one.pod.StartedAt = time.Time{}
	err := l.start(ctx, one.pod)
	if err == nil || errors.Is(err, runtime.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	return l.fail(one, err)
}

func (l *Pods) stop(ctx context.Context, id compute.PodID, grace time.Duration) error {
	err := l.Runtime.Stop(ctx, string(id), grace)
	if errors.Is(err, runtime.ErrUnknown) {
		err = nil
	}
	if err == nil {
		l.shared.letGo(id)
	}
	return err
}

// remove has the runtime forget a pod that is no more.
func (l *Pods) remove(ctx context.Context, id compute.PodID) error {
	err := l.Runtime.Remove(ctx, string(id))
	if err == nil {
		l.shared.letGo(id)
	}
	return err
}

func (l *Pods) start(ctx context.Context, p compute.Pod) error {
	a, line := allocation(p), ""
	if !l.Simulated {
		env, unknown, err := environmentOf(ctx, l.Secrets, p.UserID, p.Env)
		if err != nil {
			return err
		}
		line = unknown
		a.Env, a.Hostname, a.Facts = env, p.ID.Hostname(), l.facts(p)
		a.Hosts = l.Placement.HostsFor(p)
		limitToShare(&a, l.Placement, p.GPU)
		if a.NetworkGB, err = volumeGB(ctx, l.Store, p.Network); err != nil {
			return err
		}
	}

	if p.RegistryID != "" {
		a.Credential = func(ctx context.Context) (runtime.Credential, error) {
			login, err := l.Login(ctx, p.RegistryID)
			return runtime.Credential{User: login.Username, Password: login.Password}, retried(err)
		}
	}

	err := l.Runtime.Start(ctx, a)
	if err == nil && line != "" { // once for each run, however often its start was tried
		l.say(ctx, p.ID, line)
	}
	return err
}

func allocation(p compute.Pod) runtime.Allocation {
	a := runtime.Allocation{
		ID: string(p.ID), Generation: p.Generation(), Image: p.Image, Args: p.Args, Env: p.Env, Ports: p.Ports,
		DiskGB: p.DiskGB, Pids: podPids, Persistent: p.Persistent, Network: p.Network,
		Labels: map[string]string{labelName: p.Name}, StartedAt: p.StartedAt, HostID: p.HostID, GPUs: gpus(p.GPU, p.Devices),
	}
	if p.Address != 0 {
		a.Link = &runtime.Link{Subnet: p.Address.Subnet(), Address: p.Address.IP(), Name: p.ID.InternalDNS()}
	}
	if p.CPU != nil {
		a.VCPUs, a.MemoryBytes = p.CPU.VCPUCount, p.CPU.MemoryGB<<30
	}
	return a
}

// gpus are those that a pod or worker gets, as its placement has it.
func gpus(g *compute.GPU, devices []string) runtime.GPUs {
	if g == nil {
		return runtime.GPUs{}
	}
	return runtime.GPUs{Type: g.ID, Count: g.Count, Devices: devices}
}

// limitToShare limits what holds GPUs to the vCPUs and the memory that come with them on its host.
func limitToShare(a *runtime.Allocation, at *control.Placement, g *compute.GPU) {
	if g == nil {
		return
	}
	vcpus, memoryGB := at.ShareOf(a.HostID, *g)
	a.VCPUs, a.MemoryBytes = vcpus, memoryGB<<30
}

func (l *Pods) withStatus(ctx context.Context, statuses ...compute.PodStatus) (pods []compute.Pod, err error) {
	err = l.Store.Read(ctx, func(tx store.Tx) error {
		for _, s := range statuses {
			some, err := tx.ListPodsByStatus(s)
			if err != nil {
				return err
			}
			pods = append(pods, some...)
		}
		return nil
	})
	return pods, err
}
