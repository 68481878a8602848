package loop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// logTick is how often the reader of a log looks for what no runtime reports: lines of berth's own, and a new run.
const logTick = 500 * time.Millisecond

// logs reads one allocation's log for one reader. It holds no lines but those of berth itself, which are few: the
// runtime waits for the reader.
type logs struct {
	runtime runtime.Runtime
	clock   compute.Clock
	id      string
	query   compute.LogQuery
	// systemLines gives the lines of berth itself after a position, and whether there will be no more lines.
	systemLines func(ctx context.Context, after int64) (lines []compute.LogLine, over bool, err error)
	// kept gives the lines of a container that the runtime does not know any more; nil: none are kept.
	kept func(ctx context.Context) ([]runtime.Line, error)

	emit        compute.EmitLog
	containerAt int64 // position of the last line of the container
	systemAt    int64 // position of the last line of berth
	pending     []compute.LogLine
	over        bool
	missed      bool // the runtime did not answer when it was asked last for what there is
}

// open finds where the query begins.
func (l *logs) open(ctx context.Context) (compute.ReadLog, error) {
	after, err := l.start(ctx)
	l.containerAt, l.systemAt = after, after
	return l.read, err
}

// read gives the lines that the query asks for, oldest first, then those that are written, until there will be no more, emit
// fails or ctx ends. A runtime that does not answer now is asked again.
func (l *logs) read(ctx context.Context, emit compute.EmitLog) error {
	l.emit = emit
	mark := l.query.Mark
	for {
		over := l.over // then this is what came between the last look at the container and its end
		if err := l.catchUp(ctx); err != nil {
			return err
		}
		if mark && !l.missed {
			mark = false
			if err := emit(compute.LogLine{}); err != nil {
				return err
			}
		}
		if over || l.over || l.query.AtOnce {
			return nil
		}
		wait := l.follow
		if l.missed {
			wait = l.pause
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

// pause waits until the runtime is asked again.
func (l *logs) pause(ctx context.Context) error {
	tick, stop := l.clock.After(logTick)
	defer stop()
	select {
	case <-tick:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start gives the position after which the query begins. For a number of lines it looks where they begin, without keeping
// their text.
func (l *logs) start(ctx context.Context) (int64, error) {
	if after, ok := l.query.Start(); ok {
		return after, nil
	}

	var positions []int64
	if l.query.Wants(compute.LogContainer) {
		_, err := l.container(ctx, runtime.LogQuery{Tail: l.query.Tail + 1}, func(line runtime.Line) error {
			positions = append(positions, line.Position)
			return nil
		})
		if err != nil {
			return 0, err
		}
	}

	lines, _, err := l.systemLines(ctx, 0)
	if err != nil {
		return 0, err
	}

	for _, line := range lines {
		if l.query.Wants(line.Source) {
			positions = append(positions, line.Position)
		}
	}

	slices.Sort(positions)
	if len(positions) <= l.query.Tail {
		return 0, nil
	}
	return positions[len(positions)-1-l.query.Tail], nil
}

// container reads from the runtime. What it does not know, and nobody kept, has written nothing, and what does not answer, which is
// missed, writes later.
func (l *logs) container(ctx context.Context, q runtime.LogQuery, emit func(runtime.Line) error) (missed bool, err error) {
	err = l.runtime.Logs(ctx, l.id, q, emit)
	switch {
	case errors.Is(err, runtime.ErrUnknown) && l.kept != nil:
		lines, err := l.kept(ctx)
		for _, line := range q.Select(lines) {
			if err == nil {
				err = emit(line)
			}
		}
		return false, err
	case errors.Is(err, runtime.ErrUnknown):
		return false, nil
	case errors.Is(err, runtime.ErrUnavailable):
		return true, nil
	}

	return false, err
}

// catchUp gives what there is now, of both sources in the order of time.
func (l *logs) catchUp(ctx context.Context) error {
	if err := l.listen(ctx); err != nil {
		return err
	}
	if l.query.Wants(compute.LogContainer) {
		var err error
		if l.missed, err = l.container(ctx, runtime.LogQuery{After: l.containerAt}, l.pass); err != nil {
			return err
		}
	}
	return l.emitBefore(0)
}

// listen takes in the lines of berth.
func (l *logs) listen(ctx context.Context) error {
	lines, over, err := l.systemLines(ctx, l.systemAt)
	if err != nil {
		return err
	}
	l.over = over
	for _, line := range lines {
		l.systemAt = line.Position
		if l.query.Wants(line.Source) {
			l.pending = append(l.pending, line)
		}
	}
	return nil
}

// emitBefore gives the lines of berth that are due before a position; 0: all.
func (l *logs) emitBefore(before int64) error {
	for len(l.pending) > 0 && (before == 0 || l.pending[0].Position < before) {
		if err := l.emit(l.pending[0]); err != nil {
			return err
		}
		l.pending = l.pending[1:]
	}
	return nil
}

// pass gives a line of the container, and before it the lines of berth before that.
func (l *logs) pass(line runtime.Line) error {
	if err := l.emitBefore(line.Position); err != nil {
		return err
	}
	l.containerAt = line.Position
	return l.emit(compute.LogLine{Source: compute.LogContainer, Position: line.Position, Text: line.Text})
}

// follow gives what is written until the present run has ended, then waits a moment.
func (l *logs) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	lines, ended := make(chan runtime.Line), make(chan error, 1)
	after := l.containerAt
	defer func() {
		cancel()
		if ended != nil {
			<-ended
		}
	}()

	go func() {
		if !l.query.Wants(compute.LogContainer) {
			ended <- nil
			return
		}

		_, err := l.container(ctx, runtime.LogQuery{After: after, Follow: true}, func(line runtime.Line) error {
			select {
			case lines <- line:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		ended <- err
	}()

	for {
		tick, stop := l.clock.After(logTick)
		var err error
		select {
		case line := <-lines:
			err = l.pass(line)
		case err = <-ended:
			ended = nil
		case <-tick:
			if ended == nil { // a new run may have begun
				return nil
			}
			if err = l.listen(ctx); err == nil {
				err = l.emitBefore(0)
			}
			if l.over {
				return err
			}
		case <-ctx.Done():
			err = ctx.Err()
		}

		stop()
		if err != nil {
			return err
		}
	}
}

// OpenLog gives what reads the pod's log once, over all its runs, until the pod is terminated.
func (l *Pods) OpenLog(ctx context.Context, id compute.PodID, q compute.LogQuery) (compute.ReadLog, error) {
	one := logs{runtime: l.Runtime, clock: l.Clock, id: string(id), query: q}
	one.systemLines = func(ctx context.Context, after int64) (lines []compute.LogLine, over bool, err error) {
		err = l.Store.Read(ctx, func(tx store.Tx) error {
			p, err := tx.Pod(id)
			if compute.CodeOf(err) == compute.NotFound || err == nil && p.Status == compute.PodTerminated {
				over = true
				return nil
			}
			if err == nil {
				lines, err = tx.SystemLines(string(id), after)
			}
			return err
		})

		return lines, over, err
	}

	return one.open(ctx)
}

// OpenLog gives what reads the log of a worker of the endpoint once, until the worker has ended. Of one that has, and is kept, it
// is the end of what it was.
func (l *Workers) OpenLog(ctx context.Context, e compute.Endpoint, id compute.WorkerID, q compute.LogQuery) (compute.ReadLog, error) {
	one := logs{runtime: l.runtimeOf(e), clock: l.Clock, id: string(id), query: q}
	one.systemLines = func(ctx context.Context, after int64) (lines []compute.LogLine, over bool, err error) {
		err = l.Store.Read(ctx, func(tx store.Tx) error {
			_, err := tx.Worker(id)
			if over = compute.CodeOf(err) == compute.NotFound; over {
				lines, err = endedLines(tx, id, compute.LogSystem, after)
				return err
			}
			if err == nil {
				lines, err = tx.SystemLines(string(id), after)
			}
			return err
		})
		if over && err == nil && len(lines) == 0 && after == 0 {
			lines = l.whyMissing(e.ID, id)
		}
		return lines, over, err
	}

	one.kept = func(ctx context.Context) (kept []runtime.Line, err error) {
		var lines []compute.LogLine
		err = l.Store.Read(ctx, func(tx store.Tx) error {
			lines, err = endedLines(tx, id, compute.LogContainer, 0)
			return err
		})
		for _, line := range lines {
			kept = append(kept, runtime.Line{At: line.At(), Position: line.Position, Text: line.Text})
		}
		return kept, err
	}

	return one.open(ctx)
}

// endedLines gives the lines of a source after a position in what is kept of a worker that has ended.
func endedLines(tx store.EndedWorkers, id compute.WorkerID, source compute.LogSource, after int64) (lines []compute.LogLine, err error) {
	w, err := tx.EndedWorker(id)
	if compute.CodeOf(err) == compute.NotFound {
		return nil, nil
	}
	for _, line := range w.Log {
		if line.Source == source && line.Position > after {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// whyMissing is the log of a worker that should be there and could not be started: why (rule serverless.workers.logs.missing).
func (l *Workers) whyMissing(e compute.EndpointID, id compute.WorkerID) (lines []compute.LogLine) {
	for _, s := range l.Queue.WorkerStates(e) {
		if s.ID == id && s.Missing {
			text := "worker is " + string(s.Status) + ": " + s.Reason
			lines = append(lines, compute.LogLine{Source: compute.LogSystem, Position: compute.LogPosition(l.Clock.Wall()), Text: text})
		}
	}
	return lines
}
