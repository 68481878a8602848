package berth_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestJobs_AreListedReadAndSayWhyTheyWait(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Seed: "conformance/thousand/seed.yaml"})
	const endpoint, pod = "endpofeachtest", "podofeachtest1"
	var ids []string
	for range 2 {
		status, answer := send(t, "POST", s.QueueURL()+"/v2/"+endpoint+"/run", s.Key(), `{"input":{"n":7}}`)
		require.Equal(t, 200, status, answer)
		var job struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(answer), &job))
		ids = append(ids, job.ID)
	}

	page, err := s.Jobs(t.Context(), berth.JobFilter{Limit: new(int64(1))})
	require.NoError(t, err)
	require.Len(t, page.Jobs, 1)
	require.Equal(t, ids[1], page.Jobs[0].ID)
	next, err := page.Pagination.NextCursor.Get()
	require.NoError(t, err)
	page, err = s.Jobs(t.Context(), berth.JobFilter{Cursor: &next, Limit: new(int64(1))})
	require.NoError(t, err)
	require.Len(t, page.Jobs, 1)
	require.Equal(t, ids[0], page.Jobs[0].ID)

	job, err := s.Job(t.Context(), ids[0])
	require.NoError(t, err)
	require.Equal(t, `{"n":7}`, job.Input.Text)
	why, err := s.WhyJob(t.Context(), ids[0])
	require.NoError(t, err)
	require.Equal(t, berth.Why{Reason: "no_workers", Waits: true}, berth.Why{Reason: why.Reason, Waits: why.Waits})
	why, err = s.WhyEndpoint(t.Context(), endpoint)
	require.NoError(t, err)
	require.EqualValues(t, "no_workers", why.Reason)
	why, err = s.WhyPod(t.Context(), pod)
	require.NoError(t, err)
	require.Contains(t, []string{"starting", "running"}, string(why.Reason))

	_, err = s.WhyJob(t.Context(), "none")
	require.Error(t, err)
	_, err = s.Jobs(t.Context(), berth.JobFilter{EndpointID: new("none")})
	require.Error(t, err)
	require.Len(t, entries(t, s, berth.JournalFilter{}), 2, "the journal has what the test sent")
}
