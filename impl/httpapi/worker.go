package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	jobs "github.com/berthdev/berth/impl/queue"
)

// workerHandlers implements the generated worker protocol.
type workerHandlers struct{ *Services }

var _ worker.ServerInterface = workerHandlers{}

// bareID gives an id as it stands in a path. SDK workers append their query to a URL without one as if it had one, so that the last id may end
// in &job_in_progress=0 or &isStream=false.
func bareID(value string) string {
	id, _, _ := strings.Cut(value, "&")
	return id
}

// seatOf gives the worker that asks. A worker's own key is good for that worker alone.
func seatOf(c echo.Context, id worker.WorkerID) (compute.UserID, compute.WorkerID, error) {
	name := bareID(id)
	if name == "" || name == "*" { // nobody, and anybody
		return "", "", &compute.Error{Code: compute.Invalid, Detail: "the worker has no id", Fields: []string{"path.workerId: must be the id of a worker, which neither * nor an empty one is"}}
	}
	key := callerOf(c).Key
	if key.WorkerID != "" && key.WorkerID != compute.WorkerID(name) {
		return "", "", key.MayNot("the key belongs to another worker")
	}
	return key.UserID, compute.WorkerID(strings.Clone(name)), nil // what is remembered of it keeps nothing of the request
}

// TakeJob is GET /v2/{endpointId}/job-take/{workerId}.
func (h workerHandlers) TakeJob(c echo.Context, e worker.EndpointID, w worker.WorkerID, p worker.TakeJobParams) error {
	return h.take(c, e, w, 1, p.JobInProgress, func(taken []jobs.Taken) error {
		return answerWith(c, func(b []byte) document { return h.takenDocument(b, &taken[0]) })
	})
}

// TakeJobs is GET /v2/{endpointId}/job-take-batch/{workerId}.
func (h workerHandlers) TakeJobs(c echo.Context, e worker.EndpointID, w worker.WorkerID, p worker.TakeJobsParams) error {
	n := 1
	if p.BatchSize != nil {
		n = int(*p.BatchSize)
	}

	return h.take(c, e, w, n, p.JobInProgress, func(taken []jobs.Taken) error {
		leave, err := h.boundBatch(c, taken)
		if err != nil {
			return err
		}
		defer leave()
		list := []document{{head: []byte("[")}}
		for i := range taken {
			if i > 0 {
				list = append(list, document{head: []byte(",")})
			}
			list = append(list, h.takenDocument(nil, &taken[i]))
		}
		return writeDocuments(c, append(list, document{head: []byte("]\n")})...)
	})
}

// freeBatch is how many bytes of a batch count for nothing, as many as one job may have.
const freeBatch = compute.PieceSize

// boundBatch has the memory of a batch count as that of a large answer, unless it is short. Where there is no room for that the inputs are
// left, and are read again one at a time, each when it is sent (rule bounds.batches). What stays in memory has to have room: Unavailable.
func (s *Services) boundBatch(c echo.Context, taken []jobs.Taken) (leave func(), err error) {
	inputs, configs := 0, 0
	for i := range taken {
		inputs += len(taken[i].Input)
		configs += 2 * len(taken[i].S3Config) // it is copied
	}
	if inputs+configs <= freeBatch {
		return nothingHeld, nil
	}
	if leave, ok := s.Answers.Try(callerOf(c).ID, int64(inputs+configs)); ok {
		return leave, nil
	}
	if configs > freeBatch {
		return nil, limit.Crowded()
	}

	for i := range taken {
		if t := &taken[i]; t.Input != nil {
			t.Input, t.InputSize = nil, len(t.Input)
		}
	}
	return nothingHeld, nil
}

// nothingHeld gives back what was not taken.
func nothingHeld() {}

func (h workerHandlers) take(c echo.Context, e worker.EndpointID, w worker.WorkerID, n int, inProgress *string, answer func([]jobs.Taken) error) error {
	user, id, err := seatOf(c, w)
	if err != nil {
		return err
	}
	take := h.Queue.Take
	if value(inProgress) == "1" || strings.Contains(w+"&", "&job_in_progress=1&") {
		take = h.Queue.TakeMore
	}
	end, err := h.polls.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()
	taken, err := take(contextOf(c), user, compute.EndpointID(e), id, n)
	if err != nil {
		return err
	}
	if err := h.stillThere(c); err != nil {
		h.Queue.HandBack(taken)
		return err
	}
	if len(taken) == 0 {
		return c.NoContent(http.StatusNoContent)
	}

	for _, t := range taken {
		h.note(c, "job", string(t.ID))
	}
	if sizeOf(taken) > sentAtOnce {
		defer h.Queue.OnItsWay(taken)()
	}
	if err = answer(taken); err == nil {
		err = http.NewResponseController(c.Response().Writer).Flush() // only now it shows that the worker has hung up
	}
	if err != nil {
		h.Queue.HandBack(taken)
	}

	return err
}

// sentAtOnce is how many bytes of jobs the system takes without the client, as a rule: what is longer is under way for a while.
const sentAtOnce = 64 << 10

// sizeOf gives about how many bytes the jobs are for their worker.
func sizeOf(taken []jobs.Taken) (size int) {
	for i := range taken {
		size += len(taken[i].Input) + taken[i].InputSize + len(taken[i].S3Config)
	}
	return size
}

// StopJobs is GET /v2/{endpointId}/job-stop/{workerId}.
func (h workerHandlers) StopJobs(c echo.Context, e worker.EndpointID, w worker.WorkerID) error {
	user, id, err := seatOf(c, w)
	if err != nil {
		return err
	}
	end, err := h.polls.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()
	ids, err := h.Queue.Stops(contextOf(c), user, compute.EndpointID(e), id)
	if err = cmp.Or(err, h.stillThere(c)); err != nil {
		h.Queue.StopAgain(compute.EndpointID(e), id, ids)
		return err
	}
	if len(ids) == 0 {
		return c.NoContent(http.StatusNoContent)
	}

	stop := worker.StopJobs{JobsToStop: make([]string, len(ids))}
	for i, id := range ids {
		stop.JobsToStop[i] = string(id)
	}
	body, err := json.Marshal(stop)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(body))) // or it would come in chunks
	if err = c.JSONBlob(http.StatusOK, body); err == nil {
		err = http.NewResponseController(c.Response().Writer).Flush() // only now it shows that the worker has hung up
	}
	if err != nil {
		h.Queue.StopAgain(compute.EndpointID(e), id, ids)
	}
	return err
}

// FinishJob is POST /v2/{endpointId}/job-done/{workerId}/{jobId}.
func (h workerHandlers) FinishJob(c echo.Context, e worker.EndpointID, w worker.WorkerID, j worker.JobID, _ worker.FinishJobParams) error {
	user, id, err := seatOf(c, w)
	if err != nil {
		return err
	}

	r, ctx := bodyOf[worker.Report](c), context.WithoutCancel(contextOf(c)) // whose connection breaks does not report again
	if value(r.Status) == string(compute.JobInProgress) {
		err = h.Queue.Progress(contextOf(c), user, compute.EndpointID(e), id, compute.JobID(bareID(j)), r.Output)
	} else {
		report := jobs.Report{
			Output: present(r.Output), Error: errorText(r.Error), Leave: value(r.StopPod),
			Stored: func() { readNow(c) },
		}
		err = h.Queue.Finish(ctx, user, compute.EndpointID(e), id, compute.JobID(bareID(j)), report)
	}

	return acknowledged(c, err)
}

// StreamJob is POST /v2/{endpointId}/job-stream/{workerId}/{jobId}.
func (h workerHandlers) StreamJob(c echo.Context, e worker.EndpointID, w worker.WorkerID, j worker.JobID, _ worker.StreamJobParams) error {
	user, id, err := seatOf(c, w)
	if err != nil {
		return err
	}
	chunk, ctx := bodyOf[worker.Chunk](c), context.WithoutCancel(contextOf(c)) // as of a result
	err = h.Queue.StreamJob(ctx, user, compute.EndpointID(e), id, compute.JobID(bareID(j)), compute.Chunk{Output: chunk.Output, Metrics: chunk.Metrics})
	return acknowledged(c, err)
}

// Ping is GET /v2/{endpointId}/ping/{workerId}.
func (h workerHandlers) Ping(c echo.Context, e worker.EndpointID, w worker.WorkerID, p worker.PingParams) error {
	user, id, err := seatOf(c, w)
	if err != nil {
		return err
	}

	if value(p.Status) == "unhealthy" {
		reason := strings.TrimSpace(begin(value(p.Check), mostOfReason) + ": " + begin(value(p.Reason), mostOfReason))
		h.Log.Warn("worker is unhealthy", "endpoint", e, "worker", id, "reason", reason)
		return acknowledged(c, h.Queue.Unhealthy(user, compute.EndpointID(e), id, reason))
	}

	var ids []compute.JobID
	for name := range strings.SplitSeq(value(p.JobID), ",") {
		j := compute.JobID(name)
		if _, is := j.Key(); is { // or no job has it, and there may be a million of the kind
			ids = append(ids, j)
		}
	}
	return acknowledged(c, h.Queue.Ping(user, compute.EndpointID(e), id, ids))
}

// mostOfReason is how much is kept of what a worker says of its health, in bytes: the SDK sends 256 characters.
const mostOfReason = 1024

// begin gives the beginning of a text, of whole characters, as a text of its own.
func begin(text string, most int) string {
	return strings.ToValidUTF8(strings.Clone(text[:min(len(text), most)]), "")
}

// readNow answers before the request is over.
func readNow(c echo.Context) {
	const body = "{}"
	c.Response().Header().Set(echo.HeaderContentLength, strconv.Itoa(len(body)))
	_ = c.JSONBlob(http.StatusOK, []byte(body)) // a worker that hung up needs no answer
	c.Response().Flush()
}

func acknowledged(c echo.Context, err error) error {
	if err != nil || c.Response().Committed {
		return err
	}
	return c.JSON(http.StatusOK, worker.Acknowledgement{})
}

// present gives no output for null: a handler that returned nothing.
func present(output json.RawMessage) json.RawMessage {
	if string(output) == "null" {
		return nil
	}
	return output
}

// errorText makes a string of whatever a handler gave as its error: clients read a string. Null is no error.
func errorText(raw json.RawMessage) string {
	if raw = present(raw); len(raw) == 0 {
		return ""
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return string(raw)
	}
	if text == "" {
		return "the handler failed without a message"
	}
	return text
}
