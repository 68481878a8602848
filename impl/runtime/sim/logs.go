package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// logTicks is how many of the lines are kept that a run writes by itself.
const logTicks = 10_000

// Logs gives a line for each thing that happened until now. They name no value of the environment: it holds secrets. There
// is nothing to follow, since nothing runs: it ends with what there is now.
func (f *Fleet) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	now := f.clock.Now()
	a, ok := f.allocations[id]
	if !ok {
		f.mu.Unlock()
		return runtime.ErrUnknown
	}

	var lines []runtime.Line
	for _, r := range append(slices.Clip(a.earlier), a.run) {
		lines = r.log(lines, now)
	}
	f.mu.Unlock()

	for _, l := range q.Select(lines) {
		if err := emit(l); err != nil {
			return err
		}
	}

	return nil
}

// log adds the lines of the run until now.
func (r run) log(lines []runtime.Line, now time.Time) []runtime.Line {
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
		r.tick(now, line)
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

// tick adds the last of the lines that the run was asked to write while it is up.
func (r run) tick(now time.Time, line func(time.Time, string, ...any)) {
	if r.logEvery <= 0 {
		return
	}
	until := now
	if !r.endAt.IsZero() && r.endAt.Before(now) {
		until = r.endAt
	}
	n := until.Sub(r.upAt) / r.logEvery
	for i := max(1, n-logTicks+1); i <= n; i++ {
		line(r.upAt.Add(i*r.logEvery), "sim: tick %d", i)
	}
}
