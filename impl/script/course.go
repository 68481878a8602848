package script

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// MostInput is how long an input may be that is held against values and that templates take members of, in bytes.
const MostInput = 1 << 20

// Job is what an answer is chosen by, and what templates are filled in from.
type Job struct {
	ID      compute.JobID
	Worker  compute.WorkerID
	Attempt int
	Input   journal.JSON
}

// NewInput gives the input of a job that has so many bytes; the text of one that is too long may be nil.
func NewInput(text []byte, size int) journal.JSON {
	if max(len(text), size) > MostInput {
		return journal.NoJSON(fmt.Sprintf("an input of %d bytes, which is over %d", max(len(text), size), MostInput))
	}
	return journal.NewJSON(text)
}

// Course is what comes of a job, one thing after the other.
type Course struct {
	job    Job
	answer *Answer
	delay  time.Duration // before all but the progress
	next   int           // the thing that comes next
	why    string        // no answer fits
}

// What says what comes of a job.
type What string

// What may come of a job. All but Progress and Chunk are the last.
const (
	Progress What = "progress"
	Chunk    What = "chunk"
	Finish   What = "finish"
	Crashed  What = "crash"
)

// Event is one thing that comes of a job.
type Event struct {
	What     What
	Value    json.RawMessage // of Progress and Chunk, and the output of Finish; nil: there is none
	Error    string          // of Finish; empty: the job is completed
	Refresh  bool            // with Finish: the worker is to be replaced
	ExitCode int             // of Crashed
}

// Play counts a job that was taken, chooses its answer, and gives what comes of it.
func (s *Script) Play(c *Counts, j Job) *Course {
	c.Jobs++
	course := &Course{job: j}
	for i := range s.Answers {
		a := &s.Answers[i]
		if a.fits(j.Input) != 0 || a.Times > 0 && c.Used[i] >= a.Times {
			continue
		}
		c.Used[i]++
		course.answer, course.delay = a, milliseconds(a.Delay.draw(s.draws(c.Jobs)))
		return course
	}
	course.why = s.closest(*c, j.Input)
	return course
}

// fits gives how many of the values of the answer the input has not.
func (a *Answer) fits(input journal.JSON) (wrong int) {
	for _, v := range a.Match {
		if !journal.Value(v).Holds(input) {
			wrong++
		}
	}
	return wrong
}

// closest says that no answer fits, and names the one that would need the least to.
func (s *Script) closest(c Counts, input journal.JSON) string {
	near, fewest := 0, len(s.Answers[0].Match)+1
	for i := range s.Answers {
		if wrong := s.Answers[i].fits(input); wrong < fewest {
			near, fewest = i, wrong
		}
	}

	const none = "no answer of the script matches the job"
	if fewest == 0 {
		return fmt.Sprintf("%s: the closest, /answers/%d, was used %d times, as often as it may", none, near, c.Used[near])
	}
	for _, v := range s.Answers[near].Match {
		if v := journal.Value(v); !v.Holds(input) {
			d := v.Difference(input)
			return fmt.Sprintf("%s: the closest, /answers/%d, expects %s at %q of the input, found %s", none, near, d.Expected, d.Member, d.Found)
		}
	}
	return none
}

// Wait gives how long after what was before it, or after the taking of the job, the next thing comes. Progress comes while the delay passes.
func (c *Course) Wait() (waits time.Duration) {
	if c.answer == nil {
		return 0
	}
	a, i, steps := c.answer, c.next, len(c.answer.Progress)
	if i < steps {
		return milliseconds(a.Progress[i].After)
	}
	if i == steps {
		waits = c.delay
		for _, p := range a.Progress {
			waits -= milliseconds(p.After)
		}
		waits = max(0, waits)
	}

	switch {
	case i < steps+len(a.Chunks):
		waits += milliseconds(a.Chunks[i-steps].After)
	case a.Crash != nil:
		waits += milliseconds(a.Crash.After)
	}
	return waits
}

// Event gives the next thing.
func (c *Course) Event() Event {
	a, i := c.answer, c.next
	if a == nil {
		return Event{What: Finish, Error: c.why}
	}
	room := mostText
	switch steps := len(a.Progress); {
	case i < steps:
		return c.step(Progress, a.Progress[i], &room)
	case i < steps+len(a.Chunks):
		return c.step(Chunk, a.Chunks[i-steps], &room)
	}

	switch {
	case a.Crash != nil && a.Crash.ExitCode != nil:
		return Event{What: Crashed, ExitCode: int(*a.Crash.ExitCode)}
	case a.Crash != nil:
		return Event{What: Crashed, ExitCode: 1}
	case a.Error != nil:
		text, err := c.job.fillText(*a.Error, &room)
		if err != nil {
			return failed(err)
		}
		return Event{What: Finish, Error: cmp.Or(text, "the handler failed without a message")} // as that of any worker
	case a.Refresh != nil:
		e := c.output(a.Refresh.Output, &room)
		e.Refresh = true
		return e
	case a.Output != nil:
		return c.output(a.Output, &room)
	}

	return c.aggregated(&room)
}

// Passed notes that the next thing has come.
func (c *Course) Passed() { c.next++ }

func (c *Course) step(what What, s Step, room *int) Event {
	value, err := c.job.fill(s.Value, room)
	if err != nil {
		return failed(err)
	}
	return Event{What: what, Value: value}
}

func (c *Course) output(value json.RawMessage, room *int) Event {
	if value == nil {
		return Event{What: Finish}
	}
	e := c.step(Finish, Step{Value: value}, room)
	if string(e.Value) == "null" { // a handler that returned nothing
		e.Value = nil
	}
	return e
}

// aggregated ends a job with the list of its chunks, as a handler with return_aggregate_stream does.
func (c *Course) aggregated(room *int) Event {
	list := []byte{'['}
	for i, chunk := range c.answer.Chunks {
		if i > 0 {
			list = append(list, ',')
		}
		e := c.step(Finish, chunk, room)
		if e.Error != "" {
			return e
		}
		list = append(list, e.Value...)
	}
	return Event{What: Finish, Value: append(list, ']')}
}

// failed is the end of a job whose templates cannot be filled in.
func failed(err error) Event { return Event{What: Finish, Error: err.Error()} }
