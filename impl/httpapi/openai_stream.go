package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
)

// stream writes each chunk as it comes. Before the first one a failure is an answer with a status, after it an event
// (rules openai.stream, openai.stream.failure).
func (o *openAICall) stream() error {
	err := o.forward()
	if err == nil || !o.c.Response().Committed || contextOf(o.c).Err() != nil {
		return err
	}
	object := openAIError(problemOf(err))
	if of, ok := errors.AsType[*workerError](err); ok {
		object = of.object
	} else if compute.CodeOf(err) != compute.Unauthenticated {
		o.logFailure(o.c, "stream failed", err)
	}
	return o.send(o.apart(errorEvent(object)))
}

// forward writes the chunks until the job ends.
func (o *openAICall) forward() error {
	room, leave := o.chunkRoom(o.c)
	defer leave()
	for {
		j, chunks, err := o.Queue.Stream(contextOf(o.c), o.user, o.endpoint, o.job, openAIWait, room)
		if err != nil {
			return err
		}
		o.ended = j.Status.Ended()
		if len(chunks) == 0 {
			if err := o.stillGood(o.c); err != nil {
				return err
			}
		}
		if err := o.sameAttempt(j); err != nil {
			return err
		}
		if !o.ended && len(chunks) == 0 {
			return o.noAnswer()
		}

		outputs := outputsOf(chunks)
		if j.Status == compute.JobCompleted && len(chunks) == 0 && !o.c.Response().Committed {
			whole, leave, err := o.whole(contextOf(o.c), callerOf(o.c).ID, j)
			if err != nil {
				return err
			}
			defer leave()
			outputs = elements(whole.Output) // the worker did not stream
		}

		if err := o.sendAll(outputs); err != nil {
			return err
		}
		leave()
		if o.ended && j.Status != compute.JobCompleted {
			return o.failed(j)
		}
		if o.ended {
			return o.finish()
		}
	}
}

// attempt is one time that a job runs: the count of attempts begins anew with a retry, and one that does not count is not in it.
type attempt struct {
	worker  compute.WorkerID
	taken   int64 // milliseconds of Unix time
	retries int
}

// sameAttempt fails once something was sent of another attempt than the one that the job shows: the next one gives its output from the
// beginning, and who reads would take the two for one (rule openai.stream.restarted). A job that ended without a result
// has an error that says more.
func (o *openAICall) sameAttempt(j compute.Job) error {
	now := attempt{j.WorkerID, j.TakenAt.UnixMilli(), j.Retries}
	switch {
	case !o.c.Response().Committed:
		o.of = now
	case now == o.of:
	case j.Status.Ended() && j.Status != compute.JobCompleted:
		return o.failed(j)
	default:
		return newWorkerError(http.StatusBadGateway, "job_restarted", "the worker was lost, and the job began anew")
	}
	return nil
}

func (o *openAICall) sendAll(outputs iter.Seq[json.RawMessage]) error {
	for output := range outputs {
		if of, ok := workerErrorIn(output); ok && !o.c.Response().Committed {
			return of
		}
		if err := o.send(o.eventOf(output)); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the stream. Where the API has an event that says so, a worker that forgot it is helped out: the other routes
// have ends of their own (rule openai.stream.done).
func (o *openAICall) finish() error {
	var end []byte
	if o.route == "/v1/chat/completions" || o.route == "/v1/completions" {
		if !bytes.HasSuffix(bytes.TrimSpace(o.sent), []byte("[DONE]")) {
			end = o.apart([]byte("data: [DONE]\n\n"))
		}
	}
	return o.send(end)
}

// apart puts the event behind a blank line, should what was sent lack one.
func (o *openAICall) apart(event []byte) []byte {
	if len(o.sent) == 0 || bytes.HasSuffix(o.sent, []byte("\n\n")) {
		return event
	}
	return append([]byte("\n\n"), event...)
}

// send writes text to the caller at once, and begins the answer with the first.
func (o *openAICall) send(text []byte) error {
	r := o.c.Response()
	if !r.Committed {
		r.Header().Set(echo.HeaderContentType, "text/event-stream")
		r.Header().Set(echo.HeaderCacheControl, "no-cache")
		r.WriteHeader(http.StatusOK)
	}

	if _, err := r.Write(text); err != nil {
		return err
	}
	r.Flush()
	const kept = 32 // enough to see whether the stream has its end
	o.sent = append(o.sent, text[max(0, len(text)-kept):]...)
	o.sent = o.sent[max(0, len(o.sent)-kept):]

	return nil
}
