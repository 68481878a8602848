package record_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// found compares recorded answers with those of a service, and gives what differs, as place and kind.
func found(t *testing.T, c record.Comparison, h http.HandlerFunc, exchanges ...record.Exchange) (differences []string, report *record.Report) {
	if c.Right == nil {
		c.Right = target(t, upstream(t, h), "its-own-key")
	}
	report, err := c.Run(t.Context(), &record.Recording{Exchanges: exchanges})
	require.NoError(t, err)
	for _, d := range report.Differences {
		differences = append(differences, d.Kind+" "+d.Place+" "+d.Left+" "+d.Right)
	}
	return differences, report
}

// answering is a service that always answers the same JSON.
func answering(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func TestCompare_NamesWhatDiffersInABody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left, right string
		want        []string
	}{
		"the same":          {`{"a":1.0,"b":[{"c":"x"}]}`, `{"b":[{"c":"x"}],"a":1}`, nil},
		"missing, extra":    {`{"a":1,"b/c":2}`, `{"d":null}`, []string{"missing body /a 1 ", "missing body /b~1c 2 ", "extra body /d  null"}},
		"type":              {`{"a":{"b":1}}`, `{"a":{"b":"1"}}`, []string{`type body /a/b 1 "1"`}},
		"value":             {`[{"a":"x"}]`, `[{"a":"y"}]`, []string{`value body /0/a "x" "y"`}},
		"order of texts":    {`["a","b","c"]`, `["a","c","b"]`, []string{`order body ["a","b","c"] ["a","c","b"]`}},
		"order by name":     {`[{"name":"a","n":1},{"name":"b","n":2}]`, `[{"name":"b","n":2},{"name":"a","n":3}]`, []string{`value body /0/n 1 3`, `order body ["a","b"] ["b","a"]`}},
		"one more":          {`["a"]`, `["a","b"]`, []string{`extra body /1  "b"`}},
		"one less":          {`["a","b"]`, `["b"]`, []string{`missing body /0 "a" `}},
		"times":             {`{"at":"2026-11-23T08:00:00Z"}`, `{"at":"2027-01-01T00:00:00.5Z"}`, nil},
		"no time":           {`{"at":"2026-11-23T08:00:00Z"}`, `{"at":null}`, []string{`type body /at "2026-11-23T08:00:00Z" null`}},
		"prices":            {`{"costPerHr":1,"price":{"secure":2},"stockStatus":"High","availableGpuCounts":[1,2]}`, `{"costPerHr":2,"price":{"secure":3},"stockStatus":null,"availableGpuCounts":[1]}`, []string{`type body /stockStatus "High" null`}},
		"counts":            {`{"workers":{"idle":1},"public":true}`, `{"workers":{"idle":2},"public":false}`, []string{`value body /public true false`}},
		"ids":               {`{"id":"abcdefgh1","podId":"abcdefgh1","says":"pod abcdefgh1 is up at abcdefgh1-8888.x"}`, `{"id":"zyxwvuts2","podId":"zyxwvuts2","says":"pod zyxwvuts2 is up at zyxwvuts2-8888.x"}`, nil},
		"ids, another one":  {`{"id":"abcdefgh1","podId":"abcdefgh1"}`, `{"id":"zyxwvuts2","podId":"qponmlkj3"}`, []string{`value body /podId "abcdefgh1" "qponmlkj3"`}},
		"ids, one for two":  {`{"id":"abcdefgh1","podId":"bcdefghi2"}`, `{"id":"zyxwvuts2","podId":"zyxwvuts2"}`, []string{`value body /podId "bcdefghi2" "zyxwvuts2"`}},
		"ids that are told": {`{"id":"NVIDIA L4"}`, `{"id":"NVIDIA A40"}`, []string{`value body /id "NVIDIA L4" "NVIDIA A40"`}},
		"hosts":             {`{"url":"https://a.example/v2/x"}`, `{"url":"http://127.0.0.1:1/v2/x"}`, nil},
		"other addresses":   {`{"url":"https://a.example/v2/x"}`, `{"url":"http://127.0.0.1:1/v2/y"}`, []string{`value body /url "https://a.example/v2/x" "http://127.0.0.1:1/v2/y"`}},
	} {
		got, _ := found(t, record.Comparison{IgnoreHeaders: []string{"Content-Type"}}, answering(c.right), exchange(1, "GET", "/v2/own", "", 200, c.left))
		require.Equal(t, c.want, got, name)
	}
}

func TestCompare_LeavesOutAndComparesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	x := exchange(1, "GET", "/v2/own", "", 200, `{"pods":[{"name":"a","costPerHr":1}],"more":1}`)
	x.Operation = "listOwn"
	x.Response.Headers = append(x.Response.Headers, record.Header{Name: "X-One", Value: "1"}, record.Header{Name: "Server", Value: "a"}, record.Header{Name: "X-Request-Id", Value: "a"})
	other := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "b")
		answering(`{"pods":[{"name":"b","costPerHr":2}]}`)(w, nil)
	}
	for name, c := range map[string]struct {
		with record.Comparison
		want []string
	}{
		"nothing":           {record.Comparison{}, []string{"missing header X-One 1 ", "missing body /more 1 ", `value body /pods/0/name "a" "b"`}},
		"a member":          {record.Comparison{Ignore: []string{"/more"}, IgnoreHeaders: []string{"x-one"}}, []string{`value body /pods/0/name "a" "b"`}},
		"any step":          {record.Comparison{Ignore: []string{"/pods/*/name", "/more"}, IgnoreHeaders: []string{"x-one"}}, nil},
		"another operation": {record.Comparison{Ignore: []string{"listPods/more", "listOwn/pods"}, IgnoreHeaders: []string{"x-one"}}, []string{"missing body /more 1 "}},
		"exact": {record.Comparison{Exact: true}, []string{
			"missing header Server a ", "value header X-Request-Id a b", "missing header X-One 1 ", "missing body /more 1 ", "value body /pods/0/costPerHr 1 2", `value body /pods/0/name "a" "b"`,
		}},
	} {
		got, _ := found(t, c.with, other, x)
		require.ElementsMatch(t, c.want, got, name)
	}
}

func TestCompare_IdsFollowInHeaders(t *testing.T) {
	t.Parallel()
	x := exchange(1, "POST", "/v2/own", "", 201, `{"id":"abcdefgh1"}`)
	x.Response.Headers = append(x.Response.Headers, record.Header{Name: "Location", Value: "https://a.example/v2/own/abcdefgh1"}, record.Header{Name: "X-Of", Value: "own/abcdefgh1"})
	service := func(location, of string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", location)
			w.Header().Set("X-Of", of)
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"zyxwvuts2"}`)
		}
	}
	same := service("http://127.0.0.1:1/v2/own/zyxwvuts2", "own/zyxwvuts2")
	got, _ := found(t, record.Comparison{}, same, x)
	require.Empty(t, got)
	got, _ = found(t, record.Comparison{Exact: true}, same, x)
	require.Len(t, got, 3, "both headers, and the id")

	got, _ = found(t, record.Comparison{}, service("http://127.0.0.1:1/v2/own/qponmlkj3", "own/zyxwvuts2"), x)
	require.Equal(t, []string{"value header Location https://a.example/v2/own/abcdefgh1 http://127.0.0.1:1/v2/own/qponmlkj3"}, got)
}

func TestCompare_LaterRequestsNameThingsAsTheServiceDoes(t *testing.T) {
	t.Parallel()
	var asked []string
	service := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(body)+" "+r.Header.Get("Authorization"))
		answering(`{"id":"zyxwvuts2"}`)(w, r)
	}
	made, used, refused := exchange(1, "POST", "/v2/own", `{}`, 200, `{"id":"abcdefgh1"}`), exchange(2, "POST", "/v2/own/abcdefgh1/do", `{"podId":"abcdefgh1"}`, 200, `{"id":"abcdefgh1"}`), exchange(3, "GET", "/v2/own", "", 401, "")
	used.Query = "pod=abcdefgh1&api_key=***"
	for _, x := range []*record.Exchange{&made, &refused} {
		x.Key, x.Request.Headers = 1, []record.Header{{Name: "Authorization", Value: "***"}}
	}
	cut := exchange(4, "POST", "/v2/own", `{`, 200, `{}`)
	cut.Request.Truncated = true

	got, report := found(t, record.Comparison{}, service, made, used, refused, cut)
	require.Equal(t, []string{"status status 401 200"}, got)
	require.Equal(t, []string{
		`POST /v2/own {} Bearer its-own-key`, `POST /v2/own/zyxwvuts2/do?pod=zyxwvuts2&api_key=its-own-key {"podId":"zyxwvuts2"} `, `GET /v2/own  Bearer brt_none_of_its_keys`,
	}, asked)
	require.Equal(t, []record.Skipped{{Exchange: 4, Why: "the body of the request was not recorded to its end"}}, report.Skipped)
}

func TestCompare_WaitsForAStatusAndSendsNoPollTwice(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	service := func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 {
			answering(`{"status":"STARTING"}`)(w, r)
		} else {
			answering(`{"status":"RUNNING"}`)(w, r)
		}
	}
	polls := []record.Exchange{
		exchange(1, "GET", "/v2/own", "", 200, `{"status":"PROVISIONING"}`), exchange(2, "GET", "/v2/own", "", 200, `{"status":"PROVISIONING"}`), exchange(3, "GET", "/v2/own", "", 200, `{"status":"RUNNING"}`),
	}
	got, report := found(t, record.Comparison{Patience: time.Minute}, service, polls...)
	require.Empty(t, got)
	require.Equal(t, 1, report.Compared)
	require.EqualValues(t, 3, asked.Load())

	got, _ = found(t, record.Comparison{}, answering(`{"status":"STARTING"}`), polls...)
	require.Equal(t, []string{`value body /status "RUNNING" "STARTING"`}, got)
}

func TestCompare_WaitsForSeveralThingsAtATime(t *testing.T) {
	t.Parallel()
	var asked []string
	service := func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		answering(`{"status":"RUNNING"}`)(w, r)
	}
	at := func(number int64, method, path, status string) record.Exchange {
		return exchange(number, method, path, "", 200, `{"status":"`+status+`"}`)
	}
	got, report := found(t, record.Comparison{}, service,
		at(1, "GET", "/v2/a", "STARTING"), at(2, "GET", "/v2/b", "STARTING"), at(3, "GET", "/v2/a", "STARTING"), at(4, "GET", "/v2/b", "RUNNING"), at(5, "GET", "/v2/a", "RUNNING"),
		at(6, "POST", "/v2/a", "RUNNING"), at(7, "GET", "/v2/a", "STOPPING"),
	)
	require.Equal(t, []string{`value body /status "STOPPING" "RUNNING"`}, got, "what was asked before something was changed is another question")
	require.Equal(t, 4, report.Compared)
	require.Equal(t, []string{"GET /v2/b", "GET /v2/a", "POST /v2/a", "GET /v2/a"}, asked)
}

func TestCompare_WhatWasGivenBeforeARefusalIsCompared(t *testing.T) {
	t.Parallel()
	at := func(number int64, status int, of string) record.Exchange {
		if of != "" {
			of = `{"status":"` + of + `"}`
		}
		return exchange(number, "GET", "/v2/own", "", status, of)
	}
	for _, refused := range []int{404, 429, 500} {
		answers := []string{"", "STARTING", "RUNNING", "EXITED", "", ""}
		service := func(w http.ResponseWriter, r *http.Request) {
			status := answers[0]
			answers = answers[1:]
			if status == "" {
				w.WriteHeader(refused)
				return
			}
			answering(`{"status":"`+status+`"}`)(w, r)
		}
		got, report := found(t, record.Comparison{Clock: &waited{}, Patience: time.Minute}, service,
			at(1, 404, ""), at(2, 200, "STARTING"), at(3, 200, "RUNNING"), at(4, refused, ""), at(5, refused, ""))
		require.Empty(t, got, refused)
		require.Empty(t, answers, refused)
		require.Equal(t, []int64{1, 2}, []int64{report.Skipped[0].Exchange, report.Skipped[1].Exchange}, refused)
		require.Equal(t, 3, report.Compared, refused)
	}
}

func TestCompare_WaitsForEachDocumentOfGraphQL(t *testing.T) {
	t.Parallel()
	var later atomic.Int32
	service := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "later") && later.Add(1) > 1 {
			answering(`{"data":{"pod":{"desiredStatus":"RUNNING"}}}`)(w, r)
			return
		}
		answering(`{"data":{"pod":{"desiredStatus":"EXITED"}}}`)(w, r)
	}
	running := `{"data":{"pod":{"desiredStatus":"RUNNING"}}}`
	got, _ := found(t, record.Comparison{Patience: time.Second}, service,
		exchange(1, "POST", "/graphql", `{"query":"{pod(input:{podId:\"never\"}){desiredStatus}}"}`, 200, running),
		exchange(2, "POST", "/graphql", `{"query":"{pod(input:{podId:\"later\"}){desiredStatus}}"}`, 200, running),
	)
	require.Len(t, got, 1, "the first was waited for in vain, and the second was not: %s", got)
}

func TestCompare_RequestsOverlapAsTheyDid(t *testing.T) {
	t.Parallel()
	taken, done := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var ended []string
	service := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "sync"): // is answered when the job is done
			<-done
		case strings.HasSuffix(r.URL.Path, "take"):
			close(taken)
		case strings.HasSuffix(r.URL.Path, "done"):
			<-taken
			close(done)
		}
		mu.Lock()
		ended = append(ended, r.URL.Path)
		mu.Unlock()
		answering(`{}`)(w, r)
	}
	at := func(x record.Exchange, ms int64, took float64) record.Exchange {
		x.At, x.TookMs = time.UnixMilli(1_700_000_000_000+ms), took
		return x
	}
	got, _ := found(t, record.Comparison{}, service,
		at(exchange(1, "POST", "/v2/own/sync", "", 200, `{}`), 0, 100), at(exchange(2, "GET", "/v2/own/take", "", 200, `{}`), 10, 5),
		at(exchange(3, "POST", "/v2/own/done", "", 200, `{}`), 20, 70), at(exchange(4, "GET", "/v2/own/after", "", 200, `{}`), 200, 1))
	require.Empty(t, got)
	require.Equal(t, "/v2/own/after", ended[3])
}

func TestCompare_WaitsWhereLimitsRefuse(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	got, _ := found(t, record.Comparison{Clock: &waited{}}, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		answering(`{}`)(w, r)
	}, exchange(1, "POST", "/v2/own", "", 200, `{}`))
	require.Empty(t, got)
	require.EqualValues(t, 2, asked.Load())

	asked.Store(0)
	got, _ = found(t, record.Comparison{Clock: &waited{}}, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
	}, exchange(1, "POST", "/v2/own", "", 200, `{}`))
	require.Contains(t, got[0], "429", "a minute was enough")
	require.EqualValues(t, 1+60/7, asked.Load())
}

func TestCompare_SaysWhenASideDoesNotAnswer(t *testing.T) {
	t.Parallel()
	got, _ := found(t, record.Comparison{Right: target(t, "http://127.0.0.1:1", "")}, nil, exchange(1, "GET", "/v2/own", "", 200, `{}`))
	require.Len(t, got, 1)
	require.Contains(t, got[0], "unanswered answer an answer 127.0.0.1:1 does not answer: dial tcp")

	nowhere := target(t, "http://127.0.0.1:1", "")
	got, _ = found(t, record.Comparison{Left: nowhere, Right: nowhere}, nil, exchange(1, "GET", "/v2/own", "", 200, `{}`))
	require.Len(t, got, 1, "also if it is the same one")
	require.Contains(t, got[0], "unanswered answer 127.0.0.1:1 does not answer: dial tcp")

	broken := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "{}")
	}
	got, _ = found(t, record.Comparison{}, broken, exchange(1, "GET", "/v2/own", "", 200, `{}`))
	require.Contains(t, got[0], "ends before its body does")
}

func TestCompare_ReadsAnswersByTheirEdition(t *testing.T) {
	t.Parallel()
	x := exchange(1, "GET", "/v2/templates/t", "", 404, `{"title":"Not Found","status":404,"detail":"x"}`)
	x.Operation = "getTemplate"
	x.Response.Headers[0].Value = "application/problem+json"
	_, report := found(t, record.Comparison{Contract: "public-2026-10"}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"title":"Not Found","status":"404","detail":"x"}`)
	}, x)
	require.Len(t, report.Differences, 2)
	require.Equal(t, record.Schema, report.Differences[0].Kind)
	require.Equal(t, "right", report.Differences[0].Place)
	require.Equal(t, "body /status", report.Differences[1].Place)
	require.Equal(t, "public-2026-10", report.Differences[1].Edition)
}

func TestCompare_EventsOfStreams(t *testing.T) {
	t.Parallel()
	stream := exchange(1, "POST", "/v2/own", "", 200, "data: {\"n\":1,\"id\":\"abcdefgh1\"}\n\nevent: end\ndata: [DONE]\n\n")
	stream.Response.Headers[0].Value = "text/event-stream"
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, body)
		}
	}
	got, _ := found(t, record.Comparison{}, answer(": a comment\n\ndata: {\"id\":\"zyxwvuts2\", \"n\":1}\r\n\r\nevent: end\ndata: [DONE]\n\n"), stream)
	require.Empty(t, got)
	got, _ = found(t, record.Comparison{}, answer("data: {\"n\":2,\"id\":\"zyxwvuts2\"}\n\n"), stream)
	require.Equal(t, []string{"value body /0/data/n 1 2", `missing body /1 {"data":"[DONE]","event":"end"} `}, got)
	stream.Response.Truncated = true
	got, _ = found(t, record.Comparison{}, answer("data: 3\n\n"), stream)
	require.Empty(t, got, "of what was cut the head is compared")
	cut := exchange(1, "GET", "/v2/pods", "", 200, `{"pods":[`)
	cut.Response.Truncated = true
	got, _ = found(t, record.Comparison{}, answering(`{"pods":[],"pagination":{"nextCursor":null,"hasNextPage":false}}`), cut)
	require.Empty(t, got, "nor is it held against the documents")
}
