package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// Outcome is how a rule fared.
type Outcome struct {
	ID      string
	Area    string // the id up to its first dot
	Failure string // empty: passed or skipped
	Skipped string // why; empty: not skipped
	Took    time.Duration
}

// recorder is the place where a rule fails when no go test runs it.
type recorder struct {
	failure strings.Builder
	skipped string
}

func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&r.failure, format, args...) }
func (r *recorder) FailNow()                          { runtime.Goexit() }

// Run checks every rule against the target, one after the other, and writes a line for each as it ends.
func Run(target Target, documents *Documents, out io.Writer) []Outcome {
	var outcomes []Outcome
	for _, rule := range Rules() {
		r := &recorder{}
		check := &Check{TestingT: r, Target: target, Spec: documents, Skip: func(why string) {
			r.skipped = why
			runtime.Goexit()
		}}
		start := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			rule.Test(check)
		}()
		<-done
		o := Outcome{ID: rule.ID, Area: areaOf(rule.ID), Failure: strings.TrimSpace(r.failure.String()), Skipped: r.skipped, Took: time.Since(start)}
		outcomes = append(outcomes, o)
		switch {
		case o.Skipped != "":
			fmt.Fprintf(out, "SKIPPED  %s: %s\n", o.ID, o.Skipped)
		case o.Failure != "":
			fmt.Fprintf(out, "FAIL     %s\n%s\n", o.ID, o.Failure)
		default:
			fmt.Fprintf(out, "PASS     %s\n", o.ID)
		}
	}
	return outcomes
}

// WriteTotals writes a line for each area, and tells whether nothing failed.
func WriteTotals(out io.Writer, outcomes []Outcome) (ok bool) {
	type total struct{ passed, failed, skipped int }
	totals, areas := map[string]*total{}, []string{}
	ok = true
	for _, o := range outcomes {
		t := totals[o.Area]
		if t == nil {
			t = &total{}
			totals[o.Area] = t
			areas = append(areas, o.Area)
		}
		switch {
		case o.Skipped != "":
			t.skipped++
		case o.Failure != "":
			t.failed++
			ok = false
		default:
			t.passed++
		}
	}
	for _, area := range areas {
		t := totals[area]
		fmt.Fprintf(out, "%-12s %3d passed, %3d failed, %3d skipped\n", area, t.passed, t.failed, t.skipped)
	}
	return ok
}

// WriteJUnit writes the outcomes as a JUnit file.
func WriteJUnit(out io.Writer, outcomes []Outcome) error {
	type message struct {
		Text string `xml:",chardata"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    float64  `xml:"time,attr"`
		Failure *message `xml:"failure,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
	}
	suite := struct {
		XMLName xml.Name   `xml:"testsuite"`
		Name    string     `xml:"name,attr"`
		Tests   int        `xml:"tests,attr"`
		Cases   []testcase `xml:"testcase"`
	}{Name: "berth conformance", Tests: len(outcomes)}
	for _, o := range outcomes {
		c := testcase{Name: o.ID, Class: o.Area, Time: o.Took.Seconds()}
		if o.Failure != "" {
			c.Failure = &message{o.Failure}
		}
		if o.Skipped != "" {
			c.Skipped = &message{o.Skipped}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(out)
	encoder.Indent("", "  ")
	return encoder.Encode(suite)
}
