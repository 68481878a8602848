package kubernetes

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// tailTime is how long the rest of a log that is followed may take once its Pod has ended.
const tailTime = 5 * time.Second

// mostStamp is how many bytes the time before a line may have.
const mostStamp = 64

// Logs gives what the node kept of the present run's output. A line's position is the time at which the node got it.
func (h *Runtime) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	p, state, err := h.awaitStart(ctx, id, q.Follow)
	if err != nil || state.StartedAt.IsZero() {
		return err // it has written nothing
	}

	select {
	case h.client.tails <- struct{}{}:
		defer func() { <-h.client.tails }()
	default:
		return fmt.Errorf("%w: %d logs are being read", runtime.ErrUnavailable, mostTails)
	}
	query := url.Values{"container": {containerName}, "timestamps": {"true"}}
	if q.Follow && state.Phase == runtime.Up {
		query.Set("follow", "true")
	}
	if q.Tail > 0 { // of the whole log, and so of every end of it
		query.Set("tailLines", strconv.Itoa(q.Tail))
	}
	since := q.Since
	if after := time.Unix(0, q.After); q.After > 0 && after.After(since) {
		since = after
	}
	if !since.IsZero() { // the node heeds whole seconds
		query.Set("sinceTime", since.UTC().Truncate(time.Second).Format(time.RFC3339))
	}

	tail, leave := context.WithCancel(ctx)
	defer leave()
	if query.Has("follow") { // any other ends by itself
		go h.leaveAfter(tail, p, leave)
	}
	body, err := h.client.open(tail, call{
		what: "get the log of pod " + p.Metadata.Name, method: http.MethodGet, path: h.client.path(pods, p.Metadata.Name, "log"), query: query,
	}, nil)
	var refused *apiError
	switch {
	case errors.As(err, &refused) && h.isForgotten(p):
		return nil // the node has removed it, or is lost
	case err != nil:
		return err
	}
	defer func() { _ = body.Close() }()
	if err := read(ctx, body, q, emit); err != nil && (ctx.Err() != nil || tail.Err() == nil) {
		return err
	}
	return nil
}

// leaveAfter ends a log whose Pod has ended some time ago: one that is followed does not end by itself where the node is lost.
func (h *Runtime) leaveAfter(ctx context.Context, p *pod, leave func()) {
	if h.awaitEnd(ctx, p) == nil && pause(ctx, h.config.Clock, tailTime) == nil {
		leave()
	}
}

// awaitStart gives the latest Pod of an allocation; if it is to wait, one that has come up or has ended.
func (h *Runtime) awaitStart(ctx context.Context, id string, wait bool) (*pod, runtime.State, error) {
	for {
		p, state, changed, err := h.peek(id)
		if err != nil || !wait || state.Phase != runtime.Starting {
			return p, state, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, state, ctx.Err()
		case <-h.ctx.Done():
			return nil, state, errClosed
		}
	}
}

// peek is find; of an allocation that is not up yet it gives what is closed at its next change, too.
func (h *Runtime) peek(id string) (*pod, runtime.State, <-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.of(id)
	if len(all) == 0 {
		return nil, runtime.State{}, nil, runtime.ErrUnknown
	}
	state := h.state(all[0])
	if state.Phase != runtime.Starting {
		return all[0].pod, state, nil, nil
	}
	return all[0].pod, state, h.next(id), nil
}

// isForgotten reports whether the cluster need not have the log of the Pod any more.
func (h *Runtime) isForgotten(p *pod) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.entries[p.Metadata.UID]
	return e == nil || e.over && (isDeleted(e.pod) || e.lost || e.pod.Status.Reason != "")
}

// read takes the lines that are asked for out of a log: each begins with its time and a space.
func read(ctx context.Context, body io.Reader, q runtime.LogQuery, emit func(runtime.Line) error) error {
	var last int64
	split := runtime.Splitter{Stream: runtime.Stdout, Emit: func(l runtime.Line) error {
		last = runtime.Number(l.At, last)
		l.Position = last
		if l.Position <= q.After || l.At.Before(q.Since) {
			return nil
		}
		return emit(l)
	}}

	reader := bufio.NewReaderSize(body, runtime.LogLimit)
	var at time.Time
	for begins := true; ; {
		piece, err := reader.ReadSlice('\n')
		if len(piece) > 0 {
			text := string(piece)
			if begins {
				at, text = stamped(text, at)
			}
			begins = strings.HasSuffix(text, "\n")
			if err := split.Write(at, text); err != nil {
				return err
			}
		}

		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return cmp.Or(split.Flush(), ctx.Err())
		default:
			return cmp.Or(split.Flush(), ctx.Err(), unreachable("read a log", err))
		}
	}
}

// stamped takes the time from the beginning of a line; a line without one, which the node itself wrote, is of the time before it.
func stamped(line string, before time.Time) (time.Time, string) {
	stamp, text, ok := strings.Cut(line[:min(len(line), mostStamp)], " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if !ok || err != nil {
		return before, line
	}
	return at.UTC(), text + line[min(len(line), mostStamp):]
}
