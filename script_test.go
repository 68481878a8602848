package berth_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

const endpointBody = `{"name":"drawn","type":"QUEUE","image":"i","cpu":[{"id":"cpu3g","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`

func TestScript_AnswersJobsWithoutAHandler(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	s.Clock().Freeze()
	id := func(method, url, body string) (made struct{ ID, Status, Output, Error string }) {
		status, text := send(t, method, url, s.Key(), body)
		require.Less(t, status, 300, text)
		require.NoError(t, json.Unmarshal([]byte(text), &made))
		return made
	}
	endpoint := id("POST", s.URL()+"/v2/serverless", endpointBody).ID
	queue := s.QueueURL() + "/v2/" + endpoint

	script := s.Script(endpoint)
	_, err := script.Get(t.Context())
	require.ErrorContains(t, err, "has no script")
	require.NoError(t, script.Set(t.Context(), berth.Script{
		ColdStart: &berth.ColdStart{Pull: new(int64(3000))},
		Answers: []berth.ScriptAnswer{
			{Match: []berth.BodyExpectation{{Pointer: "/bad", Equals: json.RawMessage("true")}}, Error: new("as asked")},
			{Delay: &berth.ScriptDelay{Fixed: new(int64(500))}, Output: json.RawMessage(`"drawn: {{/prompt}}"`)},
		},
	}))

	drawn, bad := id("POST", queue+"/run", `{"input":{"prompt":"a cat"}}`).ID, id("POST", queue+"/run", `{"input":{"bad":true}}`).ID
	require.NoError(t, s.Clock().Advance(t.Context(), 3499*time.Millisecond))
	require.Equal(t, "IN_PROGRESS", id("GET", queue+"/status/"+drawn, "").Status)
	require.NoError(t, s.Clock().Advance(t.Context(), time.Millisecond))
	require.Equal(t, "drawn: a cat", id("GET", queue+"/status/"+drawn, "").Output)
	require.Equal(t, "as asked", id("GET", queue+"/status/"+bad, "").Error)

	played, err := script.Get(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1}, played.Used)
	require.ErrorContains(t, script.Set(t.Context(), berth.Script{Answers: []berth.ScriptAnswer{{}}}), "/answers/0")
	require.NoError(t, script.Delete(t.Context()))
	require.Error(t, s.Script("nosuch").Delete(t.Context()))
}
