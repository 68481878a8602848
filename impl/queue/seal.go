package queue

import (
	"context"
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
)

// Sealer seals what must not be stored in clear. It opens only what it sealed for the same owner.
type Sealer interface {
	Seal(text []byte, owner string) []byte
	Open(sealed []byte, owner string) ([]byte, error)
}

// sealMark begins what is sealed. JSON, which earlier versions stored, does not begin with it.
const sealMark = 0

// sealOwner is for whom the s3Config of an endpoint's jobs is sealed.
func sealOwner(e compute.EndpointID) string { return "s3Config of " + string(e) }

// sealed gives the s3Config of a job as it is stored: it has the keys of the client's storage.
func (q *Queue) sealed(e compute.EndpointID, s3Config json.RawMessage) json.RawMessage {
	if s3Config == nil || q.hooks.Sealer == nil {
		return s3Config
	}
	return append([]byte{sealMark}, q.hooks.Sealer.Seal(s3Config, sealOwner(e))...)
}

// opened gives the jobs with their s3Config as their clients sent it. A job whose s3Config does not open, since another key sealed it, ends
// FAILED: without it a worker would leave its files elsewhere than the client looks for them.
func (q *Queue) opened(ctx context.Context, user compute.UserID, taken []Taken) []Taken {
	kept := 0
	for i := range taken {
		t := &taken[i]
		if err := q.open(t); err != nil {
			report := Report{Error: "its s3Config cannot be decrypted: the secret key of the server is another one than when the job was submitted"}
			_ = q.Finish(context.WithoutCancel(ctx), user, t.EndpointID, t.WorkerID, t.ID, report) // or its lease ends, and it is tried again
			continue
		}
		if kept != i {
			taken[kept] = *t
		}
		kept++
	}
	return taken[:kept]
}

func (q *Queue) open(t *Taken) error {
	if len(t.S3Config) == 0 || t.S3Config[0] != sealMark || q.hooks.Sealer == nil {
		return nil
	}
	text, err := q.hooks.Sealer.Open(t.S3Config[1:], sealOwner(t.EndpointID))
	if err == nil {
		t.S3Config = text
	}
	return err
}
