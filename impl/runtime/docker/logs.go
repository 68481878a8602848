package docker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/runtime"
)

// margin is how long before a position the engine is asked for lines: some may be of the same nanosecond.
const margin = time.Millisecond

// Logs gives what the engine kept of the present run's output. A line's position is the time at which the engine got it.
func (h *Runtime) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	h.mu.Lock()
	_, failed := h.failed[id]
	without := failed || h.starts[id] != nil
	h.mu.Unlock()
	c, err := h.find(ctx, id)
	if errors.Is(err, runtime.ErrUnknown) && without {
		return nil // it has written nothing
	}
	if err != nil {
		return err
	}

	since := q.Since
	if after := time.Unix(0, q.After-int64(margin)); q.After > 0 && after.After(since) {
		since = after
	}
	options := client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: q.Follow && isUp(c)}
	if q.Tail > 0 { // of the whole log, and so of every end of it
		options.Tail = strconv.Itoa(q.Tail)
	}
	if !since.IsZero() {
		options.Since = fmt.Sprintf("%d.%09d", since.Unix(), since.Nanosecond())
	}

	body, err := h.engine.ContainerLogs(ctx, c.ID, options)
	if err != nil {
		return fault(err)
	}
	defer func() { _ = body.Close() }()
	return read(ctx, body, q.After, emit)
}

// read takes the lines after a position out of the engine's stream of frames.
func read(ctx context.Context, body io.Reader, after int64, emit func(runtime.Line) error) error {
	var last int64
	wanted := func(l runtime.Line) error {
		last = runtime.Number(l.At, last)
		l.Position = last
		if l.Position <= after {
			return nil
		}
		return emit(l)
	}

	out, errs := runtime.Splitter{Stream: runtime.Stdout, Emit: wanted}, runtime.Splitter{Stream: runtime.Stderr, Emit: wanted}
	reader := bufio.NewReader(body)
	for {
		kind, at, text, err := frame(reader)
		if err != nil {
			if err := errors.Join(out.Flush(), errs.Flush()); err != nil {
				return err
			}
			if errors.Is(err, io.EOF) && ctx.Err() == nil {
				return nil
			}
			return cmp.Or(ctx.Err(), fault(err))
		}

		to := &out
		if kind == stderr {
			to = &errs
		}
		if err := to.Write(at, text); err != nil {
			return err
		}
	}
}

// stderr is the engine's number of that stream.
const stderr = 2

// frame reads one piece of output: a head of eight bytes, which ends with the length, then the time, a space and the text.
func frame(r *bufio.Reader) (kind byte, at time.Time, text string, err error) {
	var head [8]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return 0, at, "", err
	}
	piece := make([]byte, binary.BigEndian.Uint32(head[4:]))
	if _, err = io.ReadFull(r, piece); err != nil {
		return 0, at, "", err
	}
	stamp, text, _ := strings.Cut(string(piece), " ")
	at, err = time.Parse(time.RFC3339Nano, stamp)
	return head[0], at.UTC(), text, err
}
