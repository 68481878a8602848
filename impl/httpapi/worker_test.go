package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
)

// hungUp is the connection of a worker that is gone: it takes what is written, as a socket's buffer does, and fails when it
// is to be sent.
type hungUp struct{ *httptest.ResponseRecorder }

func (hungUp) FlushError() error { return errors.New("connection reset by peer") }

func TestWorker_JobOfAGoneOneWaitsAgain(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	var job struct{ ID, Status string }
	require.NoError(t, json.Unmarshal(e.call("POST", base+"run", token, `{"input":{}}`).Body.Bytes(), &job))

	for _, take := range []string{"job-take/gone?x=1", "job-take-batch/gone?batch_size=2"} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+take, nil)
		req.Header.Set("Authorization", token)
		e.echo.ServeHTTP(hungUp{httptest.NewRecorder()}, req)
		require.NoError(t, json.Unmarshal(e.call("GET", base+"status/"+job.ID, token, "").Body.Bytes(), &job))
		require.Equal(t, "IN_QUEUE", job.Status)
	}

	taken := e.call("GET", base+"job-take/other", token, "")
	require.Equal(t, 200, taken.Code)
	require.Contains(t, taken.Body.String(), job.ID)
}

// TestWorker_ReportsOfAGoneOneAreKept: a worker whose connection breaks once its report has come does not report again.
func TestWorker_ReportsOfAGoneOneAreKept(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	var job struct {
		ID, Status string
		Output     json.RawMessage
	}
	require.NoError(t, json.Unmarshal(e.call("POST", base+"run", token, `{"input":{}}`).Body.Bytes(), &job))
	require.Equal(t, 200, e.call("GET", base+"job-take/w", token, "").Code)

	broken, breaks := context.WithCancel(t.Context())
	breaks()
	report := func(operation, body string) {
		req := httptest.NewRequestWithContext(broken, http.MethodPost, base+operation+"/w/"+job.ID, strings.NewReader(body))
		req.Header.Set("Authorization", token)
		req.Header.Set("Content-Type", "application/json")
		e.echo.ServeHTTP(httptest.NewRecorder(), req)
	}
	report("job-stream", `{"output":"a chunk"}`)
	report("job-done", `{"output":"done"}`)
	require.Contains(t, e.call("GET", base+"stream/"+job.ID, token, "").Body.String(), "a chunk")
	require.NoError(t, json.Unmarshal(e.call("GET", base+"status/"+job.ID, token, "").Body.Bytes(), &job))
	require.Equal(t, "COMPLETED", job.Status)
	require.JSONEq(t, `"done"`, string(job.Output))
}

// Others hold all of the memory of large answers but for one piece.
func TestWorker_BatchOfLongInputsTakesTheMemoryOfOnePiece(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Second)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	text := strings.Repeat("x", 300_000)
	for range 3 {
		require.Equal(t, 200, e.call("POST", base+"run", token, `{"input":{"text":"`+text+`"}}`).Code)
	}
	whole, err := answers.Whole(t.Context(), "others", 32_000_000)
	require.NoError(t, err)
	defer whole()
	pieces, err := answers.Piece(t.Context(), "others", 48_000_000-compute.PieceSize)
	require.NoError(t, err)
	defer pieces()

	taken := e.call("GET", base+"job-take-batch/w?batch_size=3", token, "")
	require.Equal(t, 200, taken.Code, taken.Body.String())
	var jobs []struct{ Input struct{ Text string } }
	require.NoError(t, json.Unmarshal(taken.Body.Bytes(), &jobs))
	require.Len(t, jobs, 3)
	for _, j := range jobs {
		require.True(t, j.Input.Text == text, "each comes as it was sent")
	}
}

// Others hold all of the memory of large answers but for one piece, and then that, too.
func TestWorker_BatchOfManyInputsTakesTheMemoryOfOnePiece(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Millisecond)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	base := "/v2/" + string(e.endpoint) + "/"
	submit := func(n, bytes int) {
		for range n {
			require.Equal(t, 200, e.call("POST", base+"run", token, `{"input":{"text":"`+strings.Repeat("x", bytes)+`"}}`).Code)
		}
	}
	take := func() *httptest.ResponseRecorder {
		return e.call("GET", base+"job-take-batch/w?batch_size=100&job_in_progress=1", token, "")
	}
	taken := func(n, bytes int) {
		answer := take()
		require.Equal(t, 200, answer.Code, answer.Body.String())
		var jobs []struct {
			ID    string
			Input struct{ Text string }
		}
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &jobs))
		require.Len(t, jobs, n)
		for _, j := range jobs {
			require.True(t, j.Input.Text == strings.Repeat("x", bytes), "each comes as it was sent")
		}
	}

	submit(5, 100_000)
	taken(5, 100_000)
	whole, free := answers.Try("others", 20_000_000)
	require.True(t, free)
	more, free := answers.Try("more", 12_000_000)
	require.True(t, free, "what the batch had is given back")
	pieces, err := answers.Piece(t.Context(), "others", 48_000_000-compute.PieceSize)
	require.NoError(t, err)
	submit(5, 100_000)
	taken(5, 100_000)

	last, err := answers.Piece(t.Context(), "one", compute.PieceSize)
	require.NoError(t, err)
	submit(5, 10_000)
	taken(5, 10_000) // a small one asks for none
	submit(5, 100_000)
	answer := take()
	require.Equal(t, 503, answer.Code)
	require.NotEmpty(t, answer.Header().Get("Retry-After"))

	for _, leave := range []func(){whole, more, pieces, last} {
		leave()
	}
	taken(5, 100_000) // they waited on
}

func TestWorker_BatchOfLargeConfigurationsWaitsForItsMemory(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Millisecond)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	base := "/v2/" + string(e.endpoint) + "/"
	for range 3 {
		require.Equal(t, 200, e.call("POST", base+"run", token, `{"input":{},"s3Config":{"a":"`+strings.Repeat("x", 60_000)+`"}}`).Code)
	}

	whole, free := answers.Try("others", 20_000_000)
	require.True(t, free)
	more, free := answers.Try("more", 12_000_000)
	require.True(t, free)
	require.Equal(t, 503, e.call("GET", base+"job-take-batch/w?batch_size=3", token, "").Code)
	whole()
	more()
	require.Equal(t, 3, strings.Count(e.call("GET", base+"job-take-batch/w?batch_size=3", token, "").Body.String(), `"s3Config"`))
}

func TestWorker_ReasonThatItIsUnhealthyIsKeptShort(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	ping := func(query string) string {
		e.log.Reset()
		e.call("GET", "/v2/"+string(e.endpoint)+"/ping/w?"+query, token, "")
		return e.log.String()
	}
	require.Contains(t, ping("status=unhealthy&check=disk&reason=full"), `reason="disk: full"`)
	require.Contains(t, ping("status=unhealthy&check=disk"), `reason=disk:`)
	require.NotContains(t, ping("status=healthy&check=disk&reason=full"), "worker is unhealthy")
	long := ping("status=unhealthy&check=" + strings.Repeat("x", 3000) + "&reason=" + strings.Repeat("y", 3000))
	require.Contains(t, long, `"`+strings.Repeat("x", 1024)+": "+strings.Repeat("y", 1024)+`"`)
}

func TestWorker_BatchIsAList(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	for range 3 {
		require.Equal(t, 200, e.call("POST", base+"run", token, `{"input":{}}`).Code)
	}
	length := func(path string) int {
		taken := e.call("GET", base+path, token, "")
		require.Equal(t, 200, taken.Code, taken.Body.String())
		var jobs []struct{ ID string }
		require.NoError(t, json.Unmarshal(taken.Body.Bytes(), &jobs))
		return len(jobs)
	}
	require.Equal(t, 1, length("job-take-batch/w"), "one, if nobody says how many")
	require.Equal(t, 2, length("job-take-batch/w&job_in_progress=1?batch_size=5"), "SDK workers append a query")
}

// SDK workers append a query to the address of a report as if it had one, and the job is that of its id.
func TestWorker_ReportsOfAnAddressWithoutAQueryCount(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	const appended = "&isStream=false"
	job := func() (id string, status func() string) {
		var j struct{ ID, Status string }
		require.NoError(t, json.Unmarshal(e.call("POST", base+"run", token, `{"input":{}}`).Body.Bytes(), &j))
		require.Equal(t, 200, e.call("GET", base+"job-take/w&job_in_progress=0", token, "").Code)
		return j.ID, func() string { return e.call("GET", base+"status/"+j.ID, token, "").Body.String() }
	}

	id, status := job()
	require.Equal(t, 200, e.call("POST", base+"job-done/w/"+id+appended, token, `{"status":"IN_PROGRESS","output":"half"}`).Code)
	require.Contains(t, status(), `"half"`)
	require.Equal(t, 200, e.call("POST", base+"job-stream/w/"+id+appended, token, `{"output":"part"}`).Code)
	require.Contains(t, e.call("GET", base+"stream/"+id, token, "").Body.String(), `"part"`)
	require.Equal(t, 200, e.call("POST", base+"job-done/w/"+id+appended, token, `{"output":"whole"}`).Code)
	require.Contains(t, status(), `"COMPLETED"`)
	require.Contains(t, status(), `"whole"`)

	for _, operation := range []string{"job-done", "job-stream"} {
		id, status = job()
		require.Equal(t, 400, e.call("POST", base+operation+"/w/"+id+appended, token, `{"output":NaN}`).Code)
		require.Contains(t, status(), `"FAILED"`, operation)
	}
}

// A report that came whole and is no JSON does not come again. One that a broken connection cut does.
func TestWorker_ReportThatIsNoJSONFailsItsJob(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	for _, operation := range []string{"job-done", "job-stream"} {
		for body, why := range map[string]string{`{"output":"part`: "unexpected end", ``: "it is empty", `{"output":1} and more`: "text after the value", `output`: "syntax error"} {
			var j struct{ ID, Status, Error string }
			status := func() string {
				require.NoError(t, json.Unmarshal(e.call("GET", base+"status/"+j.ID, token, "").Body.Bytes(), &j))
				return j.Status
			}
			require.NoError(t, json.Unmarshal(e.call("POST", base+"run", token, `{"input":{}}`).Body.Bytes(), &j))
			require.Equal(t, 200, e.call("GET", base+"job-take/w", token, "").Code)

			cut := httptest.NewRequestWithContext(t.Context(), http.MethodPost, base+operation+"/w/"+j.ID, io.MultiReader(strings.NewReader(body), iotest.ErrReader(io.ErrUnexpectedEOF)))
			cut.Header.Set("Authorization", token)
			cut.ContentLength = 1000
			rec := httptest.NewRecorder()
			e.echo.ServeHTTP(rec, cut)
			require.Equal(t, 400, rec.Code)
			require.Equal(t, "IN_PROGRESS", status(), "it is sent again")
			require.Equal(t, 400, e.call("POST", base+"job-done/w/"+j.ID, token, `{"status":"IN_PROGRESS","output":"part`).Code)
			require.Equal(t, "IN_PROGRESS", status(), "it was progress")

			require.Equal(t, 400, e.call("POST", base+operation+"/w/"+j.ID, token, body).Code)
			require.Equal(t, 200, e.call("POST", base+"job-done/w/"+j.ID, token, `{"output":[]}`).Code)
			require.Equal(t, "FAILED", status(), "%s %s", operation, body)
			require.Contains(t, j.Error, why)
		}
	}
}

// TestWorker_IsToldAgainToStopAfterALostAnswer: one whose connection breaks does not know what it was told.
func TestWorker_IsToldAgainToStopAfterALostAnswer(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	base := "/v2/" + string(e.endpoint) + "/"
	var job struct{ ID string }
	require.NoError(t, json.Unmarshal(e.call("POST", base+"run", token, `{"input":{}}`).Body.Bytes(), &job))
	require.Equal(t, 200, e.call("GET", base+"job-take/w", token, "").Code)
	require.Equal(t, 200, e.call("POST", base+"cancel/"+job.ID, token, "").Code)

	inTime, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	ask := func() *http.Request {
		req := httptest.NewRequestWithContext(inTime, http.MethodGet, base+"job-stop/w", http.NoBody)
		req.Header.Set("Authorization", token)
		return req
	}
	e.echo.ServeHTTP(hungUp{httptest.NewRecorder()}, ask())
	told := e.serve(ask())
	require.Equal(t, 200, told.Code)
	require.JSONEq(t, `{"jobsToStop":["`+job.ID+`"]}`, told.Body.String())
	require.Equal(t, strconv.Itoa(told.Body.Len()), told.Header().Get("Content-Length"), "it comes as a whole")
}
