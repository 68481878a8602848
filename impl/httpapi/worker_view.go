package httpapi

import (
	"encoding/json"

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

// takenDocument gives takenView as JSON, the input as it was sent.
func takenDocument(t jobs.Taken) (document, error) {
	v := takenView(t)
	policy, err := json.Marshal(v.Policy)
	if err != nil {
		return document{}, err
	}
	tail := append([]byte(`,"policy":`), policy...)
	if v.S3Config != nil {
		tail = append(append(tail, `,"s3Config":`...), v.S3Config...)
	}
	tail = append(appendText(tail, "webhook", v.Webhook), '}')
	return document{append(append([]byte(`{"id":`), quoted(v.ID)...), `,"input":`...), v.Input, tail}, nil
}
