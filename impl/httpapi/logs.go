package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

const (
	defaultTail = 100              // lines (rules pods.logs.tail, serverless.workers.logs.tail)
	tailAtOnce  = 1000             // lines (rule logs.tail)
	mostAtOnce  = 1 << 20          // bytes of lines in an answer (rule logs.bytes)
	heartbeat   = 15 * time.Second // in which a stream says something at the least (rule pods.logs.heartbeat)
	slowest     = 30 * time.Second // for a reader to take what is written; then it is cut off
)

// logsPath is the path of what clients take for the API of hosts.
const logsPath = "/_berth/v1/pod/{podId}/logs"

// lineTime is how the time of a line is written: always with nine digits, so that ids sort as text, too.
const lineTime = "2006-01-02T15:04:05.000000000Z07:00"

// logQuery translates the parameters, which are the same for workers.
func logQuery(p rest.GetPodLogsParams) compute.LogQuery {
	q := compute.LogQuery{Source: compute.LogSource(value(p.Source)), Tail: defaultTail, Since: value(p.Since), After: value(p.LastEventID), Mark: true}
	if p.Tail != nil {
		q.Tail = int(*p.Tail)
	}
	return q
}

// streamLogs answers with the lines that read gives, as server-sent events, until read is done, the client goes, the server
// drains, the key is not good any more, or the client takes nothing for too long. It holds no line: read waits while the client is slow. A client that was
// cut off sends the id of its last line when it comes back, and nothing is lost.
func (s *Services) streamLogs(c echo.Context, read compute.ReadLog) error {
	if s.Draining.Err() != nil || compute.HasLeft(contextOf(c)) {
		return errStopping // an answer that ends at once would say that there will be no more lines
	}
	end, err := s.tails.begin(callerOf(c).ID)
	if err != nil {
		return err
	}
	defer end()

	ctx, cancel := context.WithCancel(contextOf(c))
	defer cancel()
	e := &eventStream{response: c.Response(), control: http.NewResponseController(c.Response()), clock: s.Clock}
	drain := func() {
		cancel()
		_ = e.limit(time.Second) // a write that waits for a slow reader does not hold up the drain
	}
	defer context.AfterFunc(s.Draining, drain)()
	if err := e.open(); err != nil {
		return nil // the client has gone
	}

	var beats sync.WaitGroup
	if leaving := compute.Leaving(ctx); leaving != nil {
		beats.Go(func() {
			select {
			case <-leaving:
				drain()
			case <-ctx.Done():
			}
		})
	}
	beats.Go(func() {
		defer cancel()
		for e.idle(ctx) {
			if e.write([]byte(": nothing new\n\n")) != nil {
				return
			}
		}
	})

	beats.Go(func() {
		if s.revoked(ctx, c) {
			drain()
		}
	})

	err = read(ctx, func(l compute.LogLine) error {
		if l == (compute.LogLine{}) {
			return e.write([]byte(": so far\n\n"))
		}
		event, err := logEvent(l)
		if err != nil {
			return err
		}
		return e.write(event)
	})

	ended := ctx.Err() != nil
	cancel()
	beats.Wait()
	_ = e.limit(slowest) // for the end
	if e.failed || ended {
		return nil // nobody reads, or all that was to be read was
	}
	if err != nil {
		s.logFailure(c, "log could not be read", err)
		panic(http.ErrAbortHandler) // so that the client sees that it is not the end
	}

	return nil
}

// revoked waits until the key of what is answered for long is not good any more, at which it looks each 15 seconds; false: ctx has
// ended. It looks by itself, since a log that is never quiet has no heartbeat (rule auth.revoked.logs).
func (s *Services) revoked(ctx context.Context, c echo.Context) bool {
	var next silence
	defer next.end()
	for {
		next.begin(s.Clock)
		select {
		case <-next.machine:
		case <-next.server:
		case <-ctx.Done():
			return false
		}
		if s.stillGoodIn(ctx, c) != nil {
			return true
		}
	}
}

// logEvent writes a line as an event.
func logEvent(l compute.LogLine) ([]byte, error) {
	at := l.At().Format(lineTime)
	b := bytes.NewBufferString("id: " + at + "\ndata: ")
	err := writeJSON(b, struct {
		Source string `json:"source"`
		Line   string `json:"line"`
		TS     string `json:"ts"`
	}{string(l.Source), l.Text, at}) // ends with a line feed
	b.WriteByte('\n')
	return b.Bytes(), err
}

// eventStream is a response of server-sent events that two write to: the reader of the log, and the heart.
type eventStream struct {
	response *echo.Response
	control  *http.ResponseController
	clock    compute.Clock

	mu     sync.Mutex
	failed bool
	spoke  time.Time // when something was written last
}

// open begins the answer, before there is anything to say.
func (e *eventStream) open() error {
	h := e.response.Header()
	h.Set(echo.HeaderContentType, "text/event-stream")
	h.Set(echo.HeaderCacheControl, "no-cache")
	h.Set("X-Accel-Buffering", "no")
	e.response.WriteHeader(http.StatusOK)
	return e.write(nil)
}

// limit gives what is being written, and what will be, so much time. It is the machine's: what a test makes of the clock
// must not cut a reader off.
func (e *eventStream) limit(d time.Duration) error {
	return e.control.SetWriteDeadline(compute.SystemClock{}.Wall().Add(d))
}

// write sends text at once.
func (e *eventStream) write(text []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spoke = e.clock.Now()
	err := e.limit(slowest)
	if err == nil {
		_, err = e.response.Write(text)
	}
	if err == nil {
		err = e.control.Flush()
	}
	e.failed = e.failed || err != nil
	return err
}

// idle waits until nothing was written for so long that it is time for a sign of life; false: ctx has ended.
func (e *eventStream) idle(ctx context.Context) bool {
	for {
		e.mu.Lock()
		left := heartbeat - e.clock.Now().Sub(e.spoke)
		e.mu.Unlock()
		if left <= 0 {
			return true
		}

		beat, stop := e.clock.After(left)
		select {
		case <-ctx.Done():
			stop()
			return false
		case <-beat:
		}
	}
}

// GetPodLogs is GET /v2/pods/{id}/logs.
func (h restHandlers) GetPodLogs(c echo.Context, id string, params rest.GetPodLogsParams) error {
	pod, err := h.Control.GetPod(contextOf(c), callerOf(c).UserID, compute.PodID(id))
	if err != nil {
		return err
	}
	read, err := h.Pods.OpenLog(contextOf(c), pod.ID, logQuery(params))
	if err != nil {
		return err
	}
	return h.streamLogs(c, read)
}

// GetLogs is GET /_berth/v1/pod/{podId}/logs.
func (h controlsHandlers) GetLogs(c echo.Context, id string, params controls.GetLogsParams) error {
	q := compute.LogQuery{Tail: tailAtOnce, Since: value(params.Since), After: value(params.LastEventID), AtOnce: !value(params.Stream)}
	if !q.AtOnce {
		q.Tail, q.Mark = defaultTail, true
	}
	if params.Tail != nil {
		q.Tail = int(*params.Tail)
	}
	if of := value(params.Type); of != controls.GetLogsParamsTypeAll {
		q.Source = compute.LogSource(of)
	}

	read, err := h.logOf(contextOf(c), callerOf(c).UserID, id, q)
	switch {
	case err != nil:
		return err
	case !q.AtOnce:
		return h.streamLogs(c, read)
	}
	logs, err := atOnce(contextOf(c), read)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, logs)
}

// logOf gives what reads the log of the user's pod or worker of the id.
func (s *Services) logOf(ctx context.Context, user compute.UserID, id string, q compute.LogQuery) (compute.ReadLog, error) {
	pod, err := s.Control.GetPod(ctx, user, compute.PodID(id))
	if err == nil {
		return s.Pods.OpenLog(ctx, pod.ID, q)
	}
	if compute.CodeOf(err) != compute.NotFound {
		return nil, err
	}

	endpoint, err := s.Endpoints.OfWorker(ctx, user, compute.WorkerID(id))
	switch {
	case compute.CodeOf(err) == compute.NotFound:
		return nil, compute.Errorf(compute.NotFound, "there is no pod %q, and no worker of that id whose log is kept", id)
	case err != nil:
		return nil, err
	}
	return s.Workers.OpenLog(ctx, endpoint, compute.WorkerID(id), q)
}

// atOnce reads a log to its end, and keeps the last lines as far as there is room (rule logs.bytes).
func atOnce(ctx context.Context, read compute.ReadLog) (logs controls.Logs, err error) {
	var kept []compute.LogLine
	bytes := 0
	err = read(ctx, func(l compute.LogLine) error {
		l.Text = l.At().Format(lineTime) + " " + l.Text
		kept = append(kept, l)
		for bytes += len(l.Text); bytes > mostAtOnce && len(kept) > 1; kept = kept[1:] {
			bytes -= len(kept[0].Text)
			kept[0].Text = "" // or the array would hold it
		}
		return nil
	})

	logs = controls.Logs{Container: []string{}, System: []string{}}
	for _, l := range kept {
		if l.Source == compute.LogSystem {
			logs.System = append(logs.System, l.Text)
		} else {
			logs.Container = append(logs.Container, l.Text)
		}
	}
	return logs, err
}

// GetWorkerLogs is GET /v2/serverless/{id}/workers/{workerId}/logs.
func (h restHandlers) GetWorkerLogs(c echo.Context, id, workerID string, params rest.GetWorkerLogsParams) error {
	endpoint, err := h.Endpoints.Worker(contextOf(c), callerOf(c).UserID, compute.EndpointID(id), compute.WorkerID(workerID))
	if err != nil {
		return err
	}
	read, err := h.Workers.OpenLog(contextOf(c), endpoint, compute.WorkerID(workerID), logQuery(rest.GetPodLogsParams(params)))
	if err != nil {
		return err
	}
	return h.streamLogs(c, read)
}
