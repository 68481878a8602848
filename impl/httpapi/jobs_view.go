package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/encode"
	jobs "github.com/berthdev/berth/impl/queue"
)

func submission(c echo.Context) (jobs.Submission, error) {
	r := bodyOf[queue.Submission](c)
	if value(r.WebhookV2) != "" {
		return jobs.Submission{}, compute.Errorf(compute.Rejected, "webhookV2 is not served: no page says what it means; webhook is called when the job ends")
	}
	if len(r.S3Config) > compute.S3ConfigLimit {
		return jobs.Submission{}, compute.Errorf(compute.Rejected, "s3Config of %d bytes is over the limit of %d bytes", len(r.S3Config), compute.S3ConfigLimit)
	}
	if r.Input == nil { // which only some editions permit
		r.Input = json.RawMessage("{}")
	}
	s := jobs.Submission{Input: r.Input, Webhook: value(r.Webhook), S3Config: r.S3Config, Stored: requestOf(c).letGo}
	if p := r.Policy; p != nil {
		s.ExecutionTimeout, s.TTL = milliseconds(value(p.ExecutionTimeout)), milliseconds(value(p.TTL))
		s.LowPriority = value(p.LowPriority)
	}
	return s, nil
}

// documentOf gives the status document, whose head it appends to b. Every ended job has delayTime, executionTime and workerId,
// even if no worker ever had it: one client is strict about them (rule queue.status.document).
func documentOf(b []byte, j *compute.Job) document {
	b = encode.String(append(b, `{"id":`...), string(j.ID))
	b = encode.String(append(b, `,"status":`...), string(j.Status))
	left := j.Status != compute.JobInQueue // the queue
	if left {
		b = encode.Int(append(b, `,"delayTime":`...), j.DelayTime().Milliseconds())
	}
	if j.Status.Ended() {
		b = encode.Int(append(b, `,"executionTime":`...), j.ExecutionTime().Milliseconds())
	}
	if j.Retries > 0 {
		b = encode.Int(append(b, `,"retries":`...), int64(j.Retries))
	}
	if left {
		b = encode.String(append(b, `,"workerId":`...), string(j.WorkerID))
	}
	if left && j.Error != "" {
		b = encode.String(append(b, `,"error":`...), j.Error)
	}
	if j.Output == nil && j.OutputSize == 0 {
		return document{head: append(b, '}')}
	}

	b = append(b, `,"output":`...)
	head := len(b)
	b = append(b, '}')
	return document{head: b[:head], raw: j.Output, tail: b[head:]}
}

// answerWith answers 200 with the document that make appends to a buffer of answers.
func answerWith(c echo.Context, make func([]byte) document) error {
	text := texts.Get().(*[]byte)
	defer texts.Put(text)
	d := make((*text)[:0])
	*text = d.head
	return writeDocuments(c, d)
}

func chunksView(chunks []compute.Chunk) queue.Chunks {
	view := make(queue.Chunks, len(chunks))
	for i, c := range chunks {
		view[i] = queue.Chunk{Output: bytes.TrimSpace(c.Output), Metrics: c.Metrics} // a piece of a long value begins with some
	}
	return view
}

func healthView(h jobs.Health) queue.Health {
	return queue.Health{
		Jobs: queue.JobCounts{
			Completed: h.Jobs.Completed, Failed: h.Jobs.Failed, InProgress: h.Jobs.InProgress,
			InQueue: h.Jobs.InQueue, Retried: h.Jobs.Retried,
		},
		Workers: workerCounts(h),
	}
}

func workerCounts(h jobs.Health) queue.WorkerCounts {
	return queue.WorkerCounts{
		Idle: h.Workers[compute.WorkerIdle], Initializing: h.Workers[compute.WorkerInitializing], Ready: int64(len(h.Ready)),
		Running: h.Workers[compute.WorkerRunning], Throttled: h.Workers[compute.WorkerThrottled],
		Unhealthy: h.Workers[compute.WorkerUnhealthy],
	}
}

func metricsView(h jobs.Health) queue.Metrics {
	return queue.Metrics{ReadyWorkers: append([]string{}, as[string](h.Ready)...), Workers: workerCounts(h)}
}
