package why

import (
	"cmp"
	"fmt"

	"github.com/berthdev/berth/impl/compute"
)

// podFacts is what is known of a pod.
type podFacts struct {
	pod    compute.Pod
	behind string   // why the last look at it failed; empty: it did not
	away   string   // why its host is not used; empty: it is, or nobody knows
	log    []string // the last that berth said of it
}

// answer gives why the pod does not go on, or that it does.
func (f *podFacts) answer() (a Answer) {
	p := &f.pod
	switch {
	case p.Status.HoldsHost() && f.away != "":
		a = Answer{
			Waits: true, Reason: HostSilent, Because: fmt.Sprintf("its host %s is not in use: %s", p.HostID, first(f.away)),
			Helps: "see to the host: after --engine-timeout its pods are ERROR, and can be started elsewhere",
		}
	case p.Status.HoldsHost() && f.behind != "":
		a = Answer{
			Waits: true, Reason: Behind, Because: fmt.Sprintf("what is to be done with the pod, which is %s, fails and is tried again: %s", p.Status, first(f.behind)),
			Helps: "see to what it runs on: berth doctor says whether it answers",
		}
	case p.Status == compute.PodProvisioning:
		a = Answer{
			Waits: true, Reason: Starting, Because: fmt.Sprintf("the pod has its place on host %s, and its container is about to be made", p.HostID),
			Helps: "a container that is still being stopped there, and has the same GPU or address, comes first",
		}
	case p.Status == compute.PodStarting:
		a = f.starting()
	case p.Status == compute.PodRunning:
		a = Answer{Reason: Running, Because: fmt.Sprintf("the pod is RUNNING since %s on host %s", stamp(p.StartedAt), p.HostID)}
		a.Details.Ports = p.HTTPPorts()
	default:
		a = f.ended()
	}

	a.Since, a.Details.Host, a.Details.Lines = p.MovedAt, p.HostID, f.log
	return a
}

func (f *podFacts) starting() Answer {
	a := Answer{
		Waits: true, Reason: Starting, Because: "its container is being started, and is not up yet",
		Helps: "its image is pulled first if its host does not have it",
	}
	if f.pod.Reason != "" {
		a.Because += ": it waits for this: " + first(f.pod.Reason)
		a.Helps = "see to what it waits for"
	}
	return a
}

// ended is of a pod that has no container.
func (f *podFacts) ended() Answer {
	p := &f.pod
	a := Answer{Waits: true, Because: fmt.Sprintf("the pod is %s", p.Status), Helps: fmt.Sprintf(`start it again: berth pods start %s`, p.ID)}
	said := func(reason Reason, because string) {
		a.Reason = reason
		a.Because += ": " + because
	}

	switch p.EndedBy {
	case compute.EndedByUser:
		said(Stopped, "a user stopped it")
	case compute.EndedByTimer:
		said(TimedStop, first(p.Reason))
	case compute.EndedByInterruption:
		said(Interrupted, fmt.Sprintf("its room was taken away, as may happen to a pod with a bid of %g USD an hour for a GPU", p.BidPerGPU))
		a.Helps += ", or make one that is not interruptible"
	case compute.EndedByHost:
		said(HostLost, first(p.Reason))
	case compute.EndedByFailure:
		f.failed(&a, said)
	default:
		said(Exited, cmp.Or(first(p.Reason), "its container ended by itself, with exit code 0"))
	}
	return a
}

// failed tells a container that never came up from one that ended.
func (f *podFacts) failed(a *Answer, said func(Reason, string)) {
	p := &f.pod
	if p.StartedAt.IsZero() {
		said(NotStarted, "its container could not be started: "+cmp.Or(first(p.Reason), "nobody knows why"))
		a.Helps = fmt.Sprintf("see to its image %s, its registry credential and its settings, then start it again: berth pods start %s", p.Image, p.ID)
		return
	}
	said(Failed, cmp.Or(first(p.Reason), "its container ended"))
	a.Helps = fmt.Sprintf("berth pods logs %s shows what it wrote; then start it again: berth pods start %s", p.ID, p.ID)
}
