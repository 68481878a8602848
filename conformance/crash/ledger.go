package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// The documented retentions.
const (
	runRetention  = 30 * time.Minute
	syncRetention = time.Minute
)

// job is one acknowledged job, and what is known of it. Its lock is held over every call whose answer is judged.
type job struct {
	mu        sync.Mutex
	id        string
	endpoint  string
	output    string // of a good end
	webhook   bool
	silent    string // a receiver that never answers; empty: none
	sync      bool
	begun     time.Time     // when it was submitted
	stood     time.Duration // in pauses of the server, by then
	ttl       time.Duration // 0: nobody asks
	mayVanish bool          // its time to live was cut short
	gone      bool          // it has vanished
	alive     time.Time     // when it last was known not to have ended
	final     []byte        // the document of its end; nil: it has not been seen to end since its submission or last retry
	doubt     []byte        // the end before a retry that was not answered: it may be seen again
	ends      [][]byte      // every end seen
}

// document is the part of a status document that is looked at.
type document struct {
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Output  json.RawMessage `json:"output"`
	Retries int             `json:"retries"`
	Error   string          `json:"error"`
	Ran     int64           `json:"executionTime"` // milliseconds
}

func (d document) ended() bool { return d.Status != "IN_QUEUE" && d.Status != "IN_PROGRESS" }

// ledger is every acknowledged job, and the first promise that was broken.
type ledger struct {
	mu     sync.Mutex
	jobs   []*job
	byID   map[string]*job
	chunks map[string]bool // read from streams
	calm   *calm           // nil: nothing is calm
	broken error
	failed chan struct{} // closed when broken is set
}

func newLedger() *ledger {
	return &ledger{byID: map[string]*job{}, chunks: map[string]bool{}, failed: make(chan struct{})}
}

// violated notes a broken promise.
func (l *ledger) violated(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = fmt.Errorf(format, args...)
		close(l.failed)
	}
}

func (l *ledger) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// acknowledged notes a job that the server has taken on.
func (l *ledger) acknowledged(j *job) {
	l.mu.Lock()
	twice := l.byID[j.id] != nil
	l.jobs, l.byID[j.id] = append(l.jobs, j), j
	l.mu.Unlock()
	if twice {
		l.violated("the id %s was given twice", j.id)
	}
}

// all gives every job so far.
func (l *ledger) all() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jobs[:len(l.jobs):len(l.jobs)]
}

// pick gives a job, rather a late one; nil if there is none.
func (l *ledger) pick(r *rand.Rand) *job {
	all := l.all()
	if r.IntN(4) > 0 {
		all = all[max(0, len(all)-200):]
	}
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// chunk notes a chunk that a read was given.
func (l *ledger) chunk(text string) {
	l.mu.Lock()
	twice := l.chunks[text]
	l.chunks[text] = true
	l.mu.Unlock()
	if twice {
		l.violated("the chunk %s was handed over twice", text)
	}
}

// judge holds an answer about a job against what is known. No answer proves nothing. The caller has the job's lock, and says when it asked:
// the job may have ended before the answer came.
func (l *ledger) judge(j *job, asked time.Time, what string, status int, answer []byte) (d document, ok bool) {
	switch status {
	case 0:
		return d, false
	case http.StatusNotFound:
		if retention := map[bool]time.Duration{false: runRetention, true: syncRetention}[j.sync]; !j.mayVanish && time.Since(j.alive) < retention {
			l.violated("%s: the acknowledged job %s is lost: %s", what, j.id, answer)
		}
		j.gone = true
		return d, false
	case http.StatusOK:
	default:
		l.violated("%s of job %s: %d %s", what, j.id, status, answer)
		return d, false
	}

	if err := json.Unmarshal(answer, &d); err != nil || d.ID != j.id {
		l.violated("%s of job %s: %s (%v)", what, j.id, answer, err)
		return d, false
	}

	switch {
	case j.gone:
		l.violated("%s: job %s was gone and is %s", what, j.id, answer)
	case j.final != nil && !bytes.Equal(j.final, answer):
		l.violated("%s: job %s ended as %s and is now %s", what, j.id, j.final, answer)
	case j.final == nil && d.ended():
		if !bytes.Equal(j.doubt, answer) {
			j.ends = append(j.ends, answer)
		}
		j.final, j.doubt = answer, nil
		if d.Status == "COMPLETED" && string(d.Output) != j.output {
			l.violated("job %s has the output %s, not %s", j.id, d.Output, j.output)
		}
		l.calm.judgeEnd(l, j, d)
	case !d.ended():
		j.alive = asked
	}

	return d, true
}

// summary reports how many jobs there were and how they ended.
func (l *ledger) summary() string {
	ended := map[string]int{}
	ends, lost := 0, 0
	for _, j := range l.all() {
		j.mu.Lock()
		var d document
		if j.gone {
			d.Status = "expired"
		} else {
			_ = json.Unmarshal(j.final, &d) // judged already
		}

		ended[d.Status]++
		ends += len(j.ends)
		lost += d.Retries
		j.mu.Unlock()
	}

	return fmt.Sprintf("%d jobs acknowledged: %v; %d ends seen; %d takes lost; %d chunks read", len(l.all()), ended, ends, lost, len(l.chunks))
}
