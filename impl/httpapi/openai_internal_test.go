package httpapi

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/problem"
	jobs "github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store/sqlite"
)

func TestOpenAI_ErrorsAsPythonWritesThemAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{'error': {'message': "it's", 'code': 404, 'param': None, 'a': True, 'b': False}}`: `{"error": {"message": "it's", "code": 404, "param": null, "a": true, "b": false}}`,
		`{'a': 'None, True'}`:          `{"a": "None, True"}`,
		`{'a': 'it\'s \"b\" \x41\n'}`:  `{"a": "it's \"b\" A\n"}`,
		`{'a': "it\'s", 'b': '\xe9'}`:  `{"a": "it's", "b": "é"}`,
		`{'a': ['', "", [1.5, None]]}`: `{"a": ["", "", [1.5, null]]}`,
	} {
		object, ok := fromLiteral(text)
		require.True(t, ok, text)
		require.JSONEq(t, want, string(object), text)
	}
	for _, text := range []string{``, `None`, `{"a": 1}`, `{'a': 1`, `{'a': 'open`, `{'a': '\q'}`, `{'a': '\`, `{'a': "x'}`, `{'a': b'x'}`, `{'a': set()}`, ` {'a': 1}`} {
		_, ok := fromLiteral(text)
		require.False(t, ok, text)
	}
}

func TestOpenAI_AnswerIsTheFirstObjectOrTheTextInPieces(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]struct {
		answer   string
		ok, some bool
	}{
		``:                         {"", false, false},
		` null `:                   {"", false, false},
		`[]`:                       {"", false, false},
		`{"a":1}`:                  {`{"a":1}`, true, true},
		`  {"a":1} `:               {`{"a":1}`, true, true},
		`[{"a":1},{"b":2}]`:        {`{"a":1}`, true, true},
		`"{\"a\":1}"`:              {`{"a":1}`, true, true},
		`["{\"a\"", ":1", "}\n" ]`: {`{"a":1}`, true, true},
		`["{\"a\"", ":1"]`:         {`{"a":1`, false, true},
		`["text"]`:                 {`text`, false, true},
		`["text",{"a":1}]`:         {`text`, false, true},
		`7`:                        {`7`, false, true},
		`[7,{"a":1}]`:              {`7`, false, true},
		`[""]`:                     {``, false, true},
	} {
		answer, ok, some := answerOf(elements(json.RawMessage(output)))
		require.Equal(t, want.ok, ok, output)
		require.Equal(t, want.some, some, output)
		require.Equal(t, want.answer, string(answer), output)
	}

	var all []string // who has enough may stop
	for part := range elements(json.RawMessage(`[1,2,3]`)) {
		if all = append(all, string(part)); len(all) == 2 {
			break
		}
	}
	require.Equal(t, []string{"1", "2"}, all)
	chunks := []compute.Chunk{{Output: json.RawMessage(`1`)}, {Output: json.RawMessage(`2`)}}
	for part := range outputsOf(chunks) {
		require.Equal(t, "1", string(part))
		break
	}
	require.Len(t, slices.Collect(outputsOf(chunks)), 2)
}

func TestOpenAI_InputHasTheRouteAndTheBodyIfThereIsOne(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"openai_route":"/v1/models"}`, string(openAIInput("/v1/models", nil)))
	require.Equal(t, `{"openai_route":"/v1/\"","openai_input":{ "a":1}}`, string(openAIInput(`/v1/"`, []byte(`{ "a":1}`))))
}

func TestOpenAI_EventsAreReadyMadeOrMade(t *testing.T) {
	t.Parallel()
	require.Equal(t, "data: x\n\n", string(eventOf(json.RawMessage(`"data: x\n\n"`))))
	require.Equal(t, "data: {\"a\":1}\n\n", string(eventOf(json.RawMessage("{ \"a\":\n1 }"))))
	require.Equal(t, "data: {\"error\":{\"a\":1}}\n\n", string(errorEvent(json.RawMessage("{\"a\":1}\n"))))
}

func TestOpenAI_ErrorsHaveTheKindOfTheirStatus(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]string{
		400: "invalid_request_error", 428: "invalid_request_error", 429: "rate_limit_error", 430: "invalid_request_error", 499: "invalid_request_error",
		500: "server_error", 503: "server_error",
	} {
		require.JSONEq(t, `{"message":"m","type":"`+kind+`","param":null,"code":"c"}`, string(errorObject(status, "c", "m")), status)
	}
	found := problem.Problem{Entry: problem.Entry{Status: 422, Title: "Unprocessable Entity"}, Detail: "two faults"}
	require.JSONEq(t, `{"message":"two faults","type":"invalid_request_error","param":null,"code":"unprocessable_entity"}`, string(openAIError(found)))
	found.Errors = []string{"/a: x", "/b: y"}
	require.JSONEq(t, `{"message":"two faults: /a: x; /b: y","type":"invalid_request_error","param":null,"code":"unprocessable_entity"}`, string(openAIError(found)))
}

func TestOpenAI_FailedJobsSayWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status        compute.JobStatus
		failure       string
		want          int
		message, code string // of the error object
	}{
		{compute.JobTimedOut, "", 504, "the job timed out", `"job_timed_out"`},
		{compute.JobTimedOut, "over 5 s", 504, "over 5 s", `"job_timed_out"`},
		{compute.JobCancelled, "whatever", 409, "the job was cancelled", `"job_cancelled"`},
		{compute.JobFailed, "", 500, "the job failed", `"job_failed"`},
		{compute.JobFailed, "plain", 500, "plain", `"job_failed"`},
		{compute.JobFailed, `{"error_message":"it raised","error_traceback":"..."}`, 500, "it raised", `"job_failed"`},
		{compute.JobFailed, `{"error":{"message":"m","code":404}}`, 404, "m", "404"},
		{compute.JobFailed, `{"object":"error","message":"m","code":"429"}`, 429, "m", `"429"`},
		{compute.JobFailed, `{'error': {'message': 'm', 'code': 400}}`, 400, "m", "400"},
		{compute.JobFailed, `{"message":"m","code":599}`, 599, "m", "599"},
		{compute.JobFailed, `{"message":"m","code":600}`, 500, "m", "600"},
		{compute.JobFailed, `{"message":"m","code":399}`, 500, "m", "399"},
		{compute.JobFailed, `{"message":"m","code":400}`, 400, "m", "400"},
		{compute.JobFailed, `{"message":"m","code":"none"}`, 500, "m", `"none"`},
	} {
		failed := workerErrorOf(compute.Job{Status: c.status, Error: c.failure})
		require.Equal(t, c.want, failed.status, c.failure)
		require.Equal(t, c.message, failed.Error(), c.failure)
		var object struct {
			Message string
			Code    json.RawMessage
		}
		require.NoError(t, json.Unmarshal(failed.object, &object), c.failure)
		require.Equal(t, []string{c.message, c.code}, []string{object.Message, string(object.Code)}, c.failure)
	}

	for value, want := range map[string]string{
		`{"error":{}}`: "the worker answered with an error", `{"error":{"message":""}}`: "the worker answered with an error", `{"error":{"message":7,"code":404}}`: "the worker answered with an error",
		`{"object":"error"}`: "the worker answered with an error", `{"object":"chat.completion","error":{"message":"m"}}`: "", `{"error":"text"}`: "", `{"error":null}`: "", `7`: "", `[]`: "", `{`: "", ``: "",
	} {
		found, is := workerErrorIn(json.RawMessage(value))
		require.Equal(t, want != "", is, value)
		if is {
			require.Equal(t, want, found.Error(), value)
		}
	}
}

// streaming is a call whose answer is streamed to a recorder.
func streaming(route string) (*openAICall, *httptest.ResponseRecorder) {
	rec := httptest.NewRecorder()
	return &openAICall{c: echo.New().NewContext(httptest.NewRequest(http.MethodPost, "/", http.NoBody), rec), route: route}, rec
}

func TestOpenAI_StreamsEndAsTheirRouteHasIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ route, sent, want string }{
		{"/v1/chat/completions", "data: x\n\n", "data: x\n\ndata: [DONE]\n\n"},
		{"/v1/completions", "data: x\n\n", "data: x\n\ndata: [DONE]\n\n"},
		{"/v1/completions", "data: x", "data: x\n\ndata: [DONE]\n\n"},
		{"/v1/completions", "data: x\n\ndata: [DONE]\n\n", "data: x\n\ndata: [DONE]\n\n"},
		{"/v1/completions", strings.Repeat("x", 100) + "data: [DONE]", strings.Repeat("x", 100) + "data: [DONE]"},
		{"/v1/completions", "", "data: [DONE]\n\n"},
		{"/v1/responses", "data: x", "data: x"},
		{"/v1/messages", "", ""},
	} {
		call, rec := streaming(c.route)
		if c.sent != "" {
			require.NoError(t, call.send([]byte(c.sent)))
		}
		require.NoError(t, call.finish())
		require.Equal(t, c.want, rec.Body.String(), c.route)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Equal(t, []string{"text/event-stream", "no-cache"}, []string{rec.Header().Get("Content-Type"), rec.Header().Get("Cache-Control")})
		require.True(t, rec.Flushed, "it is sent at once")
	}
}

func TestOpenAI_OnlyTheEndOfAStreamIsRemembered(t *testing.T) {
	t.Parallel()
	call, _ := streaming("/v1/completions")
	for _, text := range []string{strings.Repeat("a", 20), strings.Repeat("b", 20), strings.Repeat("c", 100) + "\n"} {
		require.NoError(t, call.send([]byte(text)))
		require.LessOrEqual(t, len(call.sent), 32)
	}
	require.Equal(t, strings.Repeat("c", 31)+"\n", string(call.sent))
	require.NoError(t, call.send([]byte("\n")))
	require.Equal(t, "z", string(call.apart([]byte("z"))), "the blank line came in two pieces")
}

func TestOpenAI_WorkersErrorComesBeforeTheStreamAndWithinIt(t *testing.T) {
	t.Parallel()
	call, rec := streaming("/v1/completions")
	failed := json.RawMessage(`{"error":{"message":"m","code":404}}`)
	var found *workerError
	require.ErrorAs(t, call.sendAll(slices.Values([]json.RawMessage{failed})), &found)
	require.Equal(t, 404, found.status)
	require.False(t, call.c.Response().Committed)

	require.NoError(t, call.sendAll(slices.Values([]json.RawMessage{json.RawMessage(`"data: x\n\n"`), failed})))
	require.Equal(t, "data: x\n\ndata: {\"error\":{\"message\":\"m\",\"code\":404}}\n\n", rec.Body.String(), "the answer has begun: it is passed on")
}

func TestOpenAI_CancelledCallIsNotToBeTriedAgain(t *testing.T) {
	t.Parallel()
	for status, want := range map[compute.JobStatus]string{compute.JobCancelled: "false", compute.JobFailed: "", compute.JobTimedOut: ""} {
		call, rec := streaming("/v1/completions")
		require.Error(t, call.failed(compute.Job{Status: status}))
		require.Equal(t, want, rec.Header().Get("X-Should-Retry"), status)
	}
}

func TestOpenAI_NoAnswerIsTheJobsFaultUnlessTheServerStops(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	q, err := jobs.New(t.Context(), db, clock, compute.NewIDs(rand.Reader, clock), jobs.DefaultSettings(), jobs.Hooks{})
	require.NoError(t, err)
	call, _ := streaming("/v1/completions")
	call.Services = &Services{Queue: q}

	var unheard *workerError
	require.ErrorAs(t, call.noAnswer(), &unheard)
	require.Equal(t, 504, unheard.status)
	require.Equal(t, "the job sent nothing within 5m0s", unheard.Error())

	left := make(chan struct{})
	close(left)
	sent := call.c.Request()
	call.c.SetRequest(sent.WithContext(compute.WithLeaving(sent.Context(), left)))
	require.Equal(t, compute.Unavailable, compute.CodeOf(call.noAnswer()))
	call.c.SetRequest(sent)
	require.ErrorAs(t, call.noAnswer(), &unheard)
	q.Close()
	require.Equal(t, compute.Unavailable, compute.CodeOf(call.noAnswer()))
}
