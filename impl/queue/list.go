package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

const (
	// mostLooked is how many jobs a page looks at: a filter that few jobs match costs no more.
	mostLooked = 10_000
	// fewestRead and mostRead are how many jobs of an endpoint are read at once.
	fewestRead = 20
	mostRead   = 1000
	// ExcerptSize is how many bytes of a text of a job are shown.
	ExcerptSize = 64 << 10
)

// Search says which jobs are looked for. A zero value asks for nothing.
type Search struct {
	Endpoint compute.EndpointID
	Status   compute.JobStatus
	From, To time.Time // of the submission: at the earliest, and before
	Error    string    // that the error contains, where A to Z are as a to z
	Page     compute.Page
}

// Readable says which endpoints a caller may read the jobs of.
type Readable struct {
	User compute.UserID
	May  func(compute.EndpointID) bool
}

// List gives a page of the jobs that the search matches, the one that was submitted last first, with times of day, without JSON and with
// the beginnings of their errors; and where the next page begins, which may be empty; zero: there is none. NotFound for an endpoint that
// is none of the caller's.
func (q *Queue) List(ctx context.Context, who Readable, s Search) (jobs []compute.Job, next compute.Position, err error) {
	err = q.store.Read(ctx, func(tx store.Tx) error {
		jobs, next = nil, compute.Position{}
		endpoints, err := q.searched(tx, who, s.Endpoint)
		if err != nil {
			return err
		}

		l := newLook(tx, endpoints, s)
		jobs, next, err = l.page()
		return err
	})
	for i := range jobs {
		jobs[i] = q.ofDay(jobs[i])
	}
	return jobs, next, err
}

// searched gives the endpoints whose jobs are looked at.
func (q *Queue) searched(tx store.Endpoints, who Readable, only compute.EndpointID) (ids []compute.EndpointID, err error) {
	if only != "" {
		if _, err := ReadableEndpoint(tx, who, only); err != nil {
			return nil, err
		}
		return []compute.EndpointID{only}, nil
	}

	err = store.Walk(who.User, tx.PageEndpoints, func(e compute.Endpoint) {
		if who.May(e.ID) {
			ids = append(ids, e.ID)
		}
	})
	return ids, err
}

// ReadableEndpoint gives the endpoint if the caller may read its jobs. NotFound otherwise.
func ReadableEndpoint(tx store.Endpoints, who Readable, id compute.EndpointID) (compute.Endpoint, error) {
	e, err := tx.Endpoint(id)
	if err == nil && (e.UserID != who.User || !e.DeletedAt.IsZero() || !who.May(id)) {
		err = compute.Errorf(compute.NotFound, "endpoint %q does not exist", id)
	}
	return e, err
}

// look goes through the jobs of endpoints side by side, the one that was submitted last first.
type look struct {
	tx     store.JobLists
	search Search
	now    time.Time
	lines  []*jobLine
}

// jobLine is what was read of the jobs of an endpoint and not looked at yet.
type jobLine struct {
	endpoint compute.EndpointID
	read     []store.FoundJob
	after    compute.Position // what was read last
	chunk    int              // how many are read the next time
	over     bool             // nothing is left to be read
}

func newLook(tx store.Queue, endpoints []compute.EndpointID, s Search) *look {
	l := &look{tx: tx, search: s, now: tx.Now()}
	after := s.Page.After
	if to := (compute.Position{At: upTo(s.To).UnixMilli()}); !s.To.IsZero() && (after == (compute.Position{}) || before(to, after)) {
		after = to
	}

	chunk := fewestRead
	if len(endpoints) == 1 {
		chunk = s.Page.Limit + 1
	}
	for _, e := range endpoints {
		l.lines = append(l.lines, &jobLine{endpoint: e, after: after, chunk: min(chunk, mostRead)})
	}
	return l
}

// upTo gives the first whole millisecond that is not before the time: jobs have no others.
func upTo(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}

// before reports whether a place comes later in the list than another.
func before(a, b compute.Position) bool {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq)) < 0
}

// page gives a page, and where the next one begins.
func (l *look) page() (jobs []compute.Job, next compute.Position, err error) {
	for looked := 0; ; looked++ {
		one, err := l.newest()
		if err != nil || one == nil {
			return jobs, compute.Position{}, err
		}
		if len(jobs) == l.search.Page.Limit || looked == mostLooked {
			return jobs, next, nil
		}

		next = one.read[0].At
		if l.matches(&one.read[0]) {
			jobs = append(jobs, one.read[0].Job)
		}
		one.read = one.read[1:]
	}
}

// newest gives the line whose next job was submitted last; nil if none has any.
func (l *look) newest() (newest *jobLine, err error) {
	for _, one := range l.lines {
		if err := l.fill(one); err != nil {
			return nil, err
		}
		if len(one.read) > 0 && (newest == nil || before(newest.read[0].At, one.read[0].At)) {
			newest = one
		}
	}
	l.lines = slices.DeleteFunc(l.lines, func(one *jobLine) bool { return one.over && len(one.read) == 0 })
	return newest, nil
}

// fill reads on if nothing is left of what was read.
func (l *look) fill(one *jobLine) (err error) {
	if len(one.read) > 0 || one.over {
		return nil
	}
	s := l.search
	failed := s.Error != "" || s.Status == compute.JobFailed || s.Status == compute.JobTimedOut
	one.read, err = l.tx.ListJobs(store.JobSearch{
		EndpointID: one.endpoint, Open: failed || s.Status != "" && !s.Status.Ended(), Before: one.after, From: upTo(s.From), Error: s.Error, Limit: one.chunk,
	})
	one.over = len(one.read) < one.chunk
	if len(one.read) > 0 {
		one.after = one.read[len(one.read)-1].At
	}
	one.chunk = min(2*one.chunk, mostRead)
	return err
}

func (l *look) matches(j *store.FoundJob) bool {
	return visible(j.Job, j.EndpointID, l.now) && (l.search.Status == "" || l.search.Status == j.Status) &&
		(l.search.Error == "" || j.Matches && j.Error != "")
}

// Excerpt is the beginning of a text.
type Excerpt struct {
	Text []byte
	Size int // bytes of all of it
}

// ShownJob is all that is known of a job.
type ShownJob struct {
	compute.Job // with times of day, and without output
	Input       Excerpt
	Output      Excerpt
}

// Show gives all that is known of a job. NotFound for one that is unknown, that is none of the caller's, or whose time is over.
func (q *Queue) Show(ctx context.Context, who Readable, id compute.JobID) (shown ShownJob, err error) {
	err = q.store.Read(ctx, func(tx store.Tx) error {
		j, err := ReadableJob(tx, who, id)
		if err != nil {
			return err
		}
		shown = ShownJob{Job: j, Output: Excerpt{Size: max(len(j.Output), j.OutputSize)}}
		if shown.Input.Size, err = tx.InputSize(id); err != nil {
			return err
		}
		input, err := tx.JobInput(id)
		if err != nil {
			return err
		}
		if shown.Input.Text, err = beginning(tx, j, compute.JobInput, input, shown.Input.Size); err != nil {
			return err
		}

		shown.Output.Text, err = beginning(tx, j, compute.JobOutput, j.Output, j.OutputSize)
		return err
	})
	if err != nil {
		return shown, err
	}
	shown.Job = q.ofDay(shown.Job)
	shown.Job.Output = nil
	return shown, nil
}

// ReadableJob gives the job if the caller may read it. NotFound otherwise.
func ReadableJob(tx store.Tx, who Readable, id compute.JobID) (compute.Job, error) {
	j, err := tx.Job(id)
	if err == nil && !visible(j, j.EndpointID, tx.Now()) {
		err = unknownJob(id)
	}
	if err == nil {
		_, err = ReadableEndpoint(tx, who, j.EndpointID)
	}
	if compute.CodeOf(err) == compute.NotFound {
		err = unknownJob(id)
	}
	return j, err
}

// beginning gives the beginning of a text of a job, which is kept in pieces if it is long and not at hand.
func beginning(tx store.JobPieces, j compute.Job, of compute.JobText, text json.RawMessage, size int) (json.RawMessage, error) {
	if len(text) == 0 && size > 0 {
		var err error
		if text, err = tx.JobPieces(j, of, 0, 1); err != nil {
			return nil, err
		}
	}
	return text[:min(len(text), ExcerptSize)], nil
}
