package httpapi

import (
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/encode"
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

// takenDocument gives takenView as JSON, the input as it was sent. It appends what is around the input to b.
func takenDocument(b []byte, t *jobs.Taken) document {
	b = append(encode.String(append(b, `{"id":`...), string(t.ID)), `,"input":`...)
	head := len(b)
	timeout, ttl := t.ExecutionTimeout.Milliseconds(), t.TTL.Milliseconds()
	policy := worker.TakenPolicy{ExecutionTimeout: &timeout, TTL: &ttl, LowPriority: &t.LowPriority}
	b = policy.AppendJSON(append(b, `,"policy":`...))
	if t.S3Config != nil {
		b = append(append(b, `,"s3Config":`...), t.S3Config...)
	}
	if t.Webhook != "" {
		b = encode.String(append(b, `,"webhook":`...), t.Webhook)
	}
	b = append(b, '}')
	return document{b[:head], t.Input, b[head:]}
}
