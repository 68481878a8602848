package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal/bodies"
)

func TestFaults_MembersThatMakeNoSenseTogetherAreNamed(t *testing.T) {
	t.Parallel()
	s := &Services{secret: bodies.Known()}
	half, after, seed, chance := int64(50), int64(1), int64(7), 0.5
	for name, c := range map[string]struct {
		fault  fault.Fault
		member string // empty: it makes sense
	}{
		"drop":                   {fault.Fault{Drop: true}, ""},
		"status":                 {fault.Fault{Status: 500}, ""},
		"drop and status":        {fault.Fault{Drop: true, Status: 500}, "drop"},
		"drop and half":          {fault.Fault{Drop: true, Half: &half, When: fault.After}, "drop"},
		"drop and garbage":       {fault.Fault{Drop: true, Garbage: true, When: fault.After}, "drop"},
		"drop and slow":          {fault.Fault{Drop: true, BytesPerSecond: 1, When: fault.After}, "drop"},
		"status and half":        {fault.Fault{Status: 500, Half: &half, When: fault.After}, "status"},
		"half":                   {fault.Fault{Half: &half, When: fault.After}, ""},
		"half before":            {fault.Fault{Half: &half, When: fault.Before}, "half"},
		"garbage before":         {fault.Fault{Garbage: true, When: fault.Before}, "garbage"},
		"slow before":            {fault.Fault{BytesPerSecond: 1, When: fault.Before}, "bytesPerSecond"},
		"slow":                   {fault.Fault{BytesPerSecond: 1, When: fault.After}, ""},
		"events after":           {fault.Fault{Operation: "getPodLogs", Status: 500, When: fault.After}, "when"},
		"events before":          {fault.Fault{Operation: "getPodLogs", Status: 500, When: fault.Before}, ""},
		"other after":            {fault.Fault{Operation: "getPod", Status: 500, When: fault.After}, ""},
		"resource of GraphQL":    {fault.Fault{Operation: "graphql.podStop", Resource: "a", Drop: true}, "resource"},
		"resource":               {fault.Fault{Operation: "getPod", Resource: "a", Drop: true}, ""},
		"GraphQL":                {fault.Fault{Operation: "graphql.podStop", Drop: true}, ""},
		"nth":                    {fault.Fault{Drop: true, Nth: 2}, ""},
		"nth and after":          {fault.Fault{Drop: true, Nth: 2, LetThrough: 1}, "nth"},
		"nth and every":          {fault.Fault{Drop: true, Nth: 2, Every: 1}, "nth"},
		"nth and times":          {fault.Fault{Drop: true, Nth: 2, Times: 1}, "nth"},
		"nth and probability":    {fault.Fault{Drop: true, Nth: 1, Probability: &chance}, "nth"},
		"after, every and times": {fault.Fault{Drop: true, LetThrough: 1, Every: 1, Times: 1, Probability: &chance}, ""},
		"most latency alone":     {fault.Fault{LatencyMax: 1}, "latencyMax"},
		"most latency less":      {fault.Fault{LatencyMax: 1, Latency: 2}, "latencyMax"},
		"most latency alike":     {fault.Fault{LatencyMax: 2, Latency: 2}, ""},
		"retryAfter alone":       {fault.Fault{Drop: true, RetryAfter: &after}, "retryAfter"},
		"retryAfter":             {fault.Fault{Status: 503, RetryAfter: &after}, ""},
		"seed alone":             {fault.Fault{Drop: true, Seed: &seed}, "seed"},
		"seed and probability":   {fault.Fault{Drop: true, Seed: &seed, Probability: &chance}, ""},
		"seed and latency":       {fault.Fault{Latency: 1, LatencyMax: 2, Seed: &seed}, ""},
		"seed and garbage":       {fault.Fault{Garbage: true, Seed: &seed, When: fault.After}, ""},
	} {
		member, why := s.senseless(&c.fault)
		require.Equal(t, c.member, member, "%s: %s", name, why)
		require.Equal(t, c.member != "", why != "", name)
	}
}

func TestFaults_AreRefusedWhereTheyDoNothing(t *testing.T) {
	t.Parallel()
	s := &Services{secret: bodies.Known()}
	yes, one, ms, status := true, int64(1), int64(250), int64(503)
	after := controls.FaultWhen("after")
	for _, does := range []controls.Fault{
		{Operation: "run", Latency: &ms}, {Operation: "run", Status: &status}, {Operation: "run", Drop: &yes},
		{Operation: "run", Half: &one, When: &after}, {Operation: "run", Garbage: &yes, When: &after}, {Operation: "run", BytesPerSecond: &one, When: &after},
		{Operation: "*", Drop: &yes}, {Operation: "takeJob", Drop: &yes}, {Operation: "receiveWebhook", Drop: &yes},
	} {
		_, err := s.newFault("/faults/0", does)
		require.NoError(t, err)
	}
	for says, wrong := range map[string]controls.Fault{
		"/faults/0: it needs latency, status":                      {Operation: "run", Times: &one},
		`/faults/0/operation: there is no operation "runn"`:        {Operation: "runn", Drop: &yes},
		`/faults/0/operation: there is no operation "freezeClock"`: {Operation: "freezeClock", Drop: &yes},
		"/faults/0/drop: a connection that is cut has no status":   {Operation: "run", Drop: &yes, Status: &status},
	} {
		_, err := s.newFault("/faults/0", wrong)
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, says)
	}

	_, err := s.newFault("", controls.Fault{Operation: "run"})
	require.ErrorContains(t, err, string(compute.Rejected)+": it needs latency, status", "it is all of the body, which has no place")

	f, err := s.newFault("", controls.Fault{Operation: "run", Latency: &ms})
	require.NoError(t, err)
	require.Equal(t, fault.Before, f.When, "unless it says otherwise")
	require.Equal(t, 250*time.Millisecond, f.Latency)
}
