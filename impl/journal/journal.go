// Package journal keeps the requests that came, as a test reads them and holds them against what it expects. Secrets are masked before
// anything is kept, and what is kept is bounded: the oldest entries go first.
package journal

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Entry is a request that was answered. It does not change any more.
type Entry struct {
	Number   int64 // in the order in which requests ended, from 1
	Time     time.Time
	Duration time.Duration

	Method, Path, Query string // path and query as they were sent
	Host, Protocol      string
	Operation           string    // its operationId
	Document            *Document // nil: none of GraphQL that can be read
	Resources           []Resource
	KeyID               compute.KeyID  // empty: no key was taken
	User                compute.UserID // likewise
	Request, Response   Message
	Status              int    // 0: there was no answer
	Fault               *Fault // nil: it met none
	Arrived             int64  // in the order in which requests came, from 1
}

// Document is what a document of GraphQL asks for.
type Document struct {
	Name   string   // of its operation; empty: it has none
	Fields []string // of Query or Mutation
}

// Resource is an id in a path.
type Resource struct{ Kind, ID string }

// Message is a request or a response.
type Message struct {
	Headers []Header // by their names
	Body    Body
}

// Header is a header with one of its values.
type Header struct{ Name, Value string }

// Body is what is kept of a body.
type Body struct {
	Text      string
	Base64    bool  // Text is the body in base64: it is no UTF-8
	Length    int64 // bytes that were sent
	Truncated bool  // the body went on after Text
}

// Fault is the scripted fault that a request met.
type Fault struct {
	ID             string
	Operation      string // as it was scripted
	When           string // before or after the operation
	Latency        time.Duration
	Status         int // 0: the operation's own answer
	Drop           bool
	Half           *int64 // percent of the body that were sent; nil: all
	Garbage        bool
	BytesPerSecond int64 // 0: as fast as it goes
}

// Bounds are how much is kept.
type Bounds struct {
	Entries int   // at most
	Body    int   // bytes of one body
	Bytes   int64 // of all entries together, about
}

// DefaultBounds are those of a server.
func DefaultBounds() Bounds { return Bounds{Entries: 2000, Body: 64 << 10, Bytes: 32 << 20} }

// Journal is the requests that came. It is safe for concurrent use.
type Journal struct {
	bounds Bounds

	mu      sync.Mutex
	entries []*Entry // by number
	bytes   int64
	last    int64 // number that was given
	arrived int64 // requests that came
	cleared int64 // of them, when the journal was cleared
	dropped dropped
}

// dropped are the entries that were forgotten for newer ones since the journal was cleared. The numbers of those that are kept are greater.
type dropped struct {
	count int64
	last  int64     // the greatest of their numbers
	until time.Time // the latest of their times
}

// among gives how many of them the filter may match: all of them, unless it is about what came later.
func (d dropped) among(f Filter) int64 {
	if f.AfterNumber != nil && *f.AfterNumber >= d.last || f.Since.After(d.until) {
		return 0
	}
	return d.count
}

// New makes an empty journal.
func New(b Bounds) *Journal { return &Journal{bounds: b} }

// Bounds gives how much is kept.
func (j *Journal) Bounds() Bounds { return j.bounds }

// What an entry, and each of the parts that it has many of, takes about besides its texts, in bytes.
const (
	overhead         = 1 << 10
	overheadHeader   = 48
	overheadResource = 32
	overheadField    = 24
)

// size is about what an entry takes, in bytes.
func (e *Entry) size() int64 {
	n := overhead + len(e.Method) + len(e.Path) + len(e.Query) + len(e.Host)
	for _, m := range []*Message{&e.Request, &e.Response} {
		n += len(m.Body.Text)
		for _, h := range m.Headers {
			n += len(h.Name) + len(h.Value) + overheadHeader
		}
	}
	for _, r := range e.Resources {
		n += len(r.ID) + overheadResource
	}
	if e.Document != nil {
		n += len(e.Document.Name)
		for _, f := range e.Document.Fields {
			n += len(f) + overheadField
		}
	}
	return int64(n)
}

// arrive notes that a request came, and gives its place among all.
func (j *Journal) arrive() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.arrived++
	return j.arrived
}

// add keeps an entry under the next number, and drops the oldest ones that there is no room for any more. One that came before the journal was
// cleared is forgotten: a client may have gone from it, of which the server heard only now.
func (j *Journal) add(e *Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Arrived > 0 && e.Arrived <= j.cleared {
		return
	}
	j.last++
	e.Number = j.last
	j.entries, j.bytes = append(j.entries, e), j.bytes+e.size()

	for len(j.entries) > j.bounds.Entries || j.bytes > j.bounds.Bytes && len(j.entries) > 1 {
		oldest := j.entries[0]
		j.bytes -= oldest.size()
		j.entries[0] = nil // or the array would hold it
		j.entries = j.entries[1:]
		j.dropped.count, j.dropped.last = j.dropped.count+1, oldest.Number
		if oldest.Time.After(j.dropped.until) {
			j.dropped.until = oldest.Time
		}
	}
}

// Clear forgets all requests that came, those too that have not ended. Numbers go on.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries, j.bytes, j.dropped, j.cleared = nil, 0, dropped{}, j.arrived
}

// all gives the entries by number, and which were dropped.
func (j *Journal) all() ([]*Entry, dropped) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries), j.dropped
}

// Get gives the entry of that number. NotFound if it never was, or is not kept any more.
func (j *Journal) Get(number int64) (*Entry, error) {
	entries, _ := j.all()
	i := sort.Search(len(entries), func(i int) bool { return entries[i].Number >= number })
	if i == len(entries) || entries[i].Number != number {
		return nil, compute.Errorf(compute.NotFound, "the journal has no entry %d", number)
	}
	return entries[i], nil
}

// List gives the entries that the filter matches, by number, and how many were dropped: with AfterNumber the first of them, without it
// the last, as many as Limit says.
func (j *Journal) List(f Filter) (found []*Entry, dropped int64) {
	entries, others := j.all()
	checks := f.checks()
	for _, e := range entries {
		if !slices.ContainsFunc(checks, func(c check) bool { return !c.holds(e) }) {
			found = append(found, e)
		}
	}

	if f.Limit > 0 && len(found) > f.Limit {
		if f.AfterNumber != nil {
			found = found[:f.Limit]
		} else {
			found = found[len(found)-f.Limit:]
		}
	}
	return found, others.count
}
