package conformance

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// waitingCheck gives a Check of a rule that waits in real time for so long, and what fails it.
func waitingCheck(t *testing.T, most time.Duration) (*Check, *recorder) {
	t.Helper()
	r := &recorder{}
	c := (&Suite{}).NewCheck(t.Context(), r, r.skip)
	c.wait.most, c.wait.earliest = most, time.Now()
	return c, r
}

func TestWaits_LookBeforeAndAfterTheTimeHoweverLongRequestsTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, r := waitingCheck(t, time.Hour)
		begun := time.Now()
		since := func() time.Duration { return time.Since(begun) }
		time.Sleep(700 * time.Millisecond) // the requests that something happened by

		c.almost(30 * time.Second)
		require.Equal(t, 28*time.Second, since(), "of what happened at the beginning")
		c.rest()
		require.Equal(t, 32*time.Second+700*time.Millisecond, since(), "of what happened only now")

		c.advance(29 * time.Second)
		require.Equal(t, 59*time.Second, since(), "not a moment later, or it would be over")
		c.passes(time.Second)
		require.Equal(t, 60*time.Second+250*time.Millisecond, since())
		require.Empty(t, r.failure.String())
	})
}

func TestWaits_ARuleThatWaitsForLongerThanItSaysFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, r := waitingCheck(t, time.Minute)
		ended := make(chan bool)
		go func() {
			defer close(ended)
			c.advance(30 * time.Second)
			c.passes(30 * time.Second)
			c.advance(time.Millisecond)
		}()
		<-ended
		require.Contains(t, r.failure.String(), "how long the rule waits")
	})
}

func TestWaits_EveryRuleThatWaitsHasAnEndpointOfItsOwn(t *testing.T) {
	t.Parallel()
	n := 0
	for _, rule := range Rules() {
		if rule.Waits == 0 {
			continue
		}
		n++
		require.False(t, aloneRules[rule.ID] || workerRules[rule.ID], rule.ID)
		require.Contains(t, []string{"openai", "queue", "serverless"}, areaOf(rule.ID), "is its endpoint the one of the Check?")
	}
	require.Greater(t, n, 25)
}

func TestWaits_ForLargeAnswersOfOtherRules(t *testing.T) {
	t.Parallel()
	c, _ := waitingCheck(t, 0)
	refused := func(status int, detail string) Answer {
		return Answer{Status: status, Header: http.Header{"Retry-After": {"3"}}, Body: []byte(`{"detail":"` + detail + `"}`)}
	}
	require.Equal(t, 3*time.Second, c.refill(refused(503, "too many large answers are under way")))
	require.Equal(t, 3*time.Second, c.refill(refused(429, "")))
	require.Zero(t, c.refill(refused(503, "the disk is full")))

	c.limit = true // the rule is about limits
	require.Zero(t, c.refill(refused(503, "too many large answers are under way")))
}
