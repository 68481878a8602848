package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// verify holds a journal against expectations that need no context.
func verify(t *testing.T, j *Journal, inOrder bool, x ...Expectation) []Failure {
	failures, _, err := j.Verify(t.Context(), x, inOrder)
	require.NoError(t, err)
	return failures
}

func n(v int64) *int64 { return &v }

// ran notes a run with that input.
func ran(j *Journal, input string) {
	body := []byte(`{"input":` + input + `}`)
	sent(j, Exchange{
		Method: "POST", Path: "/v2/e1/run", Operation: "run", Status: 200,
		Request: Sent{Headers: map[string][]string{"Content-Type": {"application/json"}}, Body: body, Length: int64(len(body))},
	})
}

func TestVerify_CountsWhatMatches(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	ran(j, `{"n":1}`)
	ran(j, `{"n":2}`)
	run := Filter{Operation: "run"}
	for name, c := range map[string]struct {
		x    Expectation
		says string
	}{
		"at least one":          {x: Expectation{Filter: run}},
		"exactly":               {x: Expectation{Filter: run, Exactly: n(2)}},
		"exactly, too many":     {Expectation{Filter: run, Exactly: n(1)}, "requests with operation run: expected exactly 1, found 2 (numbers 1, 2)"},
		"exactly, too few":      {Expectation{Filter: run, Exactly: n(3)}, "requests with operation run: expected exactly 3, found 2"},
		"at least":              {x: Expectation{Filter: run, AtLeast: n(2)}},
		"at least, too few":     {Expectation{Filter: run, AtLeast: n(3)}, "requests with operation run: expected at least 3, found 2"},
		"at most":               {x: Expectation{Filter: run, AtMost: n(2)}},
		"at most, none":         {x: Expectation{Filter: Filter{Operation: "cancel"}, AtMost: n(2)}},
		"at most, too many":     {Expectation{Filter: run, AtMost: n(1)}, "requests with operation run: expected at most 1, found 2 (numbers 1, 2)"},
		"between":               {x: Expectation{Filter: run, AtLeast: n(1), AtMost: n(2)}},
		"never":                 {x: Expectation{Filter: Filter{Operation: "cancel"}, Exactly: n(0)}},
		"never, and all the sa": {Expectation{Filter: run, Exactly: n(0)}, "requests with operation run: expected exactly 0, found 2 (numbers 1, 2)"},
		"none":                  {Expectation{Filter: Filter{Operation: "cancel"}}, "requests with operation cancel: expected at least 1, found 0"},
		"everything":            {Expectation{Exactly: n(3)}, "requests: expected exactly 3, found 2"},
	} {
		failures := verify(t, j, false, c.x)
		if c.says == "" {
			require.Empty(t, failures, name)
			continue
		}
		require.Len(t, failures, 1, name)
		require.Equal(t, c.says, failures[0].Says, name)
	}
}

func TestVerify_IsCertainOfWhatCameAfterThoseDropped(t *testing.T) {
	t.Parallel()
	j := New(Bounds{Entries: 1, Body: 100, Bytes: 1 << 20})
	for range 3 { // at began and 1, 2 and 3 seconds, of which the last is kept
		ran(j, `{}`)
	}
	for name, c := range map[string]struct {
		f       Filter
		certain bool
	}{
		"after the last dropped":   {Filter{AfterNumber: n(2)}, true},
		"after one before it":      {Filter{AfterNumber: n(1)}, false},
		"since its time":           {Filter{Since: began.Add(2 * time.Second)}, false},
		"since a moment later":     {Filter{Since: began.Add(2*time.Second + 1)}, true},
		"either of them is enough": {Filter{AfterNumber: n(2), Since: began}, true},
		"all":                      {Filter{}, false},
	} {
		failures := verify(t, j, false, Expectation{Filter: c.f, Exactly: n(1)}, Expectation{Filter: c.f})
		require.Equal(t, c.certain, len(failures) == 0, name)
		if !c.certain {
			require.Len(t, failures, 1, name)
			require.Contains(t, failures[0].Says, "expected exactly 1, found 1, but 2 older requests were forgotten, which may have been such", name)
		}
	}

	j.Clear()
	ran(j, `{}`)
	require.Empty(t, verify(t, j, false, Expectation{Exactly: n(1)}))
}

func TestVerify_ComparesBodiesAndHeaders(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	ran(j, `{"n":1.50,"list":[1,{"a/b":"x","~":null}],"big":9007199254740993,"deep":{"x":1,"y":[true]}}`)
	for name, c := range map[string]struct {
		pointer, equals string
		holds           bool
	}{
		"number":            {"/input/n", "1.5", true},
		"number, power":     {"/input/n", "15e-1", true},
		"other number":      {"/input/n", "1.51", false},
		"text of a number":  {"/input/n", `"1.5"`, false},
		"every digit":       {"/input/big", "9007199254740992", false},
		"the same digits":   {"/input/big", "9007199254740993.0", true},
		"item":              {"/input/list/0", "1", true},
		"item after":        {"/input/list/2", "1", false},
		"item, not a place": {"/input/list/00", "1", false},
		"slash":             {"/input/list/1/a~1b", `"x"`, true},
		"tilde":             {"/input/list/1/~0", "null", true},
		"absent, not null":  {"/input/none", "null", false},
		"through a number":  {"/input/n/x", "1", false},
		"object, any order": {"/input/deep", `{"y":[true],"x":1.0}`, true},
		"object, one less":  {"/input/deep", `{"x":1}`, false},
		"whole":             {"", `{"input":1}`, false},
		"text":              {"/input/list/1/a~1b", `"\u0078"`, true},
	} {
		failures := verify(t, j, false, Expectation{Body: []Value{{c.pointer, []byte(c.equals)}}})
		require.Equal(t, c.holds, len(failures) == 0, name)
	}

	require.Empty(t, verify(t, j, false, Expectation{Headers: []Header{{"content-type", "application/json"}}}))
	require.Len(t, verify(t, j, false, Expectation{Headers: []Header{{"Content-Type", "application/JSON"}}}), 1)
}

func TestVerify_NamesTheNearestAndWhatDiffers(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	ran(j, `{"n":1}`)
	ran(j, `{"n":2}`)
	sent(j, Exchange{Method: "GET", Path: "/v2/e1/status/x", Operation: "status", Status: 200})
	x := Expectation{Filter: Filter{Operation: "run", Status: "2xx"}, Body: []Value{{"/input/n", []byte("7")}}, Headers: []Header{{"X-Trace", "on"}}}
	failures := verify(t, j, false, x)
	require.Equal(t, "requests with operation run, status 2xx, header X-Trace on, body /input/n 7: expected at least 1, found 0", failures[0].Says)
	require.Equal(t, &NearMiss{Number: 2, Differences: []Difference{
		{"header X-Trace", "on", "none"}, {"body /input/n", "7", "2"},
	}}, failures[0].Nearest)

	require.Nil(t, verify(t, j, false, Expectation{Filter: Filter{Operation: "cancel"}})[0].Nearest, "what matches nothing is not near")
	require.Nil(t, verify(t, j, false, Expectation{Filter: Filter{Operation: "run"}, Exactly: n(1)})[0].Nearest, "what there are too many of")
}

func TestVerify_SaysWhatABodyIsInstead(t *testing.T) {
	t.Parallel()
	for found, s := range map[string]Sent{
		"no body":                    {},
		"a body that is not JSON":    {Body: []byte(`{"n":7}{}`), Length: 9},
		"a body that is no text":     {Body: []byte("\xff"), Length: 1},
		"nothing":                    {Body: []byte(`{"m":1}`), Length: 7},
		`{"a":[1]}`:                  {Body: []byte(`{"n":{"a":[1]}}`), Length: 15},
		"a body of 90 bytes, of whi": {Body: []byte(`{"n":7}`), Length: 90},
	} {
		j := New(DefaultBounds())
		sent(j, Exchange{Operation: "run", Request: s})
		near := verify(t, j, false, Expectation{Filter: Filter{Operation: "run"}, Body: []Value{{"/n", []byte("7")}}})[0].Nearest
		require.Contains(t, near.Differences[0].Found, found)
	}
}

func TestVerify_HoldsTheOrder(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	for i := range 3 {
		ran(j, fmt.Sprintf(`{"n":%d}`, i))
	}
	ran(j, `{"n":0}`)
	input := func(i int, exactly ...int64) Expectation {
		x := Expectation{Body: []Value{{"/input/n", fmt.Appendf(nil, "%d", i)}}}
		if exactly != nil {
			x.Exactly = &exactly[0]
		}
		return x
	}

	require.Empty(t, verify(t, j, true, input(0), input(1), input(2), input(0)))
	require.Empty(t, verify(t, j, true, input(1), input(0)), "the last one comes after")
	require.Empty(t, verify(t, j, true, input(0), input(9, 0), input(2)), "what never came stands nowhere")
	require.Empty(t, verify(t, j, true, input(0, 2)))
	require.Empty(t, verify(t, j, false, input(2), input(1)))

	failures := verify(t, j, true, input(2), input(1))
	require.Len(t, failures, 1)
	require.Equal(t, 1, failures[0].Expectation)
	require.Equal(t, "requests with body /input/n 1: expected after request 3, which the expectations before it are about, found last as request 2", failures[0].Says)
	require.Len(t, verify(t, j, true, input(0, 2), input(2)), 1, "both come before")
}

func TestVerify_OrdersByArrival(t *testing.T) {
	t.Parallel()
	j := New(DefaultBounds())
	first, second := j.Begin(began), j.Begin(began)
	j.End(second, Exchange{Operation: "second"})
	j.End(first, Exchange{Operation: "first"})
	a, b := Expectation{Filter: Filter{Operation: "first"}}, Expectation{Filter: Filter{Operation: "second"}}
	require.Empty(t, verify(t, j, true, a, b))
	require.Len(t, verify(t, j, true, b, a), 1)
}

func TestNormalNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "0e5": "0", "1": "1", "1.0": "1", "100": "100", "1e2": "100", "1E+2": "100", "-1.50": "-1.5", "15e-1": "1.5", "0.05": "5e-2", "5e-2": "5e-2",
		"1e400": "1e400", "10e399": "1e400", "123456789012345678901234567890": "12345678901234567890123456789e1", "1e99999999999999999999": "1e99999999999999999999",
	} {
		got := normalNumber(text)
		if text == "123456789012345678901234567890" {
			require.Equal(t, got, normalNumber("12345678901234567890123456789e1"))
			continue
		}
		require.Equal(t, want, got, text)
	}
}
