package sqldb

import (
	"math"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// foundColumns are those of a job in a list.
var foundColumns = all(
	embedded(func(f *store.FoundJob) *compute.Job { return &f.Job }, all(
		jobFixed, jobMoves.only("status", "worker_id", "attempt", "retries", "retention", "queued_at", "taken_at", "ended_at", "expires_at"),
		columns[compute.Job]{computed(`substr(error, 1, 300)`, jobMoves.only("error")[0])}, // store.ErrorShown
	)),
	embedded(func(f *store.FoundJob) *compute.Position { return &f.At }, positionColumns),
	columns[store.FoundJob]{computed(
		`CASE WHEN lower(substr(error, 1, 65536)) LIKE ? ESCAPE '!' THEN 1 ELSE 0 END`, // store.ErrorSearched
		flag("matches", func(f *store.FoundJob) *bool { return &f.Matches }),
	)},
)

const (
	listedOrder = ` AND (created_at, seq) < (?, ?) AND created_at >= ? ORDER BY created_at DESC, seq DESC` + limit
	// openOrFailed is the condition of an index, which has it in these words.
	openOrFailed = `(ended_at IS NULL OR error <> '')`
)

var (
	listJobs     = `SELECT ` + foundColumns.list() + ` FROM jobs INDEXED BY jobs_of_endpoint WHERE endpoint_id = ?` + listedOrder
	listOpenJobs = `SELECT ` + foundColumns.list() + ` FROM jobs INDEXED BY jobs_open_or_failed WHERE endpoint_id = ? AND ` + openOrFailed + listedOrder

	sizeOfInput     = columns[int]{computed(`CASE WHEN size > 0 THEN size ELSE coalesce(length(body), 0) END`, whole("size", itself[int]))}
	selectSize      = `SELECT ` + sizeOfInput.list() + ` FROM job_inputs WHERE seq = ?`
	containsPattern = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
)

// ListJobs gives at most s.Limit jobs of the endpoint, the one that was submitted last first. It reads no more than it gives.
func (tx *Tx) ListJobs(s store.JobSearch) ([]store.FoundJob, error) {
	query := listJobs
	if s.Open {
		query = listOpenJobs
	}
	before, from := s.Before, int64(math.MinInt64)
	if before == (compute.Position{}) {
		before = compute.Position{At: math.MaxInt64, Seq: math.MaxInt64}
	}
	if !s.From.IsZero() {
		from = s.From.UnixMilli()
	}
	return list(tx, "list jobs", foundColumns, query, contains(s.Error), string(s.EndpointID), before.At, before.Seq, from, s.Limit)
}

// contains is the pattern of what contains the text, of small letters.
func contains(text string) string {
	small := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
	return "%" + containsPattern.Replace(small) + "%"
}

// InputSize gives how many bytes the input of a job has; 0 for an unknown one.
func (tx *Tx) InputSize(id compute.JobID) (size int, err error) {
	_, err = into(tx, "read size of job input", sizeOfInput, &size, selectSize, seqOf(id))
	return size, err
}
