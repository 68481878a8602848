package berth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestWebhooks_ComeToTheInboxAndAgain(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}})
	hooks := s.Webhooks()
	status, job := call(t, "POST", s.QueueURL()+"/v2/"+s.Endpoint("echo")+"/run", s.Key(), `{"input":{},"webhook":"`+hooks.InboxURL("tests/a b::c%2F")+`"}`)
	require.Equal(t, 200, status)

	received := func() []berth.JournalEntry {
		all, err := hooks.Received(t.Context(), "tests/a b::c%2F")
		require.NoError(t, err)
		return all
	}
	require.Eventually(t, func() bool { return len(received()) == 1 }, time.Minute, time.Millisecond)
	require.Contains(t, received()[0].Request.Body.Text, job["id"])

	list, err := hooks.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, job["id"], list[0].Job)
	again := func() bool { return hooks.Deliver(t.Context(), list[0].Number) == nil } // once it is noted that it has come
	require.Eventually(t, again, time.Minute, time.Millisecond)
	require.Eventually(t, func() bool { return len(received()) == 2 }, time.Minute, time.Millisecond)

	const percent = "100%41" // it needs no second look
	status, _ = call(t, "POST", hooks.InboxURL(percent), "", `{}`)
	require.Equal(t, 204, status)
	all, err := hooks.Received(t.Context(), percent)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Error(t, hooks.Deliver(t.Context(), list[0].Number+1000))
}
