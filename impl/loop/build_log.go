package loop

import (
	"context"
	"slices"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// buildLog is the end of what a build under way wrote. It is safe for concurrent use.
type buildLog struct {
	clock compute.Clock

	mu    sync.Mutex
	lines []compute.LogLine
	bytes int
	last  int64         // position of the last line
	more  chan struct{} // closed when there is more, or no more to come
	over  bool
}

func newBuildLog(clock compute.Clock) *buildLog {
	return &buildLog{clock: clock, more: make(chan struct{})}
}

// mostBuildLines is how many lines are kept of a build: an empty one takes room, too.
const mostBuildLines = 10_000

// write adds a line, without what is beyond the length of one, and forgets the first lines where all are too long or too many.
func (l *buildLog) write(source compute.LogSource, text string) {
	if len(text) > compute.BuildLine {
		text = text[:compute.BuildLine]
	}
	text = validText(text) // before it is counted: it is as long as what is kept

	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = max(l.last+1, l.clock.Wall().UnixNano())
	l.lines = append(l.lines, compute.LogLine{Source: source, Position: l.last, Text: text})
	l.bytes += len(text)
	for l.bytes > compute.BuildLog || len(l.lines) > mostBuildLines {
		l.bytes -= len(l.lines[0].Text)
		l.lines = l.lines[1:]
	}
	l.wake()
}

// end says that nothing more will be written.
func (l *buildLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.wake()
}

// wake wakes who waits for more. The caller has the lock.
func (l *buildLog) wake() {
	close(l.more)
	l.more = make(chan struct{})
}

// after gives the lines after the position, whether there will be no more, and what is closed when there are.
func (l *buildLog) after(position int64) (lines []compute.LogLine, over bool, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, _ := slices.BinarySearchFunc(l.lines, position+1, func(l compute.LogLine, at int64) int { return int(min(max(l.Position-at, -1), 1)) })
	return slices.Clone(l.lines[i:]), l.over, l.more
}

// read gives the lines that the query asks for, and those that come, until the end of the build.
func (l *buildLog) read(q compute.LogQuery) compute.ReadLog {
	return func(ctx context.Context, emit compute.EmitLog) error {
		lines, over, more := l.after(0)
		at := startOf(lines, q)
		for mark := q.Mark; ; mark = false {
			for _, line := range lines {
				if line.Position > at && q.Wants(line.Source) {
					if err := emit(line); err != nil {
						return err
					}
				}
				at = max(at, line.Position)
			}
			if mark {
				if err := emit(compute.LogLine{}); err != nil {
					return err
				}
			}
			if over {
				return nil
			}

			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-more:
			}
			lines, over, more = l.after(at)
		}
	}
}

// startOf gives the position after which the query begins.
func startOf(lines []compute.LogLine, q compute.LogQuery) int64 {
	if after, ok := q.Start(); ok {
		return after
	}
	left := q.Tail
	for _, line := range slices.Backward(lines) {
		if !q.Wants(line.Source) {
			continue
		}
		if left == 0 {
			return line.Position
		}
		left--
	}
	return 0
}
