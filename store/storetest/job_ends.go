package storetest

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// jobEnds ends jobs that have a webhook: what is sent to it is stored with the end, or there is no end.
func jobEnds(t *testing.T, open Open) {
	s, clock := begin(t, open)
	output := long('o', 2*compute.PieceSize+1)
	j := job("j")
	j.Webhook = "https://x/"
	insertJobs(t, s, j)
	clock.Running().Adjust(time.Hour)
	move(t, s, "j", take("w", start))
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.SetJobOutput("j", "w", output) }))

	held := getJob(t, s, "j")
	require.Equal(t, len(output), held.OutputSize)
	require.Nil(t, held.Output)
	var sent []compute.Job
	end := store.JobEnd{Job: held, Was: store.GuardOf(held), Document: func(ended compute.Job) (json.RawMessage, error) {
		sent = append(sent, ended)
		return nil, errNo
	}}
	end.Job.Status = compute.JobCompleted
	require.ErrorIs(t, s.EndJob(t.Context(), end), errNo)
	require.Equal(t, held, getJob(t, s, "j"), "a document that cannot be made leaves everything as it was")

	end.Document = func(ended compute.Job) (json.RawMessage, error) {
		sent = append(sent, ended)
		return json.RawMessage(`{"id":"j"}`), nil
	}
	clock.Advance(time.Second)
	require.NoError(t, s.EndJob(t.Context(), end))
	for _, one := range sent {
		require.Equal(t, output, one.Output, "also a long one that was sent before the end")
	}
	require.Equal(t, clock.Now(), sent[len(sent)-1].EndedAt)
	ended := getJob(t, s, "j")
	require.Equal(t, clock.Now(), ended.EndedAt)
	require.Equal(t, clock.Now().Add(held.Retention), ended.ExpiresAt)
	require.Equal(t, output, pieces(t, s, ended, compute.JobOutput, len(output)))

	posts := func() (all []compute.Webhook) {
		read(t, s, func(tx store.Tx) (struct{}, error) {
			return struct{}{}, tx.PendingWebhooks(0, func(w compute.Webhook) { all = append(all, w) })
		})
		return all
	}
	pending := posts()
	require.Len(t, pending, 1)
	post := read(t, s, func(tx store.Tx) (compute.Webhook, error) { return tx.Webhook(pending[0].Seq) })
	want := compute.Webhook{Seq: post.Seq, JobID: "j", URL: "https://x/", Body: json.RawMessage(`{"id":"j"}`), Size: 10, NextAt: clock.Now(), CreatedAt: clock.Wall().Truncate(time.Millisecond)}
	require.Equal(t, want, post, "it is sent at once")

	// Without a webhook there is no document, and without a document nothing is sent.
	insertJobs(t, s, job("bare"), job("quiet"))
	for _, id := range []compute.JobID{"bare", "quiet"} {
		waits := getJob(t, s, id)
		end := store.JobEnd{Job: waits, Was: store.GuardOf(waits), Document: func(compute.Job) (json.RawMessage, error) {
			return json.RawMessage(`{}`), nil
		}}
		end.Job.Status = compute.JobCancelled
		if id == "quiet" {
			end.Job.Webhook, end.Document = "https://x/", nil
		}
		require.NoError(t, s.EndJob(t.Context(), end))
		require.Equal(t, compute.JobCancelled, getJob(t, s, id).Status)
	}
	require.Len(t, posts(), 1)
}

// countsShared checks that who counts jobs sees what those before did in the same commit, and that a reset forgets it.
func countsShared(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s := beginCounted(t, open)
		before := job("lost")
		before.Status, before.WorkerID = compute.JobInProgress, "w"
		insertJobs(t, s, before)
		moves := func(id compute.JobID, to compute.JobStatus, retries int) func(store.Tx) error {
			return func(tx store.Tx) error {
				j, err := tx.Job(id)
				if err != nil {
					return err
				}
				was := store.GuardOf(j)
				j.Status, j.Retries = to, j.Retries+retries
				_, err = tx.MoveJob(j, was)
				return err
			}
		}
		inserts := func(id compute.JobID, status compute.JobStatus) func(store.Tx) error {
			return func(tx store.Tx) error {
				j := job(id)
				j.Status = status
				return tx.InsertJob(j, json.RawMessage(`1`))
			}
		}

		var seen, others compute.JobCounts
		got := group(t, s, inserts("a", compute.JobInQueue), inserts("b", compute.JobInProgress), inserts("c", compute.JobCompleted),
			inserts("d", compute.JobFailed), moves("lost", compute.JobInQueue, 1), func(tx store.Tx) (err error) {
				elsewhere := job("elsewhere")
				elsewhere.EndpointID = "f"
				if err = tx.InsertJob(elsewhere, nil); err != nil {
					return err
				}
				if err = inserts("own", compute.JobInQueue)(tx); err != nil {
					return err
				}
				if seen, err = tx.CountJobs("e"); err != nil {
					return err
				}
				others, err = tx.CountJobs("none")
				return err
			})
		require.Equal(t, make([]outcome, 6), got)
		want := compute.JobCounts{InQueue: 3, InProgress: 1, Completed: 1, Failed: 1, Retried: 1}
		require.Equal(t, want, seen)
		require.Zero(t, others)
		require.Equal(t, want, counts(t, s))

		// Only a take that is lost to a silent worker is counted as such.
		got = group(t, s, moves("d", compute.JobInQueue, 1), moves("b", compute.JobFailed, 1))
		require.Equal(t, make([]outcome, 2), got)
		require.Equal(t, compute.JobCounts{InQueue: 4, Completed: 1, Failed: 1, Retried: 1}, counts(t, s))

		write(t, s, func(tx store.Tx) error {
			return tx.InsertEndpoint(compute.Endpoint{ID: "declared", UserID: "u", Name: "n", Declared: true})
		})
		got = group(t, s, func(tx store.Tx) error {
			j := job("forgotten")
			j.EndpointID = "declared"
			return tx.InsertJob(j, nil)
		}, store.Tx.Clear)
		require.Equal(t, make([]outcome, 2), got)
		require.Zero(t, read(t, s, func(tx store.Tx) (compute.JobCounts, error) { return tx.CountJobs("declared") }))
	})
}

// undoneGiven checks that a function that fails is undone also where its statements give what they change.
func undoneGiven(t *testing.T, open Open) {
	s := beginCounted(t, open)
	require.NoError(t, claim(t, s, compute.Claim{HolderID: "h", HostID: "h", Devices: []string{"0"}, DiskGB: 1}))
	template := fullTemplate()
	write(t, s, func(tx store.Tx) error { return tx.InsertTemplate(template) })
	insertJobs(t, s, job("waits"))
	insertJobs(t, s, job("ended"))
	move(t, s, "ended", take("w", start))
	ended := move(t, s, "ended", to(compute.JobFailed))

	for what, change := range map[string]func(store.Tx) error{
		"a job that is taken": func(tx store.Tx) error {
			_, _, _, taken, err := tx.TakeJob("waits", "w")
			require.True(t, taken)
			return err
		},
		"a read that is counted": func(tx store.Tx) error {
			n, err := tx.CountFinalRead("ended")
			require.Equal(t, 1, n)
			return err
		},
		"a credential that is forgotten": func(tx store.Tx) error {
			all, err := tx.ForgetRegistry(template.RegistryID)
			require.Len(t, all, 1)
			return err
		},
		"claims that are released": func(tx store.Tx) error {
			all, err := tx.ReleaseClaims("h", true)
			require.Len(t, all, 1)
			return err
		},
		"a claim that grows": func(tx store.Tx) error {
			ok, err := tx.ResizeClaim("h", false, 1, 100)
			require.True(t, ok)
			return err
		},
	} {
		for range 2 { // nothing of the first is left
			require.ErrorIs(t, s.Write(t.Context(), func(tx store.Tx) error {
				require.NoError(t, change(tx), what)
				return errNo
			}), errNo, what)
		}
	}
	require.Equal(t, job("waits"), getJob(t, s, "waits"))
	require.Equal(t, ended, getJob(t, s, "ended"))
	require.Equal(t, template, read(t, s, func(tx store.Tx) (compute.Template, error) { return tx.Template(template.ID) }))
	require.Equal(t, map[string]compute.Claimed{"h": {GPUs: 1, DiskGB: 1}}, read(t, s, claimSums))
}

// manyChunks drains more chunks than are looked at at a time.
func manyChunks(t *testing.T, open Open) {
	s, _ := begin(t, open)
	insertJobs(t, s, job("j"))
	move(t, s, "j", take("w", start))
	const many, most = 1003, 1000
	write(t, s, func(tx store.Tx) error {
		for range many {
			if ok, err := tx.AppendChunk("j", "w", compute.Chunk{Output: json.RawMessage(`1`)}); err != nil || !ok {
				return errNo
			}
		}
		return nil
	})

	require.Equal(t, most, read(t, s, func(tx store.Tx) (int, error) { return tx.ChunkBytes("j") }), "of the first ones")
	first := drain(t, s, 1<<20)
	require.Len(t, first.chunks, most)
	require.True(t, first.more)
	last := drain(t, s, 1<<20)
	require.Len(t, last.chunks, many-most)
	require.False(t, last.more)
	require.Equal(t, drained{}, drain(t, s, 1<<20))
}
