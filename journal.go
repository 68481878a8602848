package berth

import (
	"context"
	"encoding/json"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// What the journal takes and gives, as spec/controls.yaml describes it.
type (
	// JournalEntry is a request that came, and its answer, without what is secret in them.
	JournalEntry = controls.JournalEntry
	// JournalFilter says which entries are meant. What is nil matches all.
	JournalFilter = controls.ListJournalParams
	// JournalHeader is a header of a request.
	JournalHeader = controls.JournalHeader
	// Verification is what a test expects of the requests that came.
	Verification = controls.Verification
	// Expectation is one thing of it: how many requests match all of its members.
	Expectation = controls.Expectation
	// BodyExpectation is a value that the JSON body of a request has at a place.
	BodyExpectation = controls.BodyExpectation
	// ExpectedTimes is how many requests match.
	ExpectedTimes = controls.ExpectedTimes
	// VerificationResult says which expectations do not hold, and what is wrong with each.
	VerificationResult = controls.VerificationResult
)

// Journal is the requests that came to one server: what a test reads to know what its code sent. It is bounded, and the oldest go first.
type Journal struct{ s *Server }

// Journal gives the server's journal. It panics unless the runtime is RuntimeSim: what really runs has no test controls.
func (s *Server) Journal() Journal {
	s.needControls("a journal")
	return Journal{s}
}

// Entries gives the requests that the filter matches, the newest last. The error is that of a filter that makes no sense, or of ctx.
func (j Journal) Entries(ctx context.Context, f JournalFilter) ([]JournalEntry, error) {
	var list controls.Journal
	err := j.s.ask(&list, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListJournal(ctx, &f) })
	return list.Entries, err
}

// HAR gives the requests that the filter matches as HAR 1.2. Errors as for Entries.
func (j Journal) HAR(ctx context.Context, f JournalFilter) (archive json.RawMessage, err error) {
	params := controls.ExportJournalParams(f)
	err = j.s.ask(&archive, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ExportJournal(ctx, &params) })
	return archive, err
}

// Verify holds the requests against what is expected of them. That something does not hold is no error, but in the result; the error
// is that of expectations that make no sense, or of ctx.
func (j Journal) Verify(ctx context.Context, v Verification) (result VerificationResult, err error) {
	err = j.s.ask(&result, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.VerifyJournal(ctx, v) })
	return result, err
}

// Clear forgets the requests that came.
func (j Journal) Clear(ctx context.Context) error {
	return j.s.ask(nil, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ClearJournal(ctx) })
}
