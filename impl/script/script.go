// Package script is what the workers of an endpoint do that has no handler: which answer a job gets, when its parts come, and what they
// say. It is values and rules alone; somebody else takes the jobs and reports on them.
package script

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Script is what the workers of an endpoint do, as spec/controls.yaml describes it. Its times are milliseconds.
type Script struct {
	Answers     []Answer   `json:"answers"`
	Concurrency int64      `json:"concurrency,omitempty"` // jobs of a worker at a time; 0: one
	Seed        int64      `json:"seed,omitempty"`
	ColdStart   *ColdStart `json:"coldStart,omitempty"` // nil: the start takes as long as that of all others
}

// Answer is what a worker does with a job.
type Answer struct {
	Match    []Value `json:"match,omitempty"`
	Times    int64   `json:"times,omitempty"` // 0: always
	Delay    *Delay  `json:"delay,omitempty"`
	Progress []Step  `json:"progress,omitempty"`
	Chunks   []Step  `json:"chunks,omitempty"`

	Output  json.RawMessage `json:"output,omitempty"` // nil: it has none
	Error   *string         `json:"error,omitempty"`
	Crash   *Crash          `json:"crash,omitempty"`
	Refresh *Refresh        `json:"refreshWorker,omitempty"`
}

// Value is a value at a place of the input.
type Value struct {
	Pointer string          `json:"pointer"`
	Equals  json.RawMessage `json:"equals"`
}

// Step is a value that comes so long after what was before it.
type Step struct {
	After int64           `json:"after,omitempty"`
	Value json.RawMessage `json:"value"`
}

// Crash is the end of the worker by itself.
type Crash struct {
	ExitCode *int64 `json:"exitCode,omitempty"` // nil: 1
	After    int64  `json:"after,omitempty"`
}

// Refresh ends the job and has its worker replaced.
type Refresh struct {
	Output json.RawMessage `json:"output,omitempty"` // nil: it has none
}

// Delay is how long a worker waits: one of the four.
type Delay struct {
	Fixed       *int64       `json:"fixed,omitempty"`
	Uniform     *Uniform     `json:"uniform,omitempty"`
	Normal      *Normal      `json:"normal,omitempty"`
	Exponential *Exponential `json:"exponential,omitempty"`
}

// Uniform is a delay of which each is as likely as the others.
type Uniform struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
}

// Normal is a delay around a mean.
type Normal struct {
	Mean      int64 `json:"mean"`
	Deviation int64 `json:"deviation"`
}

// Exponential is a delay that is mostly short, and long now and then.
type Exponential struct {
	Mean int64 `json:"mean"`
}

// ColdStart is how long the start of a worker takes.
type ColdStart struct {
	Pull      int64      `json:"pull,omitempty"`
	Init      int64      `json:"init,omitempty"`
	Load      int64      `json:"load,omitempty"`
	Warm      int64      `json:"warm,omitempty"`
	FlashBoot *FlashBoot `json:"flashBoot,omitempty"` // nil: none
}

// FlashBoot is how likely a start takes no longer than that.
type FlashBoot struct {
	Chance float64 `json:"chance"`
	Warm   int64   `json:"warm"`
}

// Counts are what was done by a script so far. What is drawn goes by them.
type Counts struct {
	Jobs    int64   `json:"jobs"`    // that were taken
	Workers int64   `json:"workers"` // that were started
	Used    []int64 `json:"used"`    // each of the answers
}

// ReadCounts reads what Text wrote.
func ReadCounts(text string) (c Counts, err error) {
	err = json.Unmarshal([]byte(text), &c)
	return c, err
}

// Text gives the counts to be stored.
func (c Counts) Text() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // numbers
	}
	return string(text)
}

// Parse reads what Text wrote.
func Parse(text string) (*Script, error) {
	s := &Script{}
	return s, json.Unmarshal([]byte(text), s)
}

// Text gives the script to be stored.
func (s *Script) Text() (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

// Check refuses a script that keeps its schema: Rejected, with the place, for members that make no sense together and for a template that there
// is not.
func (s *Script) Check() error {
	for i := range s.Answers {
		if at, why := s.Answers[i].wrong(); why != "" {
			return compute.Errorf(compute.Rejected, "/answers/%d%s: %s", i, at, why)
		}
	}
	return nil
}

// AtOnce is how many jobs a worker has at a time.
func (s *Script) AtOnce() int { return max(1, int(s.Concurrency)) }

// NewCounts gives the counts of a script by which nothing was done.
func (s *Script) NewCounts() Counts { return Counts{Used: make([]int64, len(s.Answers))} }

// wrong gives what makes no sense in an answer: where, and why; empty: nothing does.
func (a *Answer) wrong() (at, why string) {
	ends := 0
	for _, there := range []bool{a.Output != nil, a.Error != nil, a.Crash != nil, a.Refresh != nil} {
		if there {
			ends++
		}
	}
	switch {
	case ends > 1:
		return "", "it has more than one of output, error, crash and refreshWorker"
	case ends == 0 && a.Chunks == nil:
		return "", "it needs output, error, crash, refreshWorker or chunks"
	}

	if a.Delay != nil {
		if why := a.Delay.wrong(); why != "" {
			return "/delay", why
		}
	}
	return a.wrongTemplate()
}

func (d *Delay) wrong() string {
	one := 0
	for _, there := range []bool{d.Fixed != nil, d.Uniform != nil, d.Normal != nil, d.Exponential != nil} {
		if there {
			one++
		}
	}
	switch {
	case one != 1:
		return "it needs one of fixed, uniform, normal and exponential"
	case d.Uniform != nil && d.Uniform.Most < d.Uniform.Least:
		return "uniform: most is less than least"
	}
	return ""
}

// longestDelay is the longest that is drawn, in milliseconds: a day.
const longestDelay = 24 * 60 * 60 * 1000

// draw gives a delay in milliseconds.
func (d *Delay) draw(r *rand.Rand) int64 {
	var drawn float64
	switch {
	case d == nil:
	case d.Fixed != nil:
		return *d.Fixed
	case d.Uniform != nil:
		return d.Uniform.Least + r.Int64N(d.Uniform.Most-d.Uniform.Least+1)
	case d.Normal != nil:
		drawn = float64(d.Normal.Mean) + float64(d.Normal.Deviation)*r.NormFloat64()
	case d.Exponential != nil:
		drawn = float64(d.Exponential.Mean) * r.ExpFloat64()
	}
	return int64(math.Round(min(max(0, drawn), longestDelay)))
}

// draws gives what is random about the nth job: the same for the same seed, whatever else is done. Those of workers are others.
func (s *Script) draws(n int64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(s.Seed), uint64(n))) //nolint:gosec // it shall be known what it draws
}

// Start counts a worker that is started, and gives how long it takes until its container is up, and from then on until it is ready; ok is
// false for a script that says nothing of it.
func (s *Script) Start(c *Counts) (up, ready time.Duration, ok bool) {
	c.Workers++
	start := s.ColdStart
	if start == nil {
		return 0, 0, false
	}
	if f := start.FlashBoot; f != nil && s.draws(-c.Workers).Float64() < f.Chance {
		return 0, milliseconds(f.Warm), true
	}
	return milliseconds(start.Pull), milliseconds(start.Init + start.Load + start.Warm), true
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
