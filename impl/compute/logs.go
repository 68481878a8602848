package compute

import (
	"context"
	"math"
	"time"
)

// LogSource reports who wrote a line of a log.
type LogSource string

// The sources.
const (
	LogContainer LogSource = "container" // the program in it
	LogSystem    LogSource = "system"    // berth, of what was done with it
)

// SystemLines is how many lines of its own berth keeps for each pod.
const SystemLines = 200

// LogLine is a line of a pod's or a worker's log.
type LogLine struct {
	Source   LogSource
	Position int64 // nanoseconds since 1970; greater than that of the source's line before
	Text     string
}

// EmitLog takes a line; the reading of the log ends with its error.
type EmitLog func(LogLine) error

// ReadLog gives emit the lines of a log that a query asks for, oldest first, then those that are written, until there will be
// no more, emit fails or ctx ends. It is for one call.
type ReadLog func(ctx context.Context, emit EmitLog) error

// LogQuery says where the reading of a log begins; it goes on with what is written from then on, but for one at once.
type LogQuery struct {
	Source LogSource // empty: both
	Tail   int       // with so many of the last lines
	Since  time.Time // with all of this time or later; not zero: Tail does not count
	After  time.Time // with those after the line of this time; not zero: Tail and Since do not count
	AtOnce bool      // it ends with the lines that there are
	Mark   bool      // the zero line follows those that there are (rule logs.so-far)
}

// Wants reports whether lines of the source are asked for.
func (q LogQuery) Wants(s LogSource) bool { return q.Source == "" || q.Source == s }

// Start gives the position after which the log is read. ok is false if that depends on the lines there are.
func (q LogQuery) Start() (after int64, ok bool) {
	switch {
	case !q.After.IsZero():
		return LogPosition(q.After), true
	case !q.Since.IsZero():
		return LogPosition(q.Since) - 1, true
	}
	return 0, false
}

// LogPosition gives the position that a time stands for. What is too early or too late for one is before or after all lines.
func LogPosition(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, 1)):
		return 1
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// At gives the time that the position stands for, in UTC.
func (l LogLine) At() time.Time { return time.Unix(0, l.Position).UTC() }
