package conformance_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/spec"
)

// reported gives outcomes of every kind, all of whose texts have the text in them.
func reported(text string) []conformance.Outcome {
	rule := spec.Rule{Says: "Says " + text, Source: "source " + text, Kind: "decided"}
	strict := rule
	strict.Editions = []string{"2.0.0"}
	return []conformance.Outcome{
		{ID: "jobs.lists", Area: "jobs", Rule: rule, Skipped: "no clock " + text},
		{
			ID: "pods.broken", Area: "pods", Rule: strict, Failure: "all of it " + text, Expected: "a line " + text,
			Request: "GET /broken " + text, Answer: "500 " + text, Wanted: "expected 200 " + text,
		},
		{ID: "pods.fine", Area: "pods", Rule: rule},
		{ID: "pods.later", Area: "pods", Rule: strict, Skipped: "no clock " + text},
		{ID: "pods.other", Area: "pods", Rule: rule, Skipped: "another reason"},
	}
}

// page writes a report and reads it again: its elements, and its text. It asserts that each element that needs an end has it.
func page(t *testing.T, about conformance.ReportOf, outcomes []conformance.Outcome) (elements []html.Token, text string) {
	t.Helper()
	var b, said strings.Builder
	require.NoError(t, conformance.WriteHTML(&b, about, outcomes))
	var open []string
	for z := html.NewTokenizer(strings.NewReader(b.String())); ; {
		switch z.Next() {
		case html.ErrorToken:
			require.ErrorIs(t, z.Err(), io.EOF)
			require.Empty(t, open)
			return elements, strings.Join(strings.Fields(said.String()), " ")
		case html.TextToken:
			if len(open) > 0 && open[len(open)-1] != "style" {
				said.WriteString(z.Token().Data + " ")
			}
		case html.StartTagToken:
			e := z.Token()
			elements = append(elements, e)
			if !slices.Contains([]string{"meta", "br"}, e.Data) {
				open = append(open, e.Data)
			}
		case html.EndTagToken:
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1], z.Token().Data)
			open = open[:len(open)-1]
		}
	}
}

func TestWriteHTML_IsOneFileWithoutScriptsWhoseLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	elements, _ := page(t, conformance.ReportOf{Target: "http://127.0.0.1:1"}, reported("x"))
	ids, links := map[string]bool{}, []string{}
	for _, e := range elements {
		require.NotContains(t, []string{"script", "link", "img", "iframe", "object", "form"}, e.Data)
		for _, a := range e.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "style", a.Key)
			switch a.Key {
			case "id":
				require.False(t, ids[a.Val], a.Val)
				ids[a.Val] = true
			case "href":
				links = append(links, a.Val)
			}
		}
	}

	require.Greater(t, len(links), 5)
	for _, link := range links {
		require.True(t, strings.HasPrefix(link, "#") && ids[link[1:]], link)
	}
}

func TestWriteHTML_ShowsWhatFailedWhatWasNotJudgedAndWhy(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	about := conformance.ReportOf{Target: "http://127.0.0.1:1", Contract: "2.0.0", Version: "v9", At: at, Ended: errors.New("it is gone")}
	_, text := page(t, about, reported("x"))
	for _, want := range []string{
		"http://127.0.0.1:1", "edition of the contract 2.0.0", "2026-11-23 12:00:00 UTC by berth v9", "The run ended before its rules: it is gone",
		"1 passed , 1 failed , 3 not judged : 2 of 5 rules were judged (40 %).",
		"pods.broken Says x source decided, source x request GET /broken x answer 500 x expected expected 200 x",
		"2 no clock x jobs.lists pods.later 1 another reason pods.other",
		"area passed failed not judged jobs 0 0 1 pods 1 1 2", "rules of passed failed not judged 2.0.0 alone 0 1 1 every edition 1 0 2",
		"passed pods.fine Says x", "not judged pods.later Says x no clock x",
	} {
		require.Contains(t, text, want)
	}

	_, text = page(t, conformance.ReportOf{}, reported("x")[2:3])
	require.Contains(t, text, "a server of its own")
	require.Contains(t, text, "Failed None.")
	require.Contains(t, text, "every rule was judged")
	require.NotContains(t, text, "The run ended")
}

func TestWriteHTML_WhatAServerAnsweredIsNoMarkup(t *testing.T) {
	t.Parallel()
	const hostile = `</pre></style><script>alert(1)</script><img src=x onerror="a()"> '"&amp; {{.}}`
	plain, _ := page(t, conformance.ReportOf{}, reported("x"))
	about := conformance.ReportOf{Target: hostile, Contract: hostile, Version: hostile, Ended: errors.New(hostile)}
	elements, text := page(t, about, reported(hostile))
	require.Len(t, elements, len(plain)+1, "that of why the run ended")
	for _, before := range []string{"server ", "Says ", "source ", "GET /broken ", "500 ", "expected 200 ", "no clock ", "berth ", "its rules: "} {
		require.Contains(t, text, before+hostile)
	}
}

func TestWriteTotals_SaysHowManyWereJudgedAndWhyOthersWereNot(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.False(t, conformance.WriteTotals(&b, reported("x")))
	require.Contains(t, b.String(), "pods           1 passed,   1 failed,   2 skipped\n")
	require.Contains(t, b.String(), "\n2 of 5 rules were judged (40 %)\n   2 were not: no clock x\n   1 were not: another reason\n")
	require.True(t, conformance.WriteTotals(io.Discard, reported("x")[2:]))

	b.Reset()
	require.NoError(t, conformance.WriteJUnit(&b, reported("x")))
	require.Contains(t, b.String(), `<property name="judged" value="2 of 5 rules (40 %)">`)
	require.Contains(t, b.String(), `<property name="not judged: no clock x" value="2">`)
}
