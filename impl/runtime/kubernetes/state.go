package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// The phases of a Pod in which it has ended.
const (
	phaseSucceeded = "Succeeded"
	phaseFailed    = "Failed"
)

// The types of conditions that are read, and the status that means that one holds.
const (
	conditionScheduled  = "PodScheduled"
	conditionDisruption = "DisruptionTarget"
	conditionReadyFor   = "PodReadyToStartContainers" // of nodes from Kubernetes 1.29 on
	conditionReady      = "Ready"                     // of a node
	isTrue              = "True"
	isFalse             = "False"
)

// For how long after its grace a Pod whose node does not answer may be deleted, until that node is taken for lost: blindBound where nobody
// knows whether the node answers.
const (
	lostBound  = 10 * time.Second
	blindBound = 2 * time.Minute
)

// Inspect answers from the cache.
func (h *Runtime) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if err := h.ready(ctx); err != nil {
		return runtime.State{}, err
	}
	_, s, err := h.find(id)
	return s, err
}

// state reports how the Pod is. The caller has the lock.
func (h *Runtime) state(e *entry) runtime.State {
	p, c := e.pod, mainOf(e.pod)
	s := runtime.State{Phase: runtime.Starting, Generation: generation(p), HostID: p.Spec.NodeName}
	switch {
	case c.Running != nil:
		s.Phase, s.StartedAt = runtime.Up, precise(c.Running.StartedAt.UTC(), p)
	case c.Terminated != nil:
		s.ExitCode, s.OOM = c.Terminated.ExitCode, c.Terminated.Reason == "OOMKilled"
		s.StartedAt, s.EndedAt = precise(begun(c.Terminated.StartedAt), p), begun(c.Terminated.FinishedAt)
	}

	if e.over || h.isOver(p) {
		s.Phase, s.Reason = runtime.Ended, h.endReason(e)
		if c.Terminated == nil || s.StartedAt.IsZero() {
			s.ExitCode = -1
		}
		s.Lost = c.Terminated == nil && (e.lost || !e.over && h.isLost(p) || s.Reason == lostReason(s.HostID))
		return s
	}
	if s.Phase == runtime.Up {
		s.Ports = h.published(p)
		return s
	}
	s.Reason, s.Fetching = waitReason(p), isFetching(p)
	return s
}

// isFetching reports whether the Pod has all on its node that its container takes but the image, which is pulled.
func isFetching(p *pod) bool {
	w := mainOf(p).Waiting
	return w != nil && w.Reason == "ContainerCreating" && conditionOf(p.Status.Conditions, conditionReadyFor).Status == isTrue
}

// precise gives the time of a start, which the API has in whole seconds, as far as more is known of it: it was not before somebody asked for
// it. So two runs within a second have two times.
func precise(at time.Time, p *pod) time.Time {
	asked, err := time.Parse(askedForm, p.Metadata.Annotations[annotationAsked])
	if err == nil && !at.IsZero() && asked.After(at) && asked.Sub(at) < time.Second {
		return asked.UTC()
	}
	return at
}

// begun is a time of a start or an end; a container that could not be started has those of 1970.
func begun(at time.Time) time.Time {
	if at.Unix() <= 0 {
		return time.Time{}
	}
	return at.UTC()
}

// mainOf is the state of the one container.
func mainOf(p *pod) containerState {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == containerName {
			return c.State
		}
	}
	return containerState{}
}

// isOver reports whether the Pod has ended. The caller has the lock.
func (h *Runtime) isOver(p *pod) bool {
	switch {
	case p.Status.Phase == phaseSucceeded, p.Status.Phase == phaseFailed, mainOf(p).Terminated != nil, isForced(p):
		return true
	}
	return h.isLost(p)
}

// isDeleted reports whether somebody has asked to delete the Pod.
func isDeleted(p *pod) bool { return !p.Metadata.DeletionTimestamp.IsZero() }

// isLost reports whether the node of the Pod is gone; or does not answer, and the Pod should have ended. The caller has the lock.
func (h *Runtime) isLost(p *pod) bool {
	name := p.Spec.NodeName
	if name == "" {
		return false
	}
	if h.lost[name] {
		return true
	}
	if !isDeleted(p) {
		return false
	}
	overdue := h.config.Clock.Wall().Sub(p.Metadata.DeletionTimestamp)
	return overdue > lostBound && !h.answers(name) || overdue > blindBound && h.isBlind()
}

// isBlind reports whether berth may not read the nodes.
func (h *Runtime) isBlind() bool {
	ok, cause := h.nodes.known()
	return !ok && answered(cause, http.StatusForbidden)
}

// answers reports whether the node is not known to be silent. The caller has the lock.
func (h *Runtime) answers(name string) bool {
	n := h.known[name]
	return !h.lost[name] && (n == nil || conditionOf(n.Status.Conditions, conditionReady).Status == isTrue)
}

func conditionOf(all []condition, kind string) condition {
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}
	return condition{}
}

// obstacle is why a container cannot be made.
type obstacle struct {
	reason string
	final  bool // it stays so
}

// obstacleOf reports why the Pod's container cannot be made; ok is false if nothing is the matter.
func obstacleOf(p *pod) (o obstacle, ok bool) {
	w := mainOf(p).Waiting
	if w == nil || len(p.Spec.Containers) == 0 {
		return o, false
	}
	image := p.Spec.Containers[0].Image
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed":
		return obstacle{reason: detailed(fmt.Sprintf("image %q cannot be pulled", image), w.Message)}, true
	case "ErrImageNeverPull":
		return obstacle{reason: fmt.Sprintf("image %q is not on node %s, and images are not pulled", image, p.Spec.NodeName), final: true}, true
	case "InvalidImageName":
		return obstacle{reason: fmt.Sprintf("image %q: this is no name of an image", image), final: true}, true
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return obstacle{reason: detailed(fmt.Sprintf("its container of image %q cannot be made on node %s", image, p.Spec.NodeName), w.Message)}, true
	}
	return o, false
}

// waitReason reports what a Pod waits for that is not up; empty if nothing is the matter.
func waitReason(p *pod) string {
	if o, ok := obstacleOf(p); ok {
		return o.reason
	}
	if c := conditionOf(p.Status.Conditions, conditionScheduled); c.Status == isFalse {
		return clean(cmp.Or(c.Message, c.Reason))
	}
	return ""
}

// endReason reports why a Pod has ended, if more is known than its exit code. The caller has the lock.
func (h *Runtime) endReason(e *entry) string {
	p := e.pod
	if reason, has := p.Metadata.Annotations[annotationReason]; has {
		return reason
	}
	if reason := statusReason(p); reason != "" {
		return reason
	}
	name, ended := p.Spec.NodeName, mainOf(p).Terminated
	switch c := conditionOf(p.Status.Conditions, conditionDisruption); {
	case ended == nil && (e.lost || c.Reason == "DeletionByPodGC"):
		return lostReason(name)
	case c.Status != isTrue:
	case c.Reason == "PreemptionByScheduler":
		return fmt.Sprintf("it had to make room on node %s for something of a higher priority", name)
	case c.Reason == "DeletionByTaintManager" && !h.answers(name):
		return lostReason(name)
	default: // EvictionByEvictionAPI and the like
		return detailed(fmt.Sprintf("it was evicted from node %s", name), c.Message)
	}

	switch {
	case ended != nil && ended.Reason == "OOMKilled":
		return "it used more memory than it may"
	case ended != nil && begun(ended.StartedAt).IsZero():
		return detailed(fmt.Sprintf("its program cannot be started on node %s", name), ended.Message)
	case ended != nil && ended.Reason == "ContainerStatusUnknown":
		return detailed(fmt.Sprintf("node %s does not know any more how it ended", name), ended.Message)
	case isDeleted(p) && (ended == nil || !ended.FinishedAt.Before(askedAt(p))):
		return "it was deleted in the cluster, and not by berth"
	}
	return ""
}

// statusReason reports why the node or the cluster ended a Pod.
func statusReason(p *pod) string {
	name, message := p.Spec.NodeName, p.Status.Message
	switch reason := p.Status.Reason; reason {
	case "":
		return ""
	case "Evicted":
		return detailed(fmt.Sprintf("node %s evicted it", name), message)
	case "DeadlineExceeded":
		return detailed("it ran for longer than it may", message)
	case "NodeLost":
		return lostReason(name)
	case "Preempting", "Preempted":
		return fmt.Sprintf("it had to make room on node %s for something of a higher priority", name)
	case "Shutdown", "NodeShutdown", "Terminated":
		return fmt.Sprintf("node %s was shut down", name)
	default:
		return detailed(fmt.Sprintf("node %s refused it: %s", name, reason), message)
	}
}

func lostReason(name string) string { return fmt.Sprintf("its node %s was lost", name) }

// askedAt is when somebody asked to delete the Pod.
func askedAt(p *pod) time.Time {
	at := p.Metadata.DeletionTimestamp
	if grace := p.Metadata.DeletionGrace; grace != nil {
		at = at.Add(-time.Duration(*grace) * time.Second)
	}
	return at
}

// detailed adds what the cluster says.
func detailed(text, message string) string {
	if message = clean(message); message == "" {
		return text
	}
	return text + ": " + message
}

// mostMessage is how many bytes of what the cluster says are passed on.
const mostMessage = 400

// Parts of URLs that may hold secrets: a user and password, and what follows the path.
var (
	userPart  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s"@]*@`) })
	queryPart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\?[^\s"']*`) })
)

// clean makes a message of the cluster fit for people: on one line, not too long, and without secrets of URLs.
func clean(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	message = queryPart().ReplaceAllString(userPart().ReplaceAllString(message, "://"), "")
	if len(message) > mostMessage {
		message = strings.ToValidUTF8(message[:mostMessage], "") + "…"
	}
	return message
}
