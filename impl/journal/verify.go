package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Expectation is what a test expects of the requests that came: how many there are that all of it matches.
type Expectation struct {
	Filter
	Headers []Header // of the request; names match in any case
	Body    []Value  // of the request, which is JSON

	Exactly, AtLeast, AtMost *int64 // nil: it is not bounded so; without any: at least one
}

// Value is a value at a place of a JSON document.
type Value struct {
	Pointer string // a JSON Pointer; empty: the document
	Equals  json.RawMessage
}

// Failure is an expectation that does not hold.
type Failure struct {
	Expectation int    // its place
	Says        string // in a sentence, what was expected and what was found
	Nearest     *NearMiss
}

// NearMiss is the entry that matches most of an expectation, and not all.
type NearMiss struct {
	Number      int64
	Differences []Difference
}

// Difference is a member of an expectation that an entry does not match.
type Difference struct{ Member, Expected, Found string }

// Verify holds the entries against the expectations and gives those that do not hold, and how many entries were dropped, which are not
// counted: nothing holds that may be exactly or at most so many, and may have been met by such. With inOrder, the requests that the expectations
// are about must also have come one after the other. The error is that of ctx.
func (j *Journal) Verify(ctx context.Context, expectations []Expectation, inOrder bool) (failures []Failure, dropped int64, err error) {
	entries, others := j.all()
	slices.SortFunc(entries, func(a, b *Entry) int { return cmp.Compare(a.Arrived, b.Arrived) })
	next := 0 // the entry from which on the next expectation is looked for
	for i, x := range expectations {
		found, nearest, err := x.among(ctx, entries)
		if err != nil {
			return nil, others.count, err
		}

		if why := x.wrong(len(found), others.among(x.Filter)); why != "" {
			if int64(len(found)) > x.least() { // there are too many: another one is not near
				why, nearest = why+numbers(entries, found), nil
			}
			failures = append(failures, Failure{Expectation: i, Says: x.says() + ": " + why, Nearest: nearest})
			continue
		}
		if !inOrder {
			continue
		}

		after, ok := x.follow(found, next)
		if !ok {
			failures = append(failures, Failure{Expectation: i, Says: x.says() + ": " + outOfOrder(entries, found, next), Nearest: nearest})
			continue
		}
		next = after
	}

	return failures, others.count, nil
}

// among gives the places of the entries that match, and the nearest of the others: the last that matches most.
func (x Expectation) among(ctx context.Context, entries []*Entry) (found []int, nearest *NearMiss, err error) {
	checks := x.checks()
	var near *Entry
	fewest := len(checks) // an entry that matches nothing is no near miss
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		wrong := 0
		for _, c := range checks {
			if !c.holds(e) {
				wrong++
			}
		}

		switch {
		case wrong == 0:
			found = append(found, i)
		case wrong < fewest || wrong == fewest && near != nil:
			near, fewest = e, wrong
		}
	}

	if near == nil {
		return found, nil, nil
	}
	nearest = &NearMiss{Number: near.Number}
	for _, c := range checks {
		if !c.holds(near) {
			nearest.Differences = append(nearest.Differences, Difference{c.member, c.expected, c.found(near)})
		}
	}
	return found, nearest, nil
}

// checks gives a check for each member but the times.
func (x Expectation) checks() []check {
	all := x.Filter.checks()
	for _, h := range x.Headers {
		all = append(all, check{"header " + h.Name, h.Value, func(e *Entry) bool { return slices.Contains(e.Request.values(h.Name), h.Value) }, func(e *Entry) string {
			return orNone(strings.Join(e.Request.values(h.Name), ", "))
		}})
	}
	of := &body{}
	for _, v := range x.Body {
		all = append(all, v.check(of))
	}
	return all
}

// Matches reports whether the entry matches all of the expectation, its times aside.
func (x Expectation) Matches(e *Entry) bool {
	return !slices.ContainsFunc(x.checks(), func(c check) bool { return !c.holds(e) })
}

// values gives the values of a header.
func (m *Message) values(name string) (values []string) {
	for _, h := range m.Headers {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return values
}

// Header gives the first value of a header; empty: there is none.
func (m *Message) Header(name string) string {
	for _, value := range m.values(name) {
		return value
	}
	return ""
}

// least is how many entries must match at least.
func (x Expectation) least() int64 {
	switch {
	case x.Exactly == nil && x.AtLeast == nil && x.AtMost == nil:
		return 1
	case x.Exactly == nil && x.AtLeast == nil:
		return 0
	case x.Exactly == nil:
		return *x.AtLeast
	case x.AtLeast == nil:
		return *x.Exactly
	}
	return max(*x.Exactly, *x.AtLeast)
}

// wrong says what is wrong with that many entries, where so many others were forgotten; empty: nothing is.
func (x Expectation) wrong(n int, dropped int64) string {
	got := int64(n)
	fit := got >= x.least() && (x.Exactly == nil || got == *x.Exactly) && (x.AtMost == nil || got <= *x.AtMost)
	switch {
	case !fit:
		return fmt.Sprintf("expected %s, found %d", x.times(), n)
	case dropped > 0 && (x.Exactly != nil || x.AtMost != nil):
		return fmt.Sprintf("expected %s, found %d, but %d older requests were forgotten, which may have been such", x.times(), n, dropped)
	default:
		return ""
	}
}

// numbers names the first entries that were found.
func numbers(entries []*Entry, found []int) string {
	var list []string
	for _, i := range found[:min(len(found), mostNamed)] {
		list = append(list, strconv.FormatInt(entries[i].Number, 10))
	}
	if len(found) > mostNamed {
		list = append(list, "…")
	}
	return " (numbers " + strings.Join(list, ", ") + ")"
}

func (x Expectation) times() string {
	var words []string
	for _, bound := range []struct {
		word string
		n    *int64
	}{{"exactly", x.Exactly}, {"at least", x.AtLeast}, {"at most", x.AtMost}} {
		if bound.n != nil {
			words = append(words, fmt.Sprintf("%s %d", bound.word, *bound.n))
		}
	}
	if words == nil {
		return "at least 1"
	}
	return strings.Join(words, " and ")
}

// mostNamed is how many entries a sentence names.
const mostNamed = 10

// longest bounds what a sentence shows of a value, in bytes.
const longest = 200

// says describes the requests that the expectation is about.
func (x Expectation) says() string {
	var words []string
	for _, c := range x.checks() {
		words = append(words, c.member+" "+shortened(c.expected))
	}
	if words == nil {
		return "requests"
	}
	return "requests with " + strings.Join(words, ", ")
}

func shortened(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// follow finds as many matches as there must be from an entry on, and gives the entry after them.
func (x Expectation) follow(found []int, from int) (next int, ok bool) {
	missing := x.least()
	for _, i := range found {
		if missing == 0 {
			break
		}
		if i >= from {
			missing--
			from = i + 1
		}
	}
	return from, missing == 0
}

// outOfOrder says that too few of the matches came after the entry before from.
func outOfOrder(entries []*Entry, found []int, from int) string {
	return fmt.Sprintf("expected after request %d, which the expectations before it are about, found last as request %d", entries[from-1].Number, entries[found[len(found)-1]].Number)
}
