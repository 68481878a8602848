package httpapi

import (
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
	jobs "github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// A job is read, and then its long output: between the two a worker may send another one, or the job may end or go back.
func TestLongText_ThatWasReplacedIsReadAnew(t *testing.T) {
	t.Parallel()
	const user, endpoint, by = "u", "endpointone000", "w"
	ctx, clock := t.Context(), compute.SystemClock{}
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.Write(ctx, func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: endpoint, UserID: user, Name: "e", Image: "i", WorkersMax: 1})
	}))
	q, err := jobs.New(ctx, db, clock, compute.NewIDs(rand.Reader, clock), jobs.DefaultSettings(), jobs.Hooks{})
	require.NoError(t, err)
	s := &Services{Queue: q, Answers: limit.NewAnswers(time.Minute)}

	j, err := q.Run(ctx, user, endpoint, jobs.Submission{Input: json.RawMessage(`{}`)})
	require.NoError(t, err)
	_, err = q.Take(ctx, user, endpoint, by, 1)
	require.NoError(t, err)
	progress := func(length int) compute.Job {
		require.NoError(t, q.Progress(ctx, user, endpoint, by, j.ID, json.RawMessage(`"`+strings.Repeat("x", length)+`"`)))
		read, err := q.Status(ctx, user, endpoint, j.ID)
		require.NoError(t, err)
		return read
	}
	open := func(of compute.Job) error {
		l := s.long(&of, compute.JobOutput, of.OutputSize)
		err := l.open(ctx, "key")
		if err == nil {
			l.close()
		}
		return err
	}

	short, long := progress(150_000), progress(300_000)
	require.NoError(t, open(long))
	require.ErrorIs(t, open(short), errReplaced)
	short = progress(150_000)
	require.NoError(t, open(short))
	require.ErrorIs(t, open(long), errReplaced)

	require.NoError(t, q.Finish(ctx, user, endpoint, by, j.ID, jobs.Report{Output: json.RawMessage(`1`)}))
	require.ErrorIs(t, open(short), errReplaced, "it has not gone: its status is another one")
}
