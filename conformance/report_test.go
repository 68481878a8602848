package conformance

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// failed describes the failure of a rule whose last request and answer are given.
func failed(t *testing.T, last exchange, fail func(c *Check)) (o Outcome) {
	t.Helper()
	s := &Suite{Target: Target{URL: "http://h", Key: "brt_key_that_is_whole", ControlsKey: "controls_key_of_it"}}
	r := &recorder{}
	c := s.NewCheck(t.Context(), r, r.skip)
	r.unkeyed = c.unkeyed
	c.note(last)
	done := make(chan struct{})
	go func() { // FailNow ends it
		defer close(done)
		fail(c)
	}()
	<-done
	failure, _ := r.outcome()
	c.describe(&o, failure)
	return o
}

// A text is cut at 600 bytes: what is left of a key there is no key that could be found afterwards.
func TestDescribe_NoPartOfAKeyIsShownWhereATextIsCut(t *testing.T) {
	t.Parallel()
	const key = "brt_key_that_is_whole"
	for cut := range len(key) + 2 {
		long := strings.Repeat("x", 600-cut) + key + strings.Repeat("y", 100)
		answer := &Answer{Status: 500, Header: http.Header{"Content-Type": {"text/plain"}}, Body: []byte(long)}
		o := failed(t, exchange{method: "POST", url: "http://h/" + key, body: long, answer: answer}, func(c *Check) { require.Fail(c, long) })
		for _, text := range []string{o.Request, o.Answer, o.Wanted, o.Failure, o.Expected} {
			require.NotContains(t, text, key[:2], "at %d: %s", cut, text)
			require.Contains(t, text, "x")
		}
	}

	o := failed(t, exchange{method: "GET", url: "http://h/"}, func(c *Check) { require.Equal(c, 1, 2, "as said") })
	require.Equal(t, "GET http://h/", o.Request)
	require.Equal(t, "Not equal: \nexpected: 1\nactual  : 2\nas said", o.Wanted, "without where it stands in the tests")
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// answering answers each request with so many bytes.
type answering int64

func (n answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r, Body: io.NopCloser(io.LimitReader(zeros{}, int64(n)))}, nil
}

// The target may be any server, also one whose answer never ends.
func TestExchange_AnAnswerThatIsTooLongFailsTheRule(t *testing.T) {
	t.Parallel()
	o := failed(t, exchange{}, func(c *Check) {
		c.client = &http.Client{Transport: answering(mostAnswer + 1)}
		_, _ = c.exchange(Request{Method: "GET", URL: "http://h/v2/pods"})
	})
	require.Contains(t, o.Wanted, "the answer has more than 64 MiB")
	require.NotContains(t, o.Wanted, "there is no answer")
	require.Equal(t, "GET http://h/v2/pods", o.Request)
}

func TestWriteOutcome_WhatAServerAnsweredDoesNotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	const text = "one\x1b[2J\r\x07two\tthree\u009b31m\x7f\nfour"
	for outcome, want := range map[*Outcome]string{
		{ID: "a.b", Failure: text}: "FAIL     a.b\n         one [2J  two\tthree 31m \n         four\n",
		{ID: "a.b", Skipped: text}: "SKIPPED  a.b: one [2J  two\tthree 31m \nfour\n",
	} {
		var b strings.Builder
		WriteOutcome(&b, *outcome)
		require.Equal(t, want, b.String())
	}
	var b strings.Builder
	WriteTotals(&b, []Outcome{{ID: "a.b", Area: "a", Skipped: text}})
	require.Contains(t, b.String(), "one [2J  two\tthree 31m \nfour")
	require.Equal(t, "401: a b", Answer{Status: 401, Body: []byte(`{"detail":"a\u001bb"}`)}.summary())
}
