package record_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// reading is a recorded read of a stream.
func reading(number int64, status int, answer string) record.Exchange {
	x := exchange(number, "GET", "/v2/own/stream/j", "", status, answer)
	x.Operation = "stream"
	if answer == gone {
		x.Response.Headers[0].Value = "application/problem+json"
	}
	return x
}

// gone is the answer to a read of a stream that nobody can read any more.
const gone = `{"title":"Not Found","detail":"there is no job j","error":"there is no job j"}`

// part is an answer to such a read: the chunks from one to another.
func part(status string, from, to int) string {
	var chunks []string
	for i := from; i <= to; i++ {
		chunks = append(chunks, `{"output":{"n":`+strconv.Itoa(i)+`}}`)
	}
	list := "[" + strings.Join(chunks, ",") + "]"
	if status == "" {
		return list
	}
	return `{"status":"` + status + `","stream":` + list + `}`
}

// gives is a service that gives each answer to a stream's reads once, and the last one from then on.
func gives(asked *int, answers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/stream/") {
			answering(`{}`)(w, r)
			return
		}
		body := answers[min(*asked, len(answers)-1)]
		*asked++
		if body == gone {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, body)
			return
		}
		answering(body)(w, r)
	}
}

func TestCompare_ChunksOfStreamsMayComeTogetherOtherwise(t *testing.T) {
	t.Parallel()
	recorded := []record.Exchange{reading(1, 200, part("IN_PROGRESS", 1, 1)), reading(2, 200, part("IN_PROGRESS", 2, 3)), reading(3, 200, part("COMPLETED", 4, 5))}
	other := exchange(4, "POST", "/v2/own", "", 200, `{}`)
	apart := []record.Exchange{recorded[0], other, recorded[1], recorded[2]}
	apart[1].Number, apart[2].Number, apart[3].Number = 2, 3, 4
	bare := []record.Exchange{reading(1, 200, part("", 1, 2)), reading(2, 200, part("", 3, 5)), reading(3, 200, part("", 1, 0))}
	left := []record.Exchange{reading(1, 200, part("IN_PROGRESS", 1, 2))}
	leftBare := []record.Exchange{reading(1, 200, part("", 1, 2))}
	cancelled := []record.Exchange{reading(1, 200, part("IN_PROGRESS", 1, 2)), reading(2, 200, part("CANCELLED", 1, 0)), reading(3, 404, gone)}

	for name, c := range map[string]struct {
		recorded []record.Exchange
		answers  []string
		asked    int
		want     []string
	}{
		"at once":              {recorded, []string{part("COMPLETED", 1, 5)}, 1, nil},
		"one by one":           {recorded, []string{part("IN_PROGRESS", 1, 1), part("IN_PROGRESS", 1, 0), part("IN_PROGRESS", 2, 2), part("IN_PROGRESS", 3, 3), part("IN_PROGRESS", 4, 4), part("COMPLETED", 5, 5)}, 6, nil},
		"one is missing":       {recorded, []string{part("IN_PROGRESS", 1, 2), part("COMPLETED", 4, 5), part("COMPLETED", 1, 0)}, 3, []string{`missing body /stream/4 {"output":{"n":5}} `, "value body /stream/2/output/n 3 4", "value body /stream/3/output/n 4 5"}},
		"one more":             {recorded, []string{part("COMPLETED", 1, 6)}, 1, []string{`extra body /stream/5  {"output":{"n":6}}`}},
		"more after the end":   {recorded, []string{part("COMPLETED", 1, 3), part("COMPLETED", 4, 5)}, 2, nil},
		"none after the end":   {recorded, []string{part("IN_PROGRESS", 1, 4), part("COMPLETED", 1, 0)}, 2, []string{`missing body /stream/4 {"output":{"n":5}} `}},
		"with others between":  {apart, []string{part("IN_PROGRESS", 1, 4), part("COMPLETED", 5, 5)}, 2, nil},
		"all before the other": {apart, []string{part("COMPLETED", 1, 5), part("COMPLETED", 1, 0)}, 2, nil},
		"lists":                {bare, []string{part("", 1, 1), part("", 2, 4), part("", 5, 5), part("", 1, 0)}, 3, nil},
		"left":                 {left, []string{part("IN_PROGRESS", 1, 4)}, 1, nil},
		"left, too few":        {left, []string{part("IN_PROGRESS", 1, 1), gone}, 2, []string{`missing body /stream/1 {"output":{"n":2}} `}},
		"left a list":          {leftBare, []string{part("", 1, 4)}, 1, nil},
		"left a list, too few": {leftBare, []string{part("", 1, 1), gone}, 2, []string{`missing body /1 {"output":{"n":2}} `}},
		"lists, one more":      {bare, []string{part("", 1, 6)}, 1, []string{`extra body /5  {"output":{"n":6}}`}},
		"cancelled":            {cancelled, []string{part("IN_PROGRESS", 1, 1), part("CANCELLED", 2, 2), part("CANCELLED", 1, 0), gone}, 4, nil},
		"cancelled, too few":   {cancelled, []string{part("CANCELLED", 1, 1), part("CANCELLED", 1, 0), gone}, 3, []string{`missing body /stream/1 {"output":{"n":2}} `}},
		"gone":                 {recorded, []string{part("IN_PROGRESS", 1, 5), gone}, 2, []string{`value body /status "COMPLETED" "IN_PROGRESS"`}},
	} {
		asked := 0
		got, _ := found(t, record.Comparison{Clock: &waited{}, Patience: time.Minute}, gives(&asked, c.answers...), c.recorded...)
		require.ElementsMatch(t, c.want, got, name)
		require.Equal(t, c.asked, asked, name)
	}
}

func TestCompare_ReadsOfAStreamAreComparedTogether(t *testing.T) {
	t.Parallel()
	apart := []record.Exchange{reading(1, 200, part("IN_PROGRESS", 1, 1)), exchange(2, "POST", "/v2/own", "", 200, `{}`), reading(3, 200, part("IN_PROGRESS", 2, 2)), reading(4, 200, part("COMPLETED", 3, 3))}
	asked := 0
	got, report := found(t, record.Comparison{}, gives(&asked, part("IN_PROGRESS", 1, 2), part("COMPLETED", 3, 3)), apart...)
	require.Empty(t, got)
	require.Equal(t, 2, report.Compared)
	require.Equal(t, []record.Skipped{
		{Exchange: 1, Why: "its chunks are compared with the rest of the stream, in exchange 4"}, {Exchange: 3, Why: "the client asked again, until exchange 4: it is waited for that answer"},
	}, report.Skipped)

	cut := reading(1, 200, `{"status":"IN_PROGRESS","stre`)
	cut.Response.Truncated = true
	got, _ = found(t, record.Comparison{}, gives(&asked, part("COMPLETED", 1, 5)), cut, reading(2, 200, part("COMPLETED", 3, 5)))
	require.Empty(t, got, "which chunks were not recorded nobody knows")
}

func TestCompare_NeitherServiceIsHeldToMoreChunksThanWereRecorded(t *testing.T) {
	t.Parallel()
	recorded := reading(1, 200, part("IN_PROGRESS", 1, 2))
	for name, c := range map[string]struct {
		left int // chunks
		want []string
	}{
		"more":   {4, nil},
		"as few": {2, nil},
		"fewer":  {1, []string{`extra body /stream/1  {"output":{"n":2}}`}},
	} {
		asked, other := 0, 0
		left := target(t, upstream(t, gives(&asked, part("IN_PROGRESS", 1, c.left), part("IN_PROGRESS", 1, 0))), "its-own-key")
		got, _ := found(t, record.Comparison{Left: left}, gives(&other, part("IN_PROGRESS", 1, 3)), recorded)
		require.Equal(t, c.want, got, name)
	}
}

func TestCompare_ChunksOfManyReadsMayComeInOne(t *testing.T) {
	t.Parallel()
	long := func(part string) string {
		return strings.ReplaceAll(part, `"n":`, `"text":"`+strings.Repeat("x", 250<<10)+`","n":`)
	}
	recorded := []record.Exchange{reading(1, 200, long(part("IN_PROGRESS", 1, 1))), reading(2, 200, long(part("IN_PROGRESS", 2, 2))), reading(3, 200, long(part("IN_PROGRESS", 3, 3))), reading(4, 200, part("COMPLETED", 1, 0))}
	asked := 0
	got, _ := found(t, record.Comparison{}, gives(&asked, long(part("COMPLETED", 1, 3))), recorded...)
	require.Empty(t, got)
	require.Equal(t, 1, asked)
}

func TestCompare_WhatIsGivenOnceIsAskedForOnce(t *testing.T) {
	t.Parallel()
	const took, nothing = 200, 204
	for operation, c := range map[string]struct {
		recorded int
		answers  []int
		asked    int
		want     string
	}{
		"takeJob":        {nothing, []int{took}, 1, "status status 204 200"},
		"takeJobs":       {took, []int{nothing, nothing, took}, 3, ""},
		"stopJobs":       {nothing, []int{took}, 1, "status status 204 200"},
		"ping":           {took, []int{401}, 1, "status status 200 401"},
		"openAIModels":   {took, []int{500}, 1, "status status 200 500"},
		"openAIRouteGet": {took, []int{500}, 1, "status status 200 500"},
		"getPod":         {took, []int{500, took}, 2, ""},
	} {
		asked := 0
		x := exchange(1, "GET", "/v2/own", "", c.recorded, "")
		x.Operation = operation
		got, _ := found(t, record.Comparison{Clock: &waited{}, Patience: time.Minute}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.answers[min(asked, len(c.answers)-1)])
			asked++
		}, x)
		require.Equal(t, c.want, strings.Join(got, "; "), operation)
		require.Equal(t, c.asked, asked, operation)
	}
}
