package conformance

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// describe reports a failure: the rule, the last request, its answer, and what was expected.
func (c *Check) describe(o *Outcome, expected string) {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	if last.method != "" {
		o.Request = strings.TrimSpace(c.unkeyed(last.method+" "+last.url) + " " + short(c.unkeyed(last.body)))
		o.Answer = "none, or not read yet"
	}
	if last.answer != nil {
		head := fmt.Sprint(last.answer.Status, " ", c.unkeyed(last.answer.Header.Get("Content-Type")))
		o.Answer = strings.TrimSpace(head + " " + short(c.unkeyed(string(last.answer.Body))))
	}
	o.Wanted = strings.TrimSpace(c.unkeyed(expected))
	o.Expected, _, _ = strings.Cut(o.Wanted, "\n")

	var b strings.Builder
	line := func(name, text string) {
		fmt.Fprintf(&b, "%-9s %s\n", name, strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n          "))
	}
	line("rule", fmt.Sprintf("%s (%s, %s)", o.Rule.Says, o.Rule.Kind, o.Rule.Source))
	if o.Request != "" {
		line("request", o.Request)
		line("answer", o.Answer)
	}
	line("expected", o.Wanted)
	o.Failure = strings.TrimSpace(b.String())
}

// unkeyed gives the text without the keys of the target, as they are and as they stand in an address. What is cut is cut afterwards: a part of a
// key would not be found.
func (c *Check) unkeyed(text string) string {
	for _, key := range []string{c.ControlsKey, c.ExemptKey, c.whole} {
		if len(key) >= 8 { // a shorter one is no secret, and part of other words
			text = strings.NewReplacer(key, "<key>", url.QueryEscape(key), "<key>").Replace(text)
		}
	}
	return text
}

// short gives the beginning of a text that may be long, or not even text.
func short(text string) string {
	const most = 600
	if !utf8.ValidString(text) {
		text = fmt.Sprintf("%q", text)
	}
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s … (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}

// expectation gives what an assertion reports, without the lines that say where in the tests it stands: whoever reads it looks at
// a server. The library writes labels in columns.
func expectation(message string) string {
	var b strings.Builder
	label, labelled := "", false
	for line := range strings.SplitSeq(strings.Trim(message, "\n"), "\n") {
		columns := strings.SplitN(line, "\t", 3)
		if len(columns) < 3 || columns[0] != "" {
			b.WriteString(line + "\n")
			continue
		}

		labelled = true
		label = cmp.Or(strings.TrimSuffix(strings.TrimSpace(columns[1]), ":"), label)
		if label != "Error Trace" && label != "Test" {
			b.WriteString(columns[2] + "\n")
		}
	}

	if !labelled {
		return message + "\n"
	}
	return short(b.String()) + "\n"
}

// printable keeps what a server answered from steering the terminal: of its control characters only newlines and tabs are left.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, text)
}

// WriteOutcome writes the line of an outcome, and more for a failure.
func WriteOutcome(out io.Writer, o Outcome) {
	switch {
	case o.Skipped != "":
		fmt.Fprintf(out, "SKIPPED  %s: %s\n", o.ID, printable(o.Skipped))
	case o.Failure != "":
		fmt.Fprintf(out, "FAIL     %s\n         %s\n", o.ID, strings.ReplaceAll(printable(o.Failure), "\n", "\n         "))
	default:
		fmt.Fprintf(out, "PASS     %s\n", o.ID)
	}
}

// WriteTotals writes a line for each area, how many rules were judged, and why the others were not, and reports whether nothing failed.
func WriteTotals(out io.Writer, outcomes []Outcome) (ok bool) {
	for _, t := range tallies(outcomes, func(o Outcome) string { return o.Area }) {
		fmt.Fprintf(out, "%-12s %3d passed, %3d failed, %3d skipped\n", t.Name, t.Passed, t.Failed, t.NotJudged)
	}

	all := TallyOf(outcomes)
	fmt.Fprintf(out, "\n%d of %d rules were judged (%d %%)\n", all.Judged(), all.Rules(), all.Percent())
	for _, r := range Reasons(outcomes) {
		fmt.Fprintf(out, "%4d were not: %s\n", len(r.Rules), printable(r.Why))
	}

	return all.Failed == 0
}

// WriteJUnit writes the outcomes as a JUnit file. Times are in seconds.
func WriteJUnit(out io.Writer, outcomes []Outcome) error {
	type message struct {
		First string `xml:"message,attr"`
		Text  string `xml:",chardata"`
	}
	type property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    float64  `xml:"time,attr"`
		Failure *message `xml:"failure,omitempty"`
		Skipped *message `xml:"skipped,omitempty"`
	}

	suite := struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     float64    `xml:"time,attr"`
		Why      []property `xml:"properties>property"`
		Cases    []testcase `xml:"testcase"`
	}{Name: "berth conformance", Tests: len(outcomes)}
	all := TallyOf(outcomes)
	suite.Why = append(suite.Why, property{"judged", fmt.Sprintf("%d of %d rules (%d %%)", all.Judged(), all.Rules(), all.Percent())})
	for _, r := range Reasons(outcomes) {
		suite.Why = append(suite.Why, property{"not judged: " + r.Why, strconv.Itoa(len(r.Rules))})
	}

	for _, o := range outcomes {
		c := testcase{Name: o.ID, Class: o.Area, Time: o.Took.Seconds()}
		suite.Time += c.Time
		switch {
		case o.Skipped != "":
			suite.Skipped++
			c.Skipped = &message{First: o.Skipped}
		case o.Failure != "":
			suite.Failures++
			c.Failure = &message{o.Expected, o.Failure}
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
