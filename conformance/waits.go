package conformance

import (
	"fmt"
	"net/http"
	"time"

	"github.com/stretchr/testify/require"
)

// The rules that wait for something to be due: with test controls on a clock that stands still and is set forward, without them, and
// where the suite may wait for so long, in real time.

// waiting is what a rule that waits knows of its time.
type waiting struct {
	most  time.Duration // how long it may wait, as it says of itself; 0: it does not say
	total time.Duration // how long it has

	// In real time it is known of what happened since the last wait only that it happened between two points in time.
	earliest time.Time     // the first of them: the beginning and what was waited for since
	left     time.Duration // what almost left to wait for
	due      time.Time     // when that is over at the latest

	// On a slow machine a rule may do something so late that what it sees says nothing of the target: it is tried again then if it failed.
	by   time.Time // when it is to have done what comes before its next wait; zero: it does not wait in real time
	late bool      // it did something later than that
}

// promptly is how long, in real time, what a rule does between two waits takes at most, unless there is less until something is due.
const promptly = time.Second

// waited adds a rule that waits for so long altogether. Its clock stands still, or it has an endpoint of its own in real time.
func waited(id string, ops []string, most time.Duration, test func(*Check)) {
	add(id, ops, func(c *Check) {
		c.wait.most = most
		if c.ControlsKey != "" {
			c.frozen(func() { test(c) })
			return
		}

		if most > c.suite.RealTime {
			c.Skip(fmt.Sprintf("the target has no test controls; in real time the rule waits for %s: --wait %[1]s", most))
		}
		c.client = &http.Client{Timeout: client.Timeout + most}
		c.Endpoint = c.ownEndpoint()
		c.begins()
		test(c)
	})
	rules[len(rules)-1].Waits = most
}

// ownEndpoint makes an endpoint without workers for the rule alone, and skips the rule where the target makes none.
func (c *Check) ownEndpoint() string {
	a := c.REST(http.MethodPost, serverless, lent)
	if a.Status != http.StatusCreated {
		c.Skip("the rule needs an endpoint of its own, and the target makes none: " + a.summary())
	}
	return a.JSON["id"].(string)
}

// inRealTime reports whether the rule waits in real time.
func (c *Check) inRealTime() bool { return c.ControlsKey == "" && c.wait.most > 0 }

// begins has the time of a rule that waits in real time begin now.
func (c *Check) begins() {
	c.wait.earliest = time.Now()
	c.inTime(c.wait.earliest.Add(promptly))
}

// inTime sets by when the rule is to have done what comes before its next wait.
func (c *Check) inTime(by time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait.by = by
}

// wasInTime notes whether what came before the next wait was done in time.
func (c *Check) wasInTime() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait.notice()
}

// notice notes whether it is later than the rule was to do anything.
func (w *waiting) notice() {
	if !w.by.IsZero() && time.Now().After(w.by) {
		w.late = true
	}
}

// slack gives how much before and after the time a rule looks in real time: requests take time, and what is due is not done at once.
func slack(d time.Duration) time.Duration { return min(2*time.Second, d/4) }

// almost waits until d is not quite over, counted from the last wait and from whatever happened since; rest waits for what it leaves.
func (c *Check) almost(d time.Duration) {
	c.waitsFor(d)
	if !c.inRealTime() {
		c.wait.left = time.Millisecond
		c.forward(d - c.wait.left)
		return
	}
	c.wait.left = slack(d)
	c.wait.due = time.Now().Add(d)
	c.until(d-c.wait.left, c.wait.left)
}

// rest waits for what almost left.
func (c *Check) rest() {
	if !c.inRealTime() {
		c.forward(c.wait.left)
		return
	}
	c.wasInTime()
	c.wait.earliest = c.wait.earliest.Add(c.wait.left)
	end := c.wait.due.Add(c.wait.left)
	c.inTime(end.Add(promptly))
	c.sleep(time.Until(end))
}

// passes waits until d is over for all that has happened.
func (c *Check) passes(d time.Duration) {
	c.almost(d)
	c.rest()
}

// until waits in real time until d is over for what happened first, and nothing more. What comes then is to be done within that time.
func (c *Check) until(d, within time.Duration) {
	c.wasInTime()
	c.wait.earliest = c.wait.earliest.Add(d)
	c.inTime(c.wait.earliest.Add(within))
	c.sleep(time.Until(c.wait.earliest))
}

// waitsFor fails a rule that waits for longer than it says.
func (c *Check) waitsFor(d time.Duration) {
	if c.wait.most == 0 {
		return
	}
	c.wait.total += d
	require.LessOrEqual(c, c.wait.total, c.wait.most, "how long the rule waits")
}

// heldAWhile sends the request in the background, and gives once it can be taken for held: its wait begins here.
func (c *Check) heldAWhile(send func() Answer) chan Answer {
	c.wasInTime()
	c.begins()
	answers := c.later(send)
	c.sleep(200 * time.Millisecond)
	return answers
}
