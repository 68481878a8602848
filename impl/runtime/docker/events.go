package docker

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"
)

// listen reports what the engine says has ended, until Close. What ends while the engine does not answer is not reported:
// an end is a hint, and callers look from time to time.
func (h *Runtime) listen() {
	filters := h.label().Add("type", string(events.ContainerEventType))
	filters.Add("event", string(events.ActionDie), string(events.ActionDestroy), string(events.ActionRemove))
	silent := false
	for h.ctx.Err() == nil {
		ctx, end := context.WithCancel(h.ctx)
		stream := h.engine.Events(ctx, client.EventsListOptions{Filters: filters})
		h.seen.begin(true)
		h.mu.Lock()
		h.renew = end
		h.mu.Unlock()

		for open := true; open; {
			select {
			case m := <-stream.Messages:
				h.receive(m)
			case err := <-stream.Err:
				open = false
				was := silent
				_, silent = errors.AsType[*unreached](fault(err))
				silent = silent && !errors.Is(err, io.EOF) // it could be reached until now
				if silent && !was && ctx.Err() == nil {
					h.config.Log.Warn("the engine cannot be reached", "address", cmp.Or(h.config.Host, h.engine.DaemonHost()), "error", err)
				}
			}
		}

		end()
		h.seen.begin(false)
		h.mu.Lock()
		h.known, h.address = nil, "" // the next engine may be another one
		clear(h.quiet)               // what ended meanwhile is not reported; what ends now is a hint more
		h.mu.Unlock()
		h.wait(h.ctx)
	}
}

// listenAnew has the engine asked anew what ends: what it reports on the connection of before may never come.
func (h *Runtime) listenAnew() {
	h.seen.begin(false)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renew()
}

// receive takes in one event. Podman says remove for destroy.
func (h *Runtime) receive(m events.Message) {
	h.seen.forget(m.Actor.Attributes[labelAllocation])
	h.mu.Lock()
	quiet := h.quiet[m.Actor.ID]
	if m.Action != events.ActionDie {
		delete(h.quiet, m.Actor.ID)
	}
	h.mu.Unlock()
	if id := m.Actor.Attributes[labelAllocation]; m.Action == events.ActionDie && !quiet && id != "" {
		h.ends.Add(id)
	}
}
