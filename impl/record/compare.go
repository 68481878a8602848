package record

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/spec/answers"
)

// What two answers differ in, besides their bodies and headers.
const (
	Status     = "status"
	Schema     = "schema"     // an answer breaks the documents of its edition
	Unanswered = "unanswered" // there is no answer
)

// Difference is something that two services answer differently to the same request.
type Difference struct {
	Exchange  int64    `json:"exchange"`  // its number in the recording
	Operation string   `json:"operation"` // for GraphQL with the fields
	Request   string   `json:"request"`   // method and address, as they were recorded
	Kind      string   `json:"kind"`
	Place     string   `json:"place"` // status, header and its name, body and a JSON Pointer, or the side whose answer it is
	Left      string   `json:"left,omitempty"`
	Right     string   `json:"right,omitempty"`
	Edition   string   `json:"edition"` // of the contract, by which the answers were read
	Rules     []string `json:"rules"`   // ids of those that say something of it
}

// Report is what a comparison found.
type Report struct {
	Compared    int          `json:"compared"` // exchanges
	Skipped     []Skipped    `json:"skipped"`
	Differences []Difference `json:"differences"`
}

// Skipped is an exchange that was not compared.
type Skipped struct {
	Exchange int64  `json:"exchange"`
	Why      string `json:"why"`
}

// Rule is a documented rule, with the operations that its test exercises.
type Rule struct {
	ID, Says   string
	Operations []string
}

// Comparison sends the requests of a recording to one or two services and compares what they answer.
type Comparison struct {
	Left  *Target // nil: the recorded answers
	Right *Target

	Contract      string                      // the edition of answers that name none; empty: the strict one
	Ignore        []string                    // JSON Pointers, with * for any step; before the first slash there may be an operation
	IgnoreHeaders []string                    // names
	Exact         bool                        // compare by value what is never the same, too
	Patience      time.Duration               // how long things may take to have the status that was recorded
	Rules         func(edition string) []Rule // nil: none are named
	Clock         compute.Clock               // nil: the machine's

	known *interfaces
}

// Run sends the requests, to both services at once, each in their order. The error is that of ctx or of the documents.
func (c *Comparison) Run(ctx context.Context, r *Recording) (*Report, error) {
	var err error
	if c.known, err = loadInterfaces(); err != nil {
		return nil, err
	}
	if c.Clock == nil {
		c.Clock = compute.SystemClock{}
	}
	why, last := make([]string, len(r.Exchanges)), polls(r.Exchanges)
	for i := range r.Exchanges {
		why[i] = skipped(&r.Exchanges[i], &r.Exchanges[last[i]])
	}

	left, right, err := c.send(ctx, r, func(i int) bool { return why[i] != "" })
	if err != nil {
		return nil, err
	}
	joinStreams(r.Exchanges, left, right, why)
	report, ids := &Report{Skipped: []Skipped{}, Differences: []Difference{}}, newPairs()
	for i := range r.Exchanges {
		if why[i] != "" {
			report.Skipped = append(report.Skipped, Skipped{r.Exchanges[i].Number, why[i]})
			continue
		}
		report.Compared++
		report.Differences = append(report.Differences, c.compare(&r.Exchanges[i], left[i], right[i], ids)...)
	}
	return report, nil
}

// skipped says why an exchange is not compared; empty: it is. The last one is that of the client that asked again.
func skipped(x, last *Exchange) string {
	switch {
	case x.Request.Truncated:
		return "the body of the request was not recorded to its end"
	case strings.Contains(x.Path, journal.Masked):
		return "the path has a secret"
	case x.overwrites():
		return "the body has a secret"
	case x.streams() && x != last, !slices.Equal(statuses(x.Response.read()), statuses(last.Response.read())):
		return "the client asked again, until exchange " + strconv.FormatInt(last.Number, 10) + ": it is waited for that answer"
	}
	return ""
}

// send has both sides answer.
func (c *Comparison) send(ctx context.Context, r *Recording, skipped func(int) bool) (left, right []*answer, err error) {
	var errLeft, errRight error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.Left != nil {
			left, errLeft = c.session(c.Left).run(ctx, r.Exchanges, skipped)
		}
	}()
	right, errRight = c.session(c.Right).run(ctx, r.Exchanges, skipped)
	<-done

	if c.Left == nil {
		for _, x := range r.Exchanges {
			left = append(left, &answer{Exchange: x})
		}
	}
	return left, right, errors.Join(errLeft, errRight)
}

func (c *Comparison) session(t *Target) *session {
	s := &session{Target: *t, known: c.known, clock: c.Clock, patience: c.Patience, ids: newPairs(), vainly: map[string]bool{}, given: map[string]int{}}
	if s.Client == nil {
		s.Client = http.DefaultTransport.(*http.Transport).Clone()
	}
	return s
}

// pair is two answers to one request, and what is found of them.
type pair struct {
	c           *Comparison
	x           *Exchange
	left, right *answer
	edition     string
	operation   *answers.Operation // nil: no document has it
	found       []Difference
}

// compare compares two answers to a request.
func (c *Comparison) compare(x *Exchange, left, right *answer, ids *pairs) []Difference {
	p := &pair{c: c, x: x, left: left, right: right}
	documents := c.documents(p)
	if !isGraphQL(x.Path) {
		p.operation = documents.Find(x.Method, x.Path)
	}
	if left.err != nil || right.err != nil { // also of both: nothing was compared
		p.add(Unanswered, "answer", text(left.err), text(right.err))
		return p.found
	}

	p.schemas()
	if left.Status != right.Status {
		p.add(Status, "status", strconv.Itoa(left.Status), strconv.Itoa(right.Status))
		return p.found
	}
	p.bodies(ids) // first: headers have the ids of what is in it
	p.headers(ids)
	return p.found
}

func text(err error) string {
	if err == nil {
		return "an answer"
	}
	return err.Error()
}

// documents gives those by which the pair is read: of the edition that an answer names, the right one's first.
func (c *Comparison) documents(p *pair) (documents *answers.Documents) {
	name := c.Contract
	for _, m := range []*Message{&p.x.Request, &p.left.Response, &p.right.Response} {
		if of := m.Header(contractHeader); of != "" {
			name = of
		}
	}
	documents, p.edition = c.known.in(name)
	return documents
}

// add notes a difference, unless it is to be ignored.
func (p *pair) add(kind, place, left, right string) {
	d := Difference{
		Exchange: p.x.Number, Operation: p.x.Operation, Request: p.x.Method + " " + p.x.address(),
		Kind: kind, Place: place, Left: left, Right: right, Edition: p.edition, Rules: []string{},
	}
	if len(p.x.Fields) > 0 {
		d.Operation += "." + strings.Join(p.x.Fields, ",")
	}
	if p.c.Rules != nil {
		d.Rules = covering(p.c.Rules(p.edition), p.x, d)
	}
	p.found = append(p.found, d)
}

// schemas holds both answers against the documents of their editions. What both break in the same way is said of both.
func (p *pair) schemas() {
	for _, side := range []struct {
		name string
		*answer
	}{{"left", p.left}, {"right", p.right}} {
		if side.Response.Truncated || side.Response.Base64 {
			continue
		}
		if err := p.broken(side.answer); err != nil {
			if side.name == "left" {
				p.add(Schema, side.name, shortenedTo(err.Error(), longestReason), "")
			} else {
				p.add(Schema, side.name, "", shortenedTo(err.Error(), longestReason))
			}
		}
	}
}

// longestReason bounds what is shown of why an answer breaks the documents, in bytes.
const longestReason = 400

// broken says how an answer breaks the documents of its edition; nil: it does not, or they do not have the operation.
func (p *pair) broken(a *answer) error {
	name := a.Response.Header(contractHeader)
	if name == "" {
		name = p.edition
	}
	documents, _ := p.c.known.in(name)
	o := documents.Find(p.x.Method, p.x.Path)
	if isGraphQL(p.x.Path) || o == nil {
		return nil
	}
	body := []byte(a.Response.Body)
	value, notJSON := plain(body)
	return o.Check(a.Status, a.Response.Header("Content-Type"), body, value, notJSON)
}

// headers compares headers: which there are, and their values where those are not another one each time.
func (p *pair) headers(ids *pairs) {
	names := map[string]bool{}
	for _, a := range []*answer{p.left, p.right} {
		for _, h := range a.Response.Headers {
			names[http.CanonicalHeaderKey(h.Name)] = true
		}
	}
	for _, name := range sortedKeys(names) {
		if containsFold(p.c.IgnoreHeaders, name) || isOfGateway(name) && !p.c.Exact {
			continue
		}
		left, right := p.left.Response.Header(name), p.right.Response.Header(name)
		place := "header " + name
		switch {
		case !p.left.Response.has(name):
			p.add(Extra, place, "", shortened(right))
		case !p.right.Response.has(name):
			p.add(Missing, place, shortened(left), "")
		case left != right && (p.c.Exact || !movesHeader(name) && !ids.same(left, right)) && !sameType(name, left, right):
			p.add(Value, place, shortened(left), shortened(right))
		}
	}
}

// sameType reports whether two content types are one, written differently.
func sameType(name, left, right string) bool {
	normal := func(v string) string {
		return strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(v), " ", ""), ";charset=utf-8")
	}
	return name == "Content-Type" && normal(left) == normal(right)
}

func (m *Message) has(name string) bool {
	return slices.ContainsFunc(m.Headers, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}

// bodies compares the bodies of two answers with one status.
func (p *pair) bodies(ids *pairs) {
	if p.left.Response.Truncated || p.right.Response.Truncated {
		return // the head is all that can be compared
	}
	d := differ{ids: ids, exact: p.c.Exact, ignored: p.ignored}
	var schema answers.Schema
	if p.operation != nil {
		schema = p.operation.Schema(p.left.Status, p.left.Response.Header("Content-Type"))
	}
	left, right := p.left.Response.read(), p.right.Response.read()
	if isText(left) && isText(right) && !p.c.Exact {
		return // measurements, pages: no members
	}
	d.values(at{schema: schema}, left, right)
	for _, one := range d.found {
		p.add(one.kind, strings.TrimSuffix("body "+one.pointer, " "), one.left, one.right)
	}
}

func isText(v any) bool { _, ok := v.(string); return ok }

// ignored reports whether what is at the place of a body is not to be compared.
func (p *pair) ignored(pointer string) bool {
	return slices.ContainsFunc(p.c.Ignore, func(pattern string) bool {
		operation, steps, _ := strings.Cut(pattern, "/")
		if operation != "" && operation != p.x.Operation && !slices.Contains(p.x.Fields, operation) {
			return false
		}
		want, have := strings.Split("/"+steps, "/"), strings.Split(pointer, "/")
		if len(want) != len(have) {
			return false
		}
		for i := range want {
			if want[i] != "*" && want[i] != have[i] {
				return false
			}
		}
		return true
	})
}
