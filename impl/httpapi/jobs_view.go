package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

func submission(r queue.Submission) jobs.Submission {
	s := jobs.Submission{Input: r.Input, Webhook: value(r.Webhook), S3Config: r.S3Config}
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
	var b bytes.Buffer
	err := encode(&b, jobView(j))
	return b.Bytes(), err
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
