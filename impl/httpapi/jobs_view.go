package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

func submission(c echo.Context) jobs.Submission {
	r := bodyOf[queue.Submission](c)
	s := jobs.Submission{Input: r.Input, Webhook: value(r.Webhook), S3Config: r.S3Config, Stored: stored(c)}
	if p := r.Policy; p != nil {
		s.ExecutionTimeout, s.TTL = milliseconds(value(p.ExecutionTimeout)), milliseconds(value(p.TTL))
		s.LowPriority = value(p.LowPriority)
	}
	return s
}

// jobView gives the status document. Every ended job has delayTime, executionTime and workerId, even if no worker ever
// had it: one client is strict about them (rule queue.status.document).
func jobView(j compute.Job) queue.Job {
	v := queue.Job{ID: string(j.ID), Status: queue.JobStatus(j.Status), Output: j.Output}
	if j.Retries > 0 {
		retries := int64(j.Retries)
		v.Retries = &retries
	}
	if j.Status == compute.JobInQueue {
		return v
	}
	delay, worker := j.DelayTime().Milliseconds(), string(j.WorkerID)
	v.DelayTime, v.WorkerID = &delay, &worker
	if j.Status.Ended() {
		execution := j.ExecutionTime().Milliseconds()
		v.ExecutionTime = &execution
	}
	if j.Error != "" {
		v.Error = &j.Error
	}
	return v
}

// JobDocument gives the status document as JSON: what a webhook gets.
func JobDocument(j compute.Job) (json.RawMessage, error) {
	d := documentOf(j)
	return bytes.Join([][]byte{d.head, d.raw, d.tail}, nil), nil
}

// document is JSON with one value in it that is carried as it came. It is put together by hand: encoding/json takes the value
// apart to compact it, and copies it twice, which 20 MB notice.
type document struct{ head, raw, tail []byte }

// documentOf gives jobView as JSON.
func documentOf(j compute.Job) document {
	v := jobView(j)
	b := make([]byte, 0, 256)
	b = append(append(b, `{"id":`...), quoted(v.ID)...)
	b = append(append(b, `,"status":`...), quoted(string(v.Status))...)
	b = appendNumber(b, "delayTime", v.DelayTime)
	b = appendNumber(b, "executionTime", v.ExecutionTime)
	b = appendNumber(b, "retries", v.Retries)
	b = appendText(b, "workerId", v.WorkerID)
	b = appendText(b, "error", v.Error)
	if v.Output == nil {
		return document{head: append(b, '}')}
	}
	return document{append(b, `,"output":`...), v.Output, []byte{'}'}}
}

// write answers 200 with the document.
func (d document) write(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	header.Set(echo.HeaderContentLength, strconv.Itoa(len(d.head)+len(d.raw)+len(d.tail)))
	c.Response().WriteHeader(http.StatusOK)
	for _, part := range [][]byte{d.head, d.raw, d.tail} {
		if _, err := c.Response().Write(part); err != nil {
			return err
		}
	}
	return nil
}

func appendNumber(b []byte, name string, n *int64) []byte {
	if n == nil {
		return b
	}
	return strconv.AppendInt(append(append(append(b, ',', '"'), name...), '"', ':'), *n, 10)
}

func appendText(b []byte, name string, text *string) []byte {
	if text == nil {
		return b
	}
	return append(append(append(append(b, ',', '"'), name...), '"', ':'), quoted(*text)...)
}

// quoted gives a JSON string.
func quoted(text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			var b bytes.Buffer
			_ = writeJSON(&b, text) // a string, into memory
			return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		}
	}
	return append(append(append(make([]byte, 0, len(text)+2), '"'), text...), '"')
}

func chunksView(chunks []compute.Chunk) queue.Chunks {
	view := make(queue.Chunks, len(chunks))
	for i, c := range chunks {
		view[i] = queue.Chunk{Output: c.Output, Metrics: c.Metrics}
	}
	return view
}

func healthView(h jobs.Health) queue.Health {
	return queue.Health{
		Jobs: queue.JobCounts{
			Completed: h.Jobs.Completed, Failed: h.Jobs.Failed, InProgress: h.Jobs.InProgress,
			InQueue: h.Jobs.InQueue, Retried: h.Jobs.Retried,
		},
		Workers: queue.WorkerCounts{
			Idle: h.Workers[compute.WorkerIdle], Initializing: h.Workers[compute.WorkerInitializing], Ready: h.Ready,
			Running: h.Workers[compute.WorkerRunning], Throttled: h.Workers[compute.WorkerThrottled],
			Unhealthy: h.Workers[compute.WorkerUnhealthy],
		},
	}
}
