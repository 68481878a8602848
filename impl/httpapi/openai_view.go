package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/problem"
	jobs "github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/validate"
)

// openAIInput gives the input that public workers expect: the route, and the body as it was sent, unless the call has none.
func openAIInput(route string, body []byte) json.RawMessage {
	text, _ := json.Marshal(route) // of any text
	input := slices.Concat([]byte(`{"openai_route":`), text)
	if body != nil {
		input = slices.Concat(input, []byte(`,"openai_input":`), body)
	}
	return append(input, '}')
}

// elements gives the parts of an output: those of a list, or the output itself. It has none if it is absent or null. They are found
// one after the other: a list of 20 MB may have ten million.
func elements(output json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		output = present(bytes.TrimSpace(output))
		if len(output) == 0 || output[0] != '[' {
			if len(output) > 0 {
				yield(output)
			}
			return
		}

		list := validate.NewScanner(output)
		for ok := list.Array(); ok && list.Item(); {
			if !yield(list.Any()) {
				return
			}
		}
	}
}

// firstOf gives the answer among chunks, as answerOf does; the pieces of a long value are one.
func firstOf(chunks []compute.Chunk) (answer json.RawMessage, ok bool) {
	for _, c := range chunks {
		text, last, is := jobs.Piece(c.Output)
		if !is {
			break
		}
		if answer = append(answer, text...); last {
			return answer, isObject(answer)
		}
	}
	answer, ok, _ = answerOf(outputsOf(chunks))
	return answer, ok
}

func outputsOf(chunks []compute.Chunk) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		for _, c := range chunks {
			if !yield(c.Output) {
				return
			}
		}
	}
}

// answerOf gives the JSON object among what a worker gave: the first part, or the text of which the parts are pieces. some reports
// whether there are parts at all.
func answerOf(outputs iter.Seq[json.RawMessage]) (answer json.RawMessage, ok, some bool) {
	var text []byte
	for output := range outputs {
		piece, isText := textOf(output)
		if !some && !isText {
			return output, isObject(output) && json.Valid(output), true
		}
		some = true
		text = append(text, piece...)
	}
	text = bytes.TrimSpace(text)
	return text, isObject(text) && json.Valid(text), some
}

func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// textOf gives the text of a JSON string.
func textOf(value json.RawMessage) ([]byte, bool) {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return nil, false
	}
	return []byte(text), true
}

// eventOf gives what is streamed of a chunk. The pieces of one that was long are one event together: they are not put together here, since
// there is no bound to how many there are.
func (o *openAICall) eventOf(output json.RawMessage) []byte {
	text, last, is := jobs.Piece(output)
	if !is {
		return eventOf(output)
	}
	if !o.within {
		text = slices.Concat([]byte("data: "), text)
	}
	if o.within = !last; last {
		text = append(text, "\n\n"...)
	}
	return text
}

// eventOf gives what is streamed of a chunk: text as it is, since workers yield ready-made events, anything else as an event.
func eventOf(output json.RawMessage) []byte {
	if text, ok := textOf(output); ok {
		return text
	}
	var b bytes.Buffer
	b.WriteString("data: ")
	_ = json.Compact(&b, output) // which is JSON; a line break would end the event
	b.WriteString("\n\n")
	return b.Bytes()
}

func errorEvent(object json.RawMessage) []byte {
	return eventOf(slices.Concat([]byte(`{"error":`), object, []byte("}")))
}

// workerError is the failure of a call that became a job.
type workerError struct {
	status  int
	message string
	object  json.RawMessage // the error object of the OpenAI API
}

func (e *workerError) Error() string { return e.message }

func newWorkerError(status int, code, message string) *workerError {
	return &workerError{status, message, errorObject(status, code, message)}
}

// errorObject gives the error object of the OpenAI API.
func errorObject(status int, code, message string) json.RawMessage {
	kind := "server_error"
	switch {
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status < http.StatusInternalServerError:
		kind = "invalid_request_error"
	}

	var b bytes.Buffer
	_ = writeJSON(&b, struct { // strings, into memory
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}{message, kind, nil, code})

	return b.Bytes()
}

// openAIError gives a problem of ours as an error object, with all that is wrong in its message, the one member that the
// clients show.
func openAIError(p problem.Problem) json.RawMessage {
	message := p.Detail
	if len(p.Errors) > 0 {
		message += ": " + strings.Join(p.Errors, "; ")
	}
	return errorObject(p.Status, strings.ReplaceAll(strings.ToLower(p.Title), " ", "_"), message)
}

// workerErrorOf gives the failure of a job that ended without a result. A worker's own error object is carried.
func workerErrorOf(j compute.Job) *workerError {
	switch j.Status {
	case compute.JobTimedOut:
		return newWorkerError(http.StatusGatewayTimeout, "job_timed_out", cmp.Or(j.Error, "the job timed out"))
	case compute.JobCancelled:
		return newWorkerError(http.StatusConflict, "job_cancelled", "the job was cancelled")
	}

	raw, ok := fromLiteral(j.Error)
	if !ok {
		raw = json.RawMessage(j.Error)
	}
	if of, ok := workerErrorIn(raw); ok {
		return of
	}

	var found struct {
		Message string `json:"message"`
		Raised  string `json:"error_message"` // of a handler that raised; the rest is for its author
	}
	if json.Unmarshal(raw, &found) == nil && found.Message != "" {
		return carried(raw)
	}

	return newWorkerError(http.StatusInternalServerError, "job_failed", cmp.Or(found.Raised, j.Error, "the job failed"))
}

// workerErrorIn gives the error that a worker answered with, as {"error": {...}} or as {"object": "error", ...}. An error
// inside an object of another kind is that object's own affair.
func workerErrorIn(value json.RawMessage) (*workerError, bool) {
	var found struct {
		Object string          `json:"object"`
		Error  json.RawMessage `json:"error"`
	}
	switch {
	case !isObject(value) || json.Unmarshal(value, &found) != nil:
		return nil, false
	case found.Object == "error":
		return carried(value), true
	case found.Object == "" && isObject(found.Error):
		return carried(found.Error), true
	}

	return nil, false
}

// carried makes an error of a worker's error object, whose code is the status where it is one.
func carried(object json.RawMessage) *workerError {
	e := &workerError{status: http.StatusInternalServerError, message: "the worker answered with an error", object: object}
	var found struct {
		Message json.RawMessage `json:"message"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(object, &found) != nil {
		return e
	}

	if text, ok := textOf(found.Message); ok && len(text) > 0 {
		e.message = string(text)
	}
	if code, err := strconv.Atoi(strings.Trim(string(found.Code), `"`)); err == nil && code >= 400 && code <= 599 {
		e.status = code
	}

	return e
}
