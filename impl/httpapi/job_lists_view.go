package httpapi

import (
	"time"
	"unicode/utf8"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

func listedJobView(j compute.Job) controls.ListedJob {
	v := controls.ListedJob{
		ID: string(j.ID), EndpointID: string(j.EndpointID), Status: controls.ListedJobStatus(j.Status), SubmittedAt: j.CreatedAt,
		Attempts: int64(j.Attempt), StartedAt: timeOf(j.TakenAt), FinishedAt: timeOf(j.EndedAt), WorkerID: orNil(j.WorkerID), Error: orNil(j.Error),
	}
	v.DelayTime, v.ExecutionTime = timesOf(&j)
	return v
}

func jobDetailView(j jobs.ShownJob) controls.JobDetail {
	v := controls.JobDetail{
		ID: string(j.ID), EndpointID: string(j.EndpointID), Status: controls.JobDetailStatus(j.Status), SubmittedAt: j.CreatedAt, QueuedAt: j.QueuedAt,
		Attempts: int64(j.Attempt), Retries: int64(j.Retries), StartedAt: timeOf(j.TakenAt), FinishedAt: timeOf(j.EndedAt), ExpiresAt: j.ExpiresAt,
		WorkerID: orNil(j.WorkerID), Error: orNil(string(uncut([]byte(j.Error)[:min(len(j.Error), jobs.ExcerptSize)]))), Sync: j.Sync, LowPriority: j.LowPriority,
		ExecutionTimeout: j.ExecutionTimeout.Milliseconds(), TTL: j.TTL.Milliseconds(), Webhook: orNil(j.Webhook),
		Input: jobTextView(j.Input), Output: jobTextView(j.Output),
	}
	v.DelayTime, v.ExecutionTime = timesOf(&j.Job)
	return v
}

func jobTextView(e jobs.Excerpt) controls.JobText {
	return controls.JobText{Text: string(uncut(e.Text)), Length: int64(e.Size), Truncated: len(e.Text) < e.Size}
}

// timesOf gives how long the job waited and ran, nil for what has not come to its end.
func timesOf(j *compute.Job) (delay, execution *int64) {
	if !j.TakenAt.IsZero() {
		delay = new(j.DelayTime().Milliseconds())
		if !j.EndedAt.IsZero() {
			execution = new(j.ExecutionTime().Milliseconds())
		}
	}
	return delay, execution
}

// timeOf gives nil for no time.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// orNil gives nil for an empty text.
func orNil[T ~string](t T) *string {
	if t == "" {
		return nil
	}
	return new(string(t))
}

// uncut gives a text without the character that it was cut in.
func uncut(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if start := text[len(text)-i]; utf8.RuneStart(start) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
