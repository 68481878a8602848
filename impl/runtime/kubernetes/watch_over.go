package kubernetes

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// The time between two looks of watchOver.
const (
	leastTick = 50 * time.Millisecond
	mostTick  = 2 * time.Second
)

// watchOver ends what has ended by the time alone, until Close: Pods whose container cannot be made for too long or will never be,
// and those that are lost with a node that berth never saw.
func (h *Runtime) watchOver() {
	tick := min(mostTick, max(leastTick, h.config.PullTimeout/4))
	for h.ctx.Err() == nil {
		after, stop := h.config.Clock.After(tick)
		select {
		case <-after:
		case <-h.kick:
		case <-h.ctx.Done():
		}
		stop()
		h.look()
	}
}

// look looks at every Pod once.
func (h *Runtime) look() {
	stuck, strays := map[*pod]string{}, map[string]bool{}
	h.mu.Lock()
	h.judgeOn("")
	for _, e := range h.entries {
		if e.over {
			continue
		}
		o, is := obstacleOf(e.pod)
		if is && !isDeleted(e.pod) && (o.final || h.config.Clock.Now().Sub(e.stuck) > h.config.PullTimeout) {
			stuck[e.pod] = o.reason
		}
		if name := e.pod.Spec.NodeName; name != "" && h.known[name] == nil {
			strays[name] = true
		}
	}
	h.mu.Unlock()

	for p, reason := range stuck {
		if err := h.giveUp(p, reason); err != nil && h.ctx.Err() == nil {
			h.config.Log.Warn("a Pod that cannot come up could not be ended: berth tries again", "pod", p.Metadata.Name, "error", err)
		}
	}
	if ok, _ := h.nodes.known(); ok {
		for name := range strays {
			h.seek(name)
		}
	}
}

// giveUp ends a Pod that does not come up.
func (h *Runtime) giveUp(p *pod, reason string) error {
	ctx, cancel := context.WithTimeout(h.ctx, callTime)
	defer cancel()
	if err := h.note(ctx, p, reason); err != nil {
		return err
	}
	return h.delete(ctx, p, killGrace)
}

// seek asks for a node that is in no list, and takes it for lost if there is none.
func (h *Runtime) seek(name string) {
	ctx, cancel := context.WithTimeout(h.ctx, callTime)
	defer cancel()
	err := h.client.do(ctx, call{what: "get node " + name, method: http.MethodGet, path: nodesPath + "/" + url.PathEscape(name)}, nil)
	if !isGone(err) {
		return // the watch will bring it
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known[name] == nil {
		h.lost[name] = true
		h.judgeOn(name)
		h.changedHosts()
	}
}
