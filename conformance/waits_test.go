package conformance

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/spec"
)

// waitingCheck gives a Check of a rule that waits in real time for so long, and what fails it.
func waitingCheck(t *testing.T, most time.Duration) (*Check, *recorder) {
	t.Helper()
	r := &recorder{}
	c := (&Suite{}).NewCheck(t.Context(), r, r.skip)
	c.wait.most = most
	c.begins()
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

// tried checks a rule that waits in real time for 30 s, and gives how it fared and how often it was tried.
func tried(t *testing.T, test func(c *Check, n int)) (o Outcome, n int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o = (&Suite{}).one(t.Context(), Target{}, Rule{ID: "queue.lease", Waits: 30 * time.Second, Test: func(c *Check) {
			c.wait.most = 30 * time.Second
			c.begins()
			n++
			test(c, n)
		}}, spec.Rule{}, true)
	})
	return o, n
}

func TestWaits_ARuleThatLookedTooLateAndFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	looks := map[string]func(c *Check, stall time.Duration){
		"before it is due": func(c *Check, stall time.Duration) {
			c.almost(30 * time.Second)
			c.sleep(stall)
			require.Zero(c, stall)
		},
		"after it was due": func(c *Check, stall time.Duration) {
			c.passes(30 * time.Second)
			c.sleep(stall)
			require.Zero(c, stall)
		},
		"after a wait": func(c *Check, stall time.Duration) {
			c.advance(29 * time.Second)
			c.sleep(stall)
			require.Zero(c, stall)
		},
		"before the wait that was in time": func(c *Check, stall time.Duration) {
			c.sleep(stall)
			c.almost(30 * time.Second)
			require.Zero(c, stall)
		},
	}
	for name, look := range looks {
		o, n := tried(t, func(c *Check, n int) { look(c, map[bool]time.Duration{true: 3 * time.Second}[n < 3]) })
		require.Equal(t, 3, n, name)
		require.Empty(t, o.Failure, name)

		o, n = tried(t, func(c *Check, _ int) { look(c, 3*time.Second) })
		require.Equal(t, tries, n, name)
		require.Contains(t, o.Failure, "Should be zero", name)
		require.Greater(t, o.Took, tries*25*time.Second, "all of them")

		o, n = tried(t, func(c *Check, _ int) { look(c, 900*time.Millisecond) })
		require.Equal(t, 1, n, "%s: it was in time", name)
		require.NotEmpty(t, o.Failure, name)
	}
}

func TestWaits_ARuleIsTriedOnceIfItHeldOrDoesNotWait(t *testing.T) {
	t.Parallel()
	_, n := tried(t, func(c *Check, _ int) {
		c.almost(30 * time.Second)
		c.sleep(time.Minute)
	})
	require.Equal(t, 1, n, "it held")
	o, n := tried(t, func(c *Check, _ int) {
		c.almost(30 * time.Second)
		c.sleep(time.Minute)
		c.Skip("SKIPPED: there is nothing to wait for")
	})
	require.Equal(t, 1, n)
	require.NotEmpty(t, o.Skipped)

	o, n = tried(t, func(c *Check, _ int) {
		c.wait = waiting{}
		c.sleep(time.Minute)
		require.Fail(c, "so it is")
	})
	require.Equal(t, 1, n, "it does not wait")
	require.NotEmpty(t, o.Failure)
}

// What a try made is deleted before the next one; what cannot be is a failure at once, however late the rule was.
func TestWaits_ARuleThatIsTriedAgainLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	documents, err := LoadDocuments("")
	require.NoError(t, err)
	for status, want := range map[int][]string{
		http.StatusNoContent: {"DELETE 1", "DELETE 2", "DELETE 3"}, http.StatusConflict: {"DELETE 1"},
	} {
		var mu sync.Mutex
		var sent []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if name, is := strings.CutPrefix(r.URL.Path, templates+"/"); is {
				sent = append(sent, r.Method+" "+name)
			}
			w.WriteHeader(status)
		}))
		s, n := &Suite{Target: Target{URL: server.URL, Key: "key"}, Documents: documents}, 0
		o := s.one(t.Context(), s.Target, Rule{ID: "queue.lease", Test: func(c *Check) {
			n++
			defer c.cleanUp()
			c.wait.most = time.Minute
			c.inTime(time.Now().Add(-time.Minute))
			c.owns(templates+"/"+strconv.Itoa(n), "")
			require.Fail(c, "too late")
		}}, spec.Rule{}, false)
		server.Close()
		require.Equal(t, want, sent)
		require.Equal(t, len(want), n)
		require.NotEmpty(t, o.Failure)
	}
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
