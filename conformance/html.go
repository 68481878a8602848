package conformance

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"time"
)

//go:embed report.css
var reportStyle string

// page writes markup. It is no html/template, with which the linker keeps every method of the program: 5 MB.
type page struct {
	out io.Writer
	err error // of the first line that could not be written
}

// line writes a line. Every value is escaped, and the format has it as text or between quotes: what a server answered is never markup.
func (p *page) line(format string, values ...any) {
	for i, v := range values {
		values[i] = html.EscapeString(fmt.Sprint(v))
	}
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", values...)
	}
}

// WriteHTML writes the outcomes, which are in the order of their ids, as a page of one file that needs nothing else.
func WriteHTML(out io.Writer, about ReportOf, outcomes []Outcome) error {
	p, areas := &page{out: out}, tallies(outcomes, func(o Outcome) string { return o.Area })
	p.head(about, TallyOf(outcomes))

	p.line(`<h2 id="areas">Areas</h2>`)
	p.table("area", areas, `<td><a href="#area-%[1]s">%[1]s</a></td>`)
	p.line(`<h2 id="editions">Editions</h2>`)
	p.line(`<p class="quiet">Which editions of the contract the rules are of.</p>`)
	p.table("rules of", tallies(outcomes, editionsOf), `<td>%s</td>`)

	p.failed(outcomes)
	p.reasons(Reasons(outcomes))
	p.line(`<h2 id="rules">All rules</h2>`)
	for _, area := range areas {
		p.area(area, outcomes)
	}

	p.line("</body>")
	p.line("</html>")
	return p.err
}

// head writes what the report is about, and how many rules fared how.
func (p *page) head(about ReportOf, all Tally) {
	p.line("<!doctype html>")
	p.line(`<html lang="en">`)
	p.line("<head>")
	p.line(`<meta charset="utf-8">`)
	p.line(`<meta name="viewport" content="width=device-width, initial-scale=1">`)
	p.line(`<meta name="color-scheme" content="light dark">`)
	p.line("<title>berth conformance: %s passed, %s failed, %s not judged</title>", all.Passed, all.Failed, all.NotJudged)
	if p.err == nil {
		_, p.err = io.WriteString(p.out, "<style>\n"+reportStyle+"</style>\n")
	}
	p.line("</head>")

	p.line("<body>")
	p.line("<h1>berth conformance</h1>")
	p.line("<dl>")
	p.line("<dt>server</dt><dd><code>%s</code></dd>", cmp.Or(about.Target, "a server of its own"))
	p.line("<dt>edition of the contract</dt><dd>%s</dd>", about.Contract)
	at := about.At.UTC()
	p.line(`<dt>checked</dt><dd><time datetime="%s">%s</time> by berth %s</dd>`, at.Format(time.RFC3339), at.Format("2006-01-02 15:04:05 UTC"), about.Version)
	p.line("</dl>")
	if about.Ended != nil {
		p.line(`<p class="failed" id="ended">The run ended before its rules: %s</p>`, about.Ended)
	}

	p.line(`<p id="totals"><strong><span class="passed">%s passed</span>, <span class="failed">%s failed</span>,`, all.Passed, all.Failed)
	p.line(`<span class="open">%s not judged</span></strong>: %s of %s rules were judged (%s %%).</p>`, all.NotJudged, all.Judged(), all.Rules(), all.Percent())
	p.line(`<nav><a href="#areas">Areas</a><a href="#editions">Editions</a><a href="#failed">Failed</a><a href="#not-judged">Not judged</a><a href="#rules">All rules</a></nav>`)
}

// table writes a table of groups of rules; name is the markup of the cell with their name.
func (p *page) table(title string, groups []Tally, name string) {
	p.line("<table>")
	p.line(`<thead><tr><th>%s</th><th class="n">passed</th><th class="n">failed</th><th class="n">not judged</th></tr></thead>`, title)
	p.line("<tbody>")
	for _, t := range groups {
		failed := "n"
		if t.Failed > 0 {
			failed = "n failed"
		}
		p.line("<tr>"+name, t.Name)
		p.line(`<td class="n">%s</td><td class="%s">%s</td><td class="n">%s</td></tr>`, t.Passed, failed, t.Failed, t.NotJudged)
	}
	p.line("</tbody>")
	p.line("</table>")
}

// failed writes how the rules failed that did.
func (p *page) failed(outcomes []Outcome) {
	p.line(`<h2 id="failed">Failed</h2>`)
	none := true
	for _, o := range outcomes {
		if o.Skipped != "" || o.Failure == "" {
			continue
		}
		none = false
		p.line(`<details class="rule">`)
		p.line("<summary><code>%s</code> %s</summary>", o.ID, o.Rule.Says)
		p.line(`<dl id="failure-%s">`, o.ID)
		p.line("<dt>source</dt><dd>%s, %s</dd>", o.Rule.Kind, o.Rule.Source)
		if o.Request != "" {
			p.line("<dt>request</dt><dd><pre>%s</pre></dd>", o.Request)
		}
		if o.Answer != "" {
			p.line("<dt>answer</dt><dd><pre>%s</pre></dd>", o.Answer)
		}
		p.line("<dt>expected</dt><dd><pre>%s</pre></dd>", o.Wanted)
		p.line("</dl>")
		p.line("</details>")
	}
	if none {
		p.line("<p>None.</p>")
	}
}

// reasons writes why rules were not judged.
func (p *page) reasons(all []Reason) {
	p.line(`<h2 id="not-judged">Not judged</h2>`)
	if len(all) == 0 {
		p.line("<p>None: every rule was judged.</p>")
		return
	}
	p.line(`<p class="quiet">What the server lacks, or what was not asked for, for so many rules each:</p>`)
	for _, r := range all {
		p.line(`<details class="reason">`)
		p.line(`<summary><span class="open">%s</span> %s</summary>`, len(r.Rules), r.Why)
		p.line("<ul>")
		for _, id := range r.Rules {
			p.line(`<li><a href="#rule-%[1]s"><code>%[1]s</code></a></li>`, id)
		}
		p.line("</ul>")
		p.line("</details>")
	}
}

// area writes how each rule of an area fared.
func (p *page) area(area Tally, outcomes []Outcome) {
	p.line(`<details id="area-%s" open>`, area.Name)
	p.line("<summary><strong>%s</strong> %s passed, %s failed, %s not judged</summary>", area.Name, area.Passed, area.Failed, area.NotJudged)
	p.line("<table>")
	p.line("<tbody>")
	for _, o := range outcomes {
		if o.Area != area.Name {
			continue
		}
		p.line(`<tr id="rule-%s">`, o.ID)
		switch {
		case o.Skipped != "":
			p.line(`<td><span class="open">not judged</span></td>`)
		case o.Failure != "":
			p.line(`<td><a class="failed" href="#failure-%s">failed</a></td>`, o.ID)
		default:
			p.line(`<td><span class="passed">passed</span></td>`)
		}

		p.line("<td><code>%s</code></td><td>%s", o.ID, o.Rule.Says)
		if o.Skipped != "" {
			p.line(`<br><span class="open">%s</span>`, o.Skipped)
		}
		p.line("</td></tr>")
	}
	p.line("</tbody>")
	p.line("</table>")
	p.line("</details>")
}
