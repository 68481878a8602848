package httpapi

import (
	"github.com/berthdev/berth/gen/worker"
	jobs "github.com/berthdev/berth/impl/queue"
)

// takenView gives the job object; input is always there, since a worker drops a job without one silently.
func takenView(t jobs.Taken) worker.TakenJob {
	timeout, ttl, low := t.ExecutionTimeout.Milliseconds(), t.TTL.Milliseconds(), t.LowPriority
	v := worker.TakenJob{
		ID: string(t.ID), Input: t.Input, S3Config: t.S3Config,
		Policy: &worker.TakenPolicy{ExecutionTimeout: &timeout, TTL: &ttl, LowPriority: &low},
	}
	if t.Webhook != "" {
		v.Webhook = &t.Webhook
	}
	return v
}
