package loop

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// How much of what a worker wrote last its reason repeats; its log has more.
const (
	lastLines = 20
	lastText  = 2 << 10 // bytes
)

// ending is why a worker ends, before what it wrote last is known.
type ending struct {
	why     string    // one line, for people
	code    *int64    // of its process, if it ended by itself and that is known
	started time.Time // when its container came up, if it ended by itself; zero: it did not
	alone   bool      // it ended by itself, or failed: the last that it wrote says why

	interrupted bool // its room was taken away: its jobs are not to blame
}

// grace is what the worker's container gets between SIGTERM and SIGKILL.
func (e ending) grace() time.Duration {
	if e.interrupted {
		return compute.InterruptGrace
	}
	return stopGrace
}

// limit is how long after its start the worker is given up, as it is now.
func (w worker) limit() time.Duration {
	if w.fetching {
		return fetchLimit
	}
	return initLimit
}

// late is the ending of a worker that was not in time: what it did instead is for one whose image is there.
func (w worker) late(did string) ending {
	if w.fetching {
		return ending{why: "the worker's image was not brought to its host within " + w.limit().String(), alone: true}
	}
	return ending{why: "the worker " + did + " within " + w.limit().String(), alone: true}
}

// endOf reports why a worker ended by itself.
func endOf(s runtime.State) ending {
	e := ending{alone: true, started: s.StartedAt, why: "the worker's container did not come up"}
	switch {
	case s.StartedAt.IsZero() && s.Reason != "":
		e.why += ": " + s.Reason
	case s.StartedAt.IsZero():
	case s.OOM:
		e.why = "the worker used more memory than it may"
	case s.ExitCode == -1 && s.Reason != "": // nobody knows of a code
		e.why = "the worker ended"
	case s.ExitCode == -1:
		e.why = "the worker was ended by a signal"
	default:
		e.why = "the worker ended with exit code " + strconv.Itoa(s.ExitCode)
	}

	if s.StartedAt.IsZero() {
		return e
	}

	if s.Reason != "" {
		e.why += ": " + s.Reason
	}
	code := int64(s.ExitCode)
	e.code = &code
	return e
}

// endedWorker gives what is to be kept of a worker that has ended and is still in its runtime: why, and the last that it wrote. What the
// worker wrote is its owner's, and goes to no log of the server.
func (l *Workers) endedWorker(ctx context.Context, id compute.WorkerID, w worker, e ending) compute.EndedWorker {
	log, words := l.lastWords(ctx, id, w.runtime)
	end := compute.EndedWorker{
		ID: id, EndpointID: w.endpoint, StartedAt: e.started, EndedAt: l.Clock.Wall(), ExitCode: e.code, Reason: oneLine(e.why), Log: log,
	}
	if e.alone && words != "" {
		end.Reason += "\n" + words
	}
	return end
}

// oneLine makes one line of a reason, which may be an error of an engine.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// wordsTime is how long the runtime may take to give the end of a worker's log: until then its job waits, and it is billed.
const wordsTime = 5 * time.Second

// lastWords gives the end of what a worker wrote, and of that the last lines of its standard error, or, if it wrote none there, the
// last of all. A runtime that does not answer, or that knows nothing of it, gives none.
func (l *Workers) lastWords(ctx context.Context, id compute.WorkerID, r runtime.Runtime) (log []compute.LogLine, words string) {
	ctx, cancel := context.WithTimeout(ctx, wordsTime)
	defer cancel()
	var kept tail
	err := r.Logs(ctx, string(id), runtime.LogQuery{Tail: compute.EndedLines}, func(line runtime.Line) error {
		kept.add(line, compute.EndedLines, compute.EndedText)
		return nil
	})
	if err != nil && !errors.Is(err, runtime.ErrUnknown) {
		l.Log.Warn("the end of a worker's log could not be read", "worker", id, "error", err)
	}

	var last, spoken tail
	for _, line := range kept.lines {
		log = append(log, compute.LogLine{Source: compute.LogContainer, Position: line.Position, Text: line.Text})
		last.add(line, lastLines, lastText)
		if line.Stream == runtime.Stderr {
			spoken.add(line, lastLines, lastText)
		}
	}

	if len(spoken.lines) == 0 {
		spoken = last
	}
	return log, spoken.text()
}

// tail keeps the last lines.
type tail struct {
	lines []runtime.Line
	size  int // bytes of their text
}

// add adds a line to at most so many lines, of at most so many bytes. A longer one is kept by its end.
func (t *tail) add(line runtime.Line, lines, size int) {
	if over := len(line.Text) - size; over > 0 {
		line.Text = strings.Clone(line.Text[over:])
	}
	line.Text = strings.ToValidUTF8(line.Text, "\uFFFD")
	t.lines = append(t.lines, line)
	t.size += len(line.Text)
	for len(t.lines) > lines || t.size > size && len(t.lines) > 1 {
		t.size -= len(t.lines[0].Text)
		t.lines = t.lines[1:]
	}
}

func (t *tail) text() string {
	var all []string
	for _, line := range t.lines {
		all = append(all, line.Text)
	}
	return strings.Trim(strings.Join(all, "\n"), "\n")
}
