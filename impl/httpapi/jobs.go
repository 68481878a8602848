package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

// queueHandlers implements the generated queue interface.
type queueHandlers struct{ *Services }

var _ queue.ServerInterface = queueHandlers{}

// Run is POST /v2/{endpointId}/run.
func (h queueHandlers) Run(c echo.Context, e queue.EndpointID) error {
	asked, err := submission(c)
	if err != nil { // whether the endpoint is there comes first (rule errors.order.existence)
		return cmp.Or(h.Queue.Known(callerOf(c).UserID, compute.EndpointID(e)), err)
	}
	j, err := h.Queue.Run(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), asked)
	h.note(c, "job", string(j.ID))
	return h.answerJob(c, j, err)
}

// RunSync is POST /v2/{endpointId}/runsync.
func (h queueHandlers) RunSync(c echo.Context, e queue.EndpointID, p queue.RunSyncParams) error {
	asked, err := submission(c)
	if err != nil { // as for Run
		return cmp.Or(h.Queue.Known(callerOf(c).UserID, compute.EndpointID(e)), err)
	}
	end, err := h.held.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()
	j, err := h.Queue.RunSync(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), asked, waitOf(p.Wait))
	h.note(c, "job", string(j.ID))
	return h.answerLatest(c, e, j, cmp.Or(err, h.stillGood(c)))
}

// Status is GET /v2/{endpointId}/status/{jobId}.
func (h queueHandlers) Status(c echo.Context, e queue.EndpointID, id queue.JobID, p queue.StatusParams) error {
	if p.TTL != nil {
		j, err := h.Queue.SetTTL(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), compute.JobID(id), milliseconds(*p.TTL))
		return h.answerLatest(c, e, j, err)
	}
	j, err := h.Queue.Status(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), compute.JobID(id))
	return h.answerLatest(c, e, j, err)
}

// answerLatest is answerJob. Where the output has been replaced since the job was read, the job is read again: nothing is written yet.
func (h queueHandlers) answerLatest(c echo.Context, e queue.EndpointID, j compute.Job, err error) error {
	const tries = 5
	for range tries {
		if err = h.answerJob(c, j, err); !errors.Is(err, errReplaced) {
			return err
		}
		j, err = h.Queue.Status(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), j.ID)
	}
	return cmp.Or(err, errReplaced)
}

// StatusPost is Status for the clients that POST.
func (h queueHandlers) StatusPost(c echo.Context, e queue.EndpointID, id queue.JobID, p queue.StatusPostParams) error {
	return h.Status(c, e, id, queue.StatusParams(p))
}

// StatusSync is GET /v2/{endpointId}/status-sync/{jobId}.
func (h queueHandlers) StatusSync(c echo.Context, e queue.EndpointID, id queue.JobID, p queue.StatusSyncParams) error {
	end, err := h.held.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()
	j, err := h.Queue.Wait(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), compute.JobID(id), waitOf(p.Wait))
	return h.answerLatest(c, e, j, cmp.Or(err, h.stillGood(c)))
}

// StatusSyncPost is StatusSync for the clients that POST.
func (h queueHandlers) StatusSyncPost(c echo.Context, e queue.EndpointID, id queue.JobID, p queue.StatusSyncPostParams) error {
	return h.StatusSync(c, e, id, queue.StatusSyncParams(p))
}

// Cancel is POST /v2/{endpointId}/cancel/{jobId}.
func (h queueHandlers) Cancel(c echo.Context, e queue.EndpointID, id queue.JobID) error {
	j, err := h.Queue.Cancel(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), compute.JobID(id))
	return h.answerJob(c, j, err)
}

// Stream is GET /v2/{endpointId}/stream/{jobId}.
func (h queueHandlers) Stream(c echo.Context, e queue.EndpointID, id queue.JobID, p queue.StreamParams) error {
	wait := jobs.DefaultStreamWait
	if p.Wait != nil {
		wait = milliseconds(*p.Wait)
	}
	end, err := h.held.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()
	room, leave := h.chunkRoom(c)
	defer leave()
	j, chunks, err := h.Queue.Stream(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), compute.JobID(id), wait, room)
	if err == nil && len(chunks) == 0 {
		err = h.stillGood(c) // the end is nothing for a key that is not, either
	}
	if err != nil {
		return err
	}

	view := chunksView(chunks)
	if !callerOf(c).bearer || c.Request().Header.Get(echo.HeaderAccept) == echo.MIMEApplicationJSON {
		return c.JSON(http.StatusOK, view)
	}
	return c.JSON(http.StatusOK, queue.Stream{Status: queue.JobStatus(j.Status), Stream: view})
}

const (
	freeChunks  = 64 << 10 // bytes of chunks in an answer that count for nothing
	chunkMemory = 2        // an answer has them, and then its text
	fewChunks   = 1 << 20  // bytes that are taken where there is no room for all
)

// chunkRoom gives what makes room for the chunks of an answer, and what gives it back. It is asked before chunks are taken, and refuses a
// key that is not good any more, and a client that has gone: they stay for the next read.
func (s *Services) chunkRoom(c echo.Context) (room func(bytes int) (int, error), leave func()) {
	held := func() {}
	room = func(bytes int) (int, error) {
		if err := s.stillThere(c); err != nil {
			return 0, err
		}
		held()
		if held = func() {}; bytes <= freeChunks {
			return bytes, nil
		}
		if all, ok := s.Answers.Try(callerOf(c).ID, int64(bytes)*chunkMemory); ok {
			held = all
			return bytes, nil
		}

		few, err := s.Answers.Piece(contextOf(c), callerOf(c).ID, fewChunks*chunkMemory)
		if err == nil {
			held = few
		}
		return fewChunks, err
	}

	return room, func() { held() }
}

// StreamPost is Stream for the clients that POST.
func (h queueHandlers) StreamPost(c echo.Context, e queue.EndpointID, id queue.JobID, p queue.StreamPostParams) error {
	return h.Stream(c, e, id, queue.StreamParams(p))
}

// Retry is POST /v2/{endpointId}/retry/{jobId}.
func (h queueHandlers) Retry(c echo.Context, e queue.EndpointID, id queue.JobID) error {
	j, err := h.Queue.Retry(contextOf(c), callerOf(c).UserID, compute.EndpointID(e), compute.JobID(id))
	return h.answerJob(c, j, err)
}

// PurgeQueue is POST /v2/{endpointId}/purge-queue.
func (h queueHandlers) PurgeQueue(c echo.Context, e queue.EndpointID) error {
	removed, err := h.Queue.Purge(contextOf(c), callerOf(c).UserID, compute.EndpointID(e))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, queue.Purged{Removed: int64(removed), Status: queue.PurgedStatusCompleted})
}

// Health is GET /v2/{endpointId}/health.
func (h queueHandlers) Health(c echo.Context, e queue.EndpointID) error {
	health, err := h.Queue.Health(contextOf(c), callerOf(c).UserID, compute.EndpointID(e))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, healthView(health))
}

// Metrics is GET /v2/{endpointId}/metrics.
func (h queueHandlers) Metrics(c echo.Context, e queue.EndpointID) error {
	health, err := h.Queue.Workers(callerOf(c).UserID, compute.EndpointID(e))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, metricsView(health))
}

// answerJob writes the status document: always 200, since clients take 201 and 202 for failures (rule queue.success).
func (s *Services) answerJob(c echo.Context, j compute.Job, err error) error {
	if err != nil {
		return err
	}
	return answerWith(c, func(b []byte) document {
		d := documentOf(b, &j)
		if j.Output == nil { // else it is at hand: the end of a job with a webhook reads it
			d.long = s.long(&j, compute.JobOutput, j.OutputSize)
		}
		return d
	})
}

func waitOf(ms *queue.Wait) time.Duration {
	if ms == nil {
		return jobs.DefaultWait
	}
	return milliseconds(*ms)
}

// milliseconds gives the duration, at most the longest that a time can carry; a ttl has no maximum.
func milliseconds(ms int64) time.Duration {
	const longest = 100 * 365 * 24 * time.Hour
	if ms > longest.Milliseconds() {
		return longest
	}
	return time.Duration(ms) * time.Millisecond
}
