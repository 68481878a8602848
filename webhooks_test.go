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

func TestWebhooks_ComeInTimeToAnInboxThatAFaultDelays(t *testing.T) {
	t.Parallel()
	for name, pass := range map[string]func(t *testing.T, clock berth.Clock) error{
		"the clock is advanced": func(t *testing.T, clock berth.Clock) error { return clock.Advance(t.Context(), 6*time.Second) },
		"the clock goes by itself": func(t *testing.T, clock berth.Clock) error {
			clock.Auto(time.Minute, 0)
			return clock.Sleep(t.Context(), 6*time.Second)
		},
	} {
		for _, when := range []berth.FaultWhen{berth.FaultBefore, berth.FaultAfter} {
			t.Run(name+", "+string(when), func(t *testing.T) {
				t.Parallel()
				s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "idle"}}})
				s.Clock().Freeze()
				_, err := s.Faults().Add(t.Context(), berth.Fault{Operation: "receiveWebhook", When: new(when), Latency: new(int64(5000))})
				require.NoError(t, err)
				queue := s.QueueURL() + "/v2/" + s.Endpoint("idle")
				status, job := call(t, "POST", queue+"/run", s.Key(), `{"input":{},"webhook":"`+s.Webhooks().InboxURL("late")+`"}`)
				require.Equal(t, 200, status)
				status, _ = call(t, "POST", queue+"/cancel/"+job["id"].(string), s.Key(), "")
				require.Equal(t, 200, status)
				require.Eventually(t, func() bool {
					faults, err := s.Faults().List(t.Context())
					return err == nil && faults[0].Shown == 1
				}, time.Minute, time.Millisecond)

				require.NoError(t, pass(t, s.Clock()))
				log, err := s.Webhooks().List(t.Context())
				require.NoError(t, err)
				require.Len(t, log, 1)
				require.EqualValues(t, 204, log[0].Status, log[0].Error)
				require.EqualValues(t, 1, log[0].Tries)
				received, err := s.Webhooks().Received(t.Context(), "late")
				require.NoError(t, err)
				require.Len(t, received, 1)
				require.EqualValues(t, 5000, received[0].Duration)
			})
		}
	}
}
