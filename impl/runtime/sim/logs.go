package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// logTicks is how many of the lines are kept, over all runs together, that runs write by themselves.
const logTicks = 10_000

// margin is how long before a position lines are looked for: some may have been moved on, as theirs was taken.
const margin = time.Millisecond

// Logs gives a line for each thing that happened until now. They name no value of the environment: it holds secrets. There
// is nothing to follow, since nothing runs: it ends with what there is now.
func (f *Fleet) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	now := f.clock.Now()
	a, ok := f.allocations[id]
	f.mu.Unlock()
	if !ok {
		return runtime.ErrUnknown
	}

	runs := append(slices.Clip(a.earlier), a.run) // nobody changes what a run was, and this is a copy of the present one
	room := logTicks
	if q.Tail > 0 {
		room = min(room, q.Tail)
	}
	each := make([]ticks, len(runs))
	for i, r := range slices.Backward(runs) {
		each[i] = r.ticks(now, q.After, room)
		room -= each[i].count()
	}

	var lines []runtime.Line
	for i, r := range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		lines = r.log(lines, now, each[i])
	}

	for _, l := range q.Select(lines) {
		if err := emit(l); err != nil {
			return err
		}
	}

	return nil
}

// log adds the lines of the run until now, with those ticks.
func (r run) log(lines []runtime.Line, now time.Time, t ticks) []runtime.Line {
	var own []runtime.Line
	line := func(at time.Time, format string, args ...any) {
		own = append(own, runtime.Line{At: at.Add(r.lag).UTC(), Stream: runtime.Stdout, Text: fmt.Sprintf(format, args...)})
	}
	s := r.state(now)
	line(time.Unix(0, r.startAt), "sim: starting %q with arguments %q", r.image.Value(), r.args)

	if !s.StartedAt.IsZero() {
		line(r.upAt, "sim: up")
		for _, text := range r.says {
			line(r.upAt, "%s", text)
		}
		for i := t.first; i <= t.last; i++ {
			line(r.upAt.Add(time.Duration(i)*r.logEvery), "sim: tick %d", i)
		}
	}

	if s.Phase == runtime.Ended {
		line(r.endAt, "sim: ended with exit code %d", r.exitCode)
	}
	slices.SortStableFunc(own, func(a, b runtime.Line) int { return a.At.Compare(b.At) })

	for _, l := range own {
		var last int64
		if len(lines) > 0 {
			last = lines[len(lines)-1].Position
		}
		l.Position = runtime.Number(l.At, last)
		lines = append(lines, l)
	}

	return lines
}

// ticks are the numbers of lines that a run was asked to write while it is up: none if the last is before the first.
type ticks struct{ first, last int64 }

func (t ticks) count() int { return int(max(0, t.last-t.first+1)) }

// ticks gives the last of those until now, at most so many, which may have a greater position than that.
func (r run) ticks(now time.Time, after int64, most int) ticks {
	if r.logEvery <= 0 || r.upAt.After(now) {
		return ticks{first: 1}
	}
	until := now
	if !r.endAt.IsZero() && r.endAt.Before(now) {
		until = r.endAt
	}
	t := ticks{last: int64(until.Sub(r.upAt) / r.logEvery)}
	t.first = max(1, t.last-int64(most)+1)
	if after > 0 {
		read := time.Unix(0, after).Add(-margin - r.lag).Sub(r.upAt)
		t.first = max(t.first, int64(read/r.logEvery))
	}
	return t
}
