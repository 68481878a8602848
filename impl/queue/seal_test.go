package queue_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// boxes is a Sealer. It opens nothing once its key is lost.
type boxes struct{ lost bool }

func (s *boxes) Seal(text []byte, owner string) []byte {
	return hex.AppendEncode(nil, []byte(owner+"\n"+string(text)))
}

func (s *boxes) Open(sealed []byte, owner string) ([]byte, error) {
	whole, err := hex.AppendDecode(nil, sealed)
	text, own := bytes.CutPrefix(whole, []byte(owner+"\n"))
	if err != nil || !own || s.lost {
		return nil, errors.New("another key sealed it")
	}
	return text, nil
}

const s3Config = `{"accessId":"secret one","bucketName":"b"}`

// sealing gives a bench whose queue seals.
func sealing(t *testing.T) (*bench, *boxes) {
	b, s := open(t), &boxes{}
	b.hooks.Sealer = s
	b.restart()
	return b, s
}

// storedConfig gives the s3Config of a job as it is on disk.
func (b *bench) storedConfig(id compute.JobID) (text json.RawMessage) {
	require.NoError(b, b.db.Read(b.Context(), func(tx store.Tx) error {
		j, err := tx.Job(id)
		text = j.S3Config
		return err
	}))
	return text
}

func TestSeal_KeysOfTheClientAreNotOnDiskAndReachTheWorker(t *testing.T) {
	t.Parallel()
	b, _ := sealing(t)
	given := make(chan []queue.Taken, 1)
	go func() {
		taken, _ := b.queue.Take(b.Context(), user, b.endpoint, "first", 1)
		given <- taken
	}()
	require.Eventually(t, func() bool { return b.queue.Holding() == 1 }, 10*time.Second, time.Millisecond)
	handed := b.run(queue.Submission{S3Config: json.RawMessage(s3Config)})
	taken := <-given
	require.Len(t, taken, 1)
	require.Equal(t, s3Config, string(taken[0].S3Config))

	id, plain := b.run(queue.Submission{S3Config: json.RawMessage(s3Config)}), b.run(queue.Submission{})
	earlier := b.someJob(1, b.endpoint, compute.JobInQueue, b.clock.Now().Add(time.Second))
	earlier.S3Config = json.RawMessage(s3Config) // an earlier version stored it in clear
	b.keep(earlier)
	b.queue = b.beside(1)
	for _, one := range []compute.JobID{handed, id} {
		require.NotEmpty(t, b.storedConfig(one))
		require.NotContains(t, string(b.storedConfig(one)), "secret one")
	}
	require.Empty(t, b.storedConfig(plain))

	taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 5)
	require.NoError(t, err)
	require.Len(t, taken, 3)
	require.Equal(t, []string{s3Config, "", s3Config}, []string{string(taken[0].S3Config), string(taken[1].S3Config), string(taken[2].S3Config)})
	require.Equal(t, []compute.JobID{id, plain, earlier.ID}, []compute.JobID{taken[0].ID, taken[1].ID, taken[2].ID})
}

func TestSeal_JobThatDoesNotOpenFailsAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	b, s := sealing(t)
	sealed, first, second := b.run(queue.Submission{S3Config: json.RawMessage(s3Config)}), b.run(queue.Submission{}), b.run(queue.Submission{})
	s.lost = true
	require.Equal(t, []compute.JobID{first, second}, b.take("w", 5))
	j := b.status(sealed)
	require.Equal(t, compute.JobFailed, j.Status)
	require.Contains(t, j.Error, "its s3Config cannot be decrypted")
	require.Equal(t, compute.JobInProgress, b.status(first).Status)
}
