package berth_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

const podBody = `{"name":"first","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`

func TestFaults_LeaveTheEffectOfWhatTheyFollow(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	lost, err := s.Faults().Add(t.Context(), berth.Fault{
		Operation: "createPod", When: new(berth.FaultAfter), Status: new(int64(503)), Times: new(int64(1)),
		Body: []berth.BodyExpectation{{Pointer: "/name", Equals: json.RawMessage(`"first"`)}},
	})
	require.NoError(t, err)
	require.NotEmpty(t, lost.ID)
	for _, want := range []int{503, 201} { // a client that sends again what failed
		status, answer := send(t, "POST", s.URL()+"/v2/pods", s.Key(), podBody)
		require.Equal(t, want, status, answer)
	}

	_, text := send(t, "GET", s.URL()+"/v2/pods", s.Key(), "")
	var list struct{ Pods []any }
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list.Pods, 2)
	result, err := s.Journal().Verify(t.Context(), berth.Verification{Expectations: []berth.Expectation{
		{Operation: new("createPod"), Times: &berth.ExpectedTimes{Exactly: new(int64(1))}},
	}})
	require.NoError(t, err)
	require.False(t, result.Ok)

	faults, err := s.Faults().List(t.Context())
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.EqualValues(t, 2, faults[0].Calls)
	require.EqualValues(t, 1, faults[0].Shown)
	e := entries(t, s, berth.JournalFilter{Status: new("503")})[0]
	require.Equal(t, lost.ID, e.Fault.ID)
	require.EqualValues(t, berth.FaultAfter, e.Fault.When)
}

func TestFaults_AreSetAndTakenBack(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	faults := s.Faults()
	require.NoError(t, faults.Set(t.Context(), berth.Fault{ID: new("a"), Operation: "listPods", Status: new(int64(500))}, berth.Fault{ID: new("b"), Operation: "listPods", Drop: new(true)}))
	require.NoError(t, faults.Delete(t.Context(), "b"))
	require.ErrorContains(t, faults.Delete(t.Context(), "b"), `no fault "b"`)
	list, err := faults.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, faults.Clear(t.Context()))
	list, err = faults.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)

	_, err = faults.Add(t.Context(), berth.Fault{Operation: "createPods", Drop: new(true)})
	require.ErrorContains(t, err, `there is no operation "createPods"; there are createPod, `)
	require.ErrorContains(t, faults.Set(t.Context(), berth.Fault{Operation: "run"}), "/faults/0")
}
