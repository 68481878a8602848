// Package problem is the one table from the way in which a request failed to what the wire says.
package problem

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Entry is what the wire says of a code.
type Entry struct {
	Status int // HTTP
	Title  string
}

// Table has a row for each code, which GraphQL says as it is (rules errors.*).
var Table = map[compute.Code]Entry{
	compute.Invalid:         {422, "Unprocessable Entity"},
	compute.Rejected:        {400, "Bad Request"},
	compute.Unauthenticated: {401, "Unauthorized"},
	compute.OverSpend:       {402, "Payment Required"},
	compute.Forbidden:       {403, "Forbidden"},
	compute.NotFound:        {404, "Not Found"},
	compute.Conflict:        {409, "Conflict"},
	compute.TooMany:         {429, "Too Many Requests"},
	compute.Unavailable:     {503, "Service Unavailable"},
	compute.Internal:        {500, "Internal Server Error"},
}

// CodeFor gives the code of an HTTP status; Internal for one that is not in the table.
func CodeFor(status int) compute.Code {
	for code, entry := range Table {
		if entry.Status == status {
			return code
		}
	}
	return compute.Internal
}

// Problem is a failure, ready to be written.
type Problem struct {
	Entry
	Code       compute.Code
	Detail     string
	Errors     []string
	RetryAfter string // the header, in seconds; empty: none
}

// Of gives the problem of err. An unknown error is an internal one, and its text stays inside.
func Of(err error) Problem {
	e, ok := errors.AsType[*compute.Error](err)
	if !ok || e.Code == compute.Internal {
		return Problem{Entry: Table[compute.Internal], Code: compute.Internal, Detail: "an internal error occurred; the log of the server has it"}
	}
	p := Problem{Entry: Table[e.Code], Code: e.Code, Detail: e.Detail, Errors: e.Fields}
	p.Title = cmp.Or(e.Title, p.Title)
	if e.RetryAfter > 0 {
		p.RetryAfter = strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10)
	}
	return p
}
