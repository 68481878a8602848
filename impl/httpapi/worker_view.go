package httpapi

import (
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/encode"
	jobs "github.com/berthdev/berth/impl/queue"
)

// takenDocument gives the job object as JSON, the input as it was sent: it is always there, since a worker drops a job without one
// silently. It appends what is around the input to b.
func (s *Services) takenDocument(b []byte, t *jobs.Taken) document {
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

	return document{head: b[:head], raw: t.Input, tail: b[head:], long: s.long(&t.Job, compute.JobInput, t.InputSize)}
}
