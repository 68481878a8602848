package record_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// exchange makes one of a recording.
func exchange(number int64, method, path, body string, status int, answer string) record.Exchange {
	x := record.Exchange{
		Number: number, At: time.UnixMilli(1_700_000_000_000 + number*1000), Method: method, Path: path, Status: status, TookMs: 1,
		Request: record.Message{Body: body, Length: int64(len(body))}, Response: record.Message{Body: answer, Length: int64(len(answer))},
	}
	if answer != "" {
		x.Response.Headers = []record.Header{{Name: "Content-Type", Value: "application/json"}}
	}
	return x
}

func playing(t *testing.T, exchanges ...record.Exchange) (string, *record.Player) {
	p, err := record.NewPlayer(&record.Recording{Exchanges: exchanges})
	require.NoError(t, err)
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL, p
}

func TestPlayer_AnswersEqualRequestsInTheirOrder(t *testing.T) {
	t.Parallel()
	one := exchange(1, "POST", "/v2/pods", `{"a":1.50,"b":[{"c":null}]}`, 201, `{"n":1}`)
	one.Query = "x=1&y=2"
	two, other := one, exchange(3, "POST", "/v2/pods", `{"a":2}`, 400, `{"n":3}`)
	two.Number, two.Response.Body = 2, `{"n":2}`
	other.Query = one.Query
	address, _ := playing(t, one, two, other)

	for _, want := range []string{`{"n":1}`, `{"n":2}`, `{"n":2}`} {
		res, body := sent(t, "POST", address+"/v2/pods?y=2&x=1", ` {"b": [{"c":null}], "a": 15e-1}`)
		require.Equal(t, 201, res.StatusCode)
		require.Equal(t, want, body)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
	}
	res, body := sent(t, "POST", address+"/v2/pods?x=1&y=2", `{"a":2}`)
	require.Equal(t, 400, res.StatusCode)
	require.Equal(t, `{"n":3}`, body)
}

func TestPlayer_NamesTheNearestExchange(t *testing.T) {
	t.Parallel()
	one, two := exchange(1, "POST", "/v2/pods", `{"name":"a","image":"i","list":[1,2]}`, 201, `{}`), exchange(2, "POST", "/v2/pods", `{"name":"b"}`, 201, `{}`)
	one.Operation, two.Operation, one.Key = "createPod", "createPod", 1
	address, _ := playing(t, one, two)

	res, body := sent(t, "POST", address+"/v2/pods?dry=1", `{"name":"x","image":"i","list":[2,1]}`)
	require.Equal(t, 404, res.StatusCode)
	require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	var problem struct {
		Status  int
		Detail  string
		Nearest struct {
			Number      int
			Differences []struct{ Member, Expected, Found string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &problem))
	require.Equal(t, 404, problem.Status)
	require.Equal(t, 2, problem.Nearest.Number)
	require.Contains(t, problem.Detail, `the nearest is exchange 2, POST /v2/pods; query dry is 1, recorded is nothing; body /name is "x", recorded is "b"; body /image is "i", recorded is nothing`)

	_, body = sent(t, "POST", address+"/v2/pods", `{"name":"x","image":"i","list":[2,1]}`, "Authorization", "Bearer somebody")
	require.NoError(t, json.Unmarshal([]byte(body), &problem))
	require.Equal(t, 1, problem.Nearest.Number)
	require.Equal(t, []struct{ Member, Expected, Found string }{{"order of body /list", "[1,2]", "[2,1]"}, {"body /name", `"a"`, `"x"`}}, problem.Nearest.Differences)
	_, body = sent(t, "GET", address+"/v2/templates", "")
	require.Contains(t, body, "no exchange is for that operation")
	_, body = sent(t, "POST", address+"/v2/abc/run", "{}")
	require.Contains(t, body, `"error":"nothing in the recording answers POST /v2/abc/run`)
}

func TestPlayer_PlaysStreamsAndRefusesPartsOfBodies(t *testing.T) {
	t.Parallel()
	part, stream := exchange(1, "GET", "/v2/pods", "", 200, `{"pods":[`), exchange(2, "GET", "/v2/pods/p/logs", "", 200, "data: 1\n\n")
	part.Response.Truncated, stream.Response.Truncated = true, true
	stream.Response.Headers[0].Value = "text/event-stream"
	bytes := exchange(3, "GET", "/v2/bytes", "", 200, "//4=")
	bytes.Response.Base64 = true
	address, _ := playing(t, part, stream, bytes, exchange(4, "DELETE", "/v2/pods/p", "", 204, ""))

	res, body := sent(t, "GET", address+"/v2/pods", "")
	require.Equal(t, 502, res.StatusCode)
	require.Contains(t, body, "--body")
	_, body = sent(t, "GET", address+"/v2/pods/p/logs", "")
	require.Equal(t, "data: 1\n\n", body)
	_, body = sent(t, "GET", address+"/v2/bytes", "")
	require.Equal(t, "\xff\xfe", body)
	res, _ = sent(t, "DELETE", address+"/v2/pods/p", "")
	require.Equal(t, 204, res.StatusCode)
}

// waited notes what is waited for, and lets nobody wait.
type waited struct {
	now  time.Time
	asks []time.Duration
}

func (c *waited) Now() time.Time  { return c.now }
func (c *waited) Wall() time.Time { return c.now }
func (c *waited) After(d time.Duration) (<-chan time.Time, func()) {
	c.asks, c.now = append(c.asks, d), c.now.Add(d)
	over := make(chan time.Time, 1)
	over <- c.now
	return over, func() {}
}

func TestPlayer_TakesItsTime(t *testing.T) {
	t.Parallel()
	x := exchange(1, "GET", "/v2/pods", "", 200, `{}`)
	x.HeadMs, x.TookMs = 100, 250
	for latency, want := range map[bool][]time.Duration{true: {100 * time.Millisecond, 150 * time.Millisecond}, false: nil} {
		p, err := record.NewPlayer(&record.Recording{Exchanges: []record.Exchange{x}})
		require.NoError(t, err)
		clock := &waited{now: time.UnixMilli(0)}
		p.Clock, p.Latency = clock, latency
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v2/pods", nil))
		require.Equal(t, 200, w.Code)
		require.Equal(t, want, clock.asks)
	}
}
