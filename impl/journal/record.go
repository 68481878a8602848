package journal

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/berthdev/berth/impl/compute"
)

// Record is a request that is being answered. What the edges find out about it they say here. All of it may be called on nil, which is a
// request that nobody records.
type Record struct {
	arrived int64
	began   time.Time // of the clock that measures
	key     compute.KeyID
	user    compute.UserID
	fault   *Fault
}

// By notes the key that was sent.
func (r *Record) By(k compute.Key) {
	if r != nil {
		r.key, r.user = k.ID, k.UserID
	}
}

// Met notes the fault that the request was shown.
func (r *Record) Met(f Fault) {
	if r != nil {
		r.fault = &f
	}
}

type recordKey struct{}

// With gives a context of a request that has the record.
func With(ctx context.Context, r *Record) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

// Of gives the record of the request; nil: nobody records it.
func Of(ctx context.Context) *Record {
	r, _ := ctx.Value(recordKey{}).(*Record)
	return r
}

// Begin makes the record of a request that came at that time of the clock that measures.
func (j *Journal) Begin(at time.Time) *Record { return &Record{arrived: j.arrive(), began: at} }

// Exchange is a request and its answer as they were sent, secrets included.
type Exchange struct {
	At, End             time.Time // end by the clock that measures
	Method, Path, Query string    // as they were sent
	Host, Protocol      string
	Operation           string
	Document            *Document
	Resources           []Resource
	Credentials         []string // that the request was sent with: they are masked wherever they stand
	Request, Response   Sent
	Status              int
}

// Sent is a request or a response as it was sent.
type Sent struct {
	Headers map[string][]string
	Body    []byte                             // what was seen of it
	Length  int64                              // of all of it
	Mask    func(body []byte, cut bool) []byte // masks what is secret in a body, of which the end may be cut; nil: nothing is, but what is so anywhere
}

// Hide masks all of a body.
func Hide(body []byte, _ bool) []byte {
	if len(body) == 0 {
		return body
	}
	return []byte(Masked)
}

// Slack is how much more of a body than is kept must be seen, in bytes, so that what is secret is known by what comes after it.
const Slack = 4 << 10

// mostText bounds the texts of an entry that are no bodies, in bytes.
const mostText = 8 << 10

// End keeps the request of the record, with its secrets masked.
func (j *Journal) End(r *Record, x Exchange) {
	e := x.Masked(j.bounds.Body)
	e.Duration, e.KeyID, e.User, e.Fault, e.Arrived = max(0, x.End.Sub(r.began)), r.key, r.user, r.fault, r.arrived
	j.add(e)
}

// Masked gives the exchange as an entry without secrets, which has at most that many bytes of each body.
func (x Exchange) Masked(most int) *Entry {
	x.Credentials = lookedFor(x.Credentials)
	resources := slices.Clone(x.Resources)
	for i := range resources {
		resources[i].ID = bounded(string(Text([]byte(resources[i].ID), x.Credentials...)))
	}
	return &Entry{
		Time: x.At, Method: bounded(x.Method), Path: bounded(path(x.Path, x.Credentials)), Query: bounded(query(x.Query, x.Credentials)),
		Host: bounded(x.Host), Protocol: bounded(x.Protocol), Operation: x.Operation, Document: x.Document, Resources: resources,
		Request: x.Request.masked(most, x.Credentials), Response: x.Response.masked(most, x.Credentials), Status: x.Status,
	}
}

// bounded gives a text as an entry has it. It is a copy: a part of a text that was sent keeps all of that in memory, as a method does the first line of its
// request.
func bounded(text string) string {
	instead := "�"
	if len(text) > mostText {
		text, instead = text[:mostText], ""
	}
	return strings.Clone(strings.ToValidUTF8(text, instead))
}

// masked masks and bounds a message.
func (s Sent) masked(most int, credentials []string) (m Message) {
	for name, values := range s.Headers {
		for _, v := range values {
			m.Headers = append(m.Headers, Header{name, bounded(header(name, v, credentials))})
		}
	}
	slices.SortStableFunc(m.Headers, func(a, b Header) int { return strings.Compare(a.Name, b.Name) })

	cut := int64(len(s.Body)) < s.Length
	m.Body = Body{Length: s.Length, Truncated: cut}
	body := s.Body
	if s.Mask != nil {
		body = s.Mask(body, cut)
	}
	body = Text(body, credentials...)
	if len(body) > most {
		body, m.Body.Truncated = body[:most], true
	}
	m.Body.Text, m.Body.Base64 = text(body, m.Body.Truncated)
	return m
}

// NewBody gives the body of a request as an entry has it, all of it.
func NewBody(body []byte) Body {
	b := Body{Length: int64(len(body))}
	b.Text, b.Base64 = text(body, false)
	return b
}

// text gives a body as text, or else in base64. One that was cut may end within a character, which is left out.
func text(body []byte, cut bool) (_ string, isBase64 bool) {
	whole := body
	for i := 0; cut && i < utf8.UTFMax && len(whole) > 0; i++ {
		if last, size := utf8.DecodeLastRune(whole); last != utf8.RuneError || size > 1 {
			break
		}
		whole = whole[:len(whole)-1]
	}
	if utf8.Valid(whole) {
		return string(whole), false
	}
	return base64.StdEncoding.EncodeToString(body), true
}
