package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

// openAIWait is how long a call waits for its answer, and a stream for its next chunk (rule openai.wait). It is the longest
// wait of /runsync: the caller has no job id to come back with, so a shorter one would waste the start of a slow worker.
const openAIWait = 300 * time.Second

// OpenAIChatCompletions is POST /v2/{endpointId}/openai/v1/chat/completions.
func (h queueHandlers) OpenAIChatCompletions(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e)
}

// OpenAICompletions is POST /v2/{endpointId}/openai/v1/completions.
func (h queueHandlers) OpenAICompletions(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e)
}

// OpenAIResponses is POST /v2/{endpointId}/openai/v1/responses.
func (h queueHandlers) OpenAIResponses(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e)
}

// OpenAIMessages is POST /v2/{endpointId}/openai/v1/messages.
func (h queueHandlers) OpenAIMessages(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e)
}

// OpenAIEmbeddings is POST /v2/{endpointId}/openai/v1/embeddings.
func (h queueHandlers) OpenAIEmbeddings(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e)
}

// OpenAIModels is GET /v2/{endpointId}/openai/v1/models.
func (h queueHandlers) OpenAIModels(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e)
}

// openAI makes the call a job, answers with what its worker gives, and cancels it if the answer ends before the job does.
func (h queueHandlers) openAI(c echo.Context, e queue.EndpointID) error {
	_, route, _ := strings.Cut(c.Path(), "/openai")
	var body []byte
	streamed := false
	if r := requestOf(c); r.body != nil {
		body = r.raw
		streamed, _ = bodyOf[queue.OpenAIRequest](c).Stream.Get() // absent and null are false
	}
	ctx, user, endpoint := contextOf(c), callerOf(c).UserID, compute.EndpointID(e)
	j, err := h.Queue.SubmitSync(ctx, user, endpoint, jobs.Submission{Input: openAIInput(route, body)}, openAIWait)
	if err != nil {
		return err
	}
	h.note(c, "job", string(j.ID))
	call := &openAICall{Services: h.Services, c: c, user: user, endpoint: endpoint, job: j.ID, route: route}
	if streamed {
		err = call.stream()
	} else {
		err = call.answer()
	}
	if !call.ended {
		if _, err := h.Queue.Cancel(context.WithoutCancel(ctx), user, endpoint, j.ID); err != nil {
			h.Log.Error("a call without a caller is not cancelled", "job", j.ID, "error", err)
		}
	}
	return err
}

// openAICall is one call of the OpenAI API and the job that it became.
type openAICall struct {
	*Services
	c        echo.Context
	user     compute.UserID
	endpoint compute.EndpointID
	job      compute.JobID
	route    string // below /openai

	ended bool   // the job has
	sent  []byte // the end of what was streamed
}

// answer waits for the job's end and writes its output as the body.
func (o *openAICall) answer() error {
	j, err := o.Queue.Wait(contextOf(o.c), o.user, o.endpoint, o.job, openAIWait)
	switch {
	case err != nil:
		return err
	case !j.Status.Ended():
		return o.unheard()
	}
	o.ended = true
	if j.Status != compute.JobCompleted {
		return o.failed(j)
	}
	outputs := elements(j.Output)
	if len(outputs) == 0 { // the worker streamed and did not aggregate
		if outputs, err = o.chunks(); err != nil {
			return err
		}
	}
	body, ok := answerOf(outputs)
	if !ok {
		return newWorkerError(http.StatusBadGateway, "job_output", "the output of the job has no JSON object to answer with")
	}
	if of, ok := workerErrorIn(body); ok {
		return of
	}
	return o.c.JSONBlob(http.StatusOK, body)
}

// chunks gives what an ended job streamed.
func (o *openAICall) chunks() (outputs []json.RawMessage, err error) {
	for {
		j, chunks, err := o.Queue.Stream(contextOf(o.c), o.user, o.endpoint, o.job, openAIWait)
		for _, chunk := range chunks {
			outputs = append(outputs, chunk.Output)
		}
		if err != nil || j.Status.Ended() {
			return outputs, err
		}
	}
}

// unheard is the failure of a wait that brought nothing: it is over, or the server is stopping.
func (o *openAICall) unheard() error {
	if o.Queue.Closed() {
		return compute.Errorf(compute.Unavailable, "the server is stopping")
	}
	return newWorkerError(http.StatusGatewayTimeout, "job_unheard", "nothing was heard of the job within "+openAIWait.String())
}

// failed is the failure of a call whose job ended without a result.
func (o *openAICall) failed(j compute.Job) error {
	if j.Status == compute.JobCancelled {
		o.c.Response().Header().Set("X-Should-Retry", "false") // or the official clients would submit it again
	}
	return workerErrorOf(j)
}
