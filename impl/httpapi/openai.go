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
	return h.openAI(c, e, routeOf(c))
}

// OpenAICompletions is POST /v2/{endpointId}/openai/v1/completions.
func (h queueHandlers) OpenAICompletions(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e, routeOf(c))
}

// OpenAIResponses is POST /v2/{endpointId}/openai/v1/responses.
func (h queueHandlers) OpenAIResponses(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e, routeOf(c))
}

// OpenAIMessages is POST /v2/{endpointId}/openai/v1/messages.
func (h queueHandlers) OpenAIMessages(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e, routeOf(c))
}

// OpenAIEmbeddings is POST /v2/{endpointId}/openai/v1/embeddings.
func (h queueHandlers) OpenAIEmbeddings(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e, routeOf(c))
}

// OpenAIModels is GET /v2/{endpointId}/openai/v1/models.
func (h queueHandlers) OpenAIModels(c echo.Context, e queue.EndpointID) error {
	return h.openAI(c, e, routeOf(c))
}

// OpenAIRoute is POST /v2/{endpointId}/openai/v1/{route}. The route may have slashes.
func (h queueHandlers) OpenAIRoute(c echo.Context, e queue.EndpointID, route queue.Route) error {
	return h.openAI(c, e, openAIVersion+route)
}

// OpenAIRouteGet is GET /v2/{endpointId}/openai/v1/{route}.
func (h queueHandlers) OpenAIRouteGet(c echo.Context, e queue.EndpointID, route queue.Route) error {
	return h.openAI(c, e, openAIVersion+route)
}

const openAIVersion = "/v1/"

// routeOf gives the route of a path that the documents have as a whole.
func routeOf(c echo.Context) string {
	_, route, _ := strings.Cut(c.Path(), "/openai")
	return route
}

// openAI makes the call a job, answers with what its worker gives, and cancels it if the answer ends before the job does.
func (h queueHandlers) openAI(c echo.Context, e queue.EndpointID, route string) error {
	var body []byte
	streamed := false
	if r := requestOf(c); r.body != nil {
		body = r.raw
		streamed, _ = bodyOf[queue.OpenAIRequest](c).Stream.Get() // absent and null are false
	}
	end, err := h.held.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()
	ctx, user, endpoint := contextOf(c), callerOf(c).UserID, compute.EndpointID(e)
	j, err := h.Queue.SubmitSync(ctx, user, endpoint, jobs.Submission{Input: openAIInput(route, body), Stored: requestOf(c).letGo}, openAIWait)
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
		if _, err := h.Queue.Cancel(context.WithoutCancel(ctx), user, endpoint, j.ID); err != nil && compute.CodeOf(err) != compute.NotFound { // else it went with its endpoint
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

	ended  bool    // the job has
	of     attempt // the one that what was streamed is of
	within bool    // an event whose other pieces are to come
	sent   []byte  // the end of what was streamed
}

// answer waits for the job's end and writes its output as the body.
func (o *openAICall) answer() error {
	j, err := o.Queue.Wait(contextOf(o.c), o.user, o.endpoint, o.job, openAIWait)
	switch {
	case err != nil:
		return err
	case !j.Status.Ended():
		return o.noAnswer()
	}

	o.ended = true
	if err := o.stillGood(o.c); err != nil {
		return err
	}
	if j.Status != compute.JobCompleted {
		return o.failed(j)
	}
	j, leave, err := o.whole(contextOf(o.c), callerOf(o.c).ID, j)
	if err != nil {
		return err
	}

	defer leave()
	body, ok, some := answerOf(elements(j.Output))
	if !some { // the worker streamed and did not aggregate
		var left func()
		if body, ok, left, err = o.streamed(); err != nil {
			return err
		}
		defer left()
	}

	if !ok {
		return newWorkerError(http.StatusBadGateway, "job_output", "the output of the job has no JSON object to answer with")
	}
	if of, ok := workerErrorIn(body); ok {
		return of
	}

	return o.c.JSONBlob(http.StatusOK, body)
}

// mostStreamed is how many bytes a worker may stream for an answer that is not streamed: as many as its output may have.
const mostStreamed = 20_000_000

// streamed gives the answer that an ended job streamed, and what gives back its memory.
func (o *openAICall) streamed() (answer json.RawMessage, ok bool, leave func(), err error) {
	leave = func() {}
	total, entered := 0, false
	room := func(bytes int) (int, error) {
		if !entered && total+bytes > freeChunks {
			left, err := o.Answers.Whole(contextOf(o.c), callerOf(o.c).ID, mostStreamed)
			if err != nil {
				return 0, err
			}
			leave, entered = left, true
		}
		return bytes, nil
	}

	var all []compute.Chunk
	for {
		j, chunks, err := o.Queue.Stream(contextOf(o.c), o.user, o.endpoint, o.job, openAIWait, room)
		for _, c := range chunks {
			total += len(c.Output)
		}
		all = append(all, chunks...)
		if err == nil && total > mostStreamed {
			err = newWorkerError(http.StatusBadGateway, "job_output", "what the job streamed is too long to answer with at once")
		}
		if err != nil {
			leave()
			return nil, false, nil, err
		}
		if j.Status.Ended() {
			answer, ok = firstOf(all)
			return answer, ok, leave, nil
		}
	}
}

// noAnswer is the failure of a wait that brought nothing: it is over, or the server is stopping.
func (o *openAICall) noAnswer() error {
	if o.Queue.Closed() || compute.HasLeft(contextOf(o.c)) {
		return compute.Errorf(compute.Unavailable, "the server is stopping")
	}
	return newWorkerError(http.StatusGatewayTimeout, "job_unheard", "the job sent nothing within "+openAIWait.String())
}

// failed is the failure of a call whose job ended without a result.
func (o *openAICall) failed(j compute.Job) error {
	if j.Status == compute.JobCancelled {
		o.c.Response().Header().Set("X-Should-Retry", "false") // or the official clients would submit it again
	}
	return workerErrorOf(j)
}
