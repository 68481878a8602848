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
}

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
		c.wait.earliest = time.Now()
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
	c.until(d - c.wait.left)
}

// rest waits for what almost left.
func (c *Check) rest() {
	if !c.inRealTime() {
		c.forward(c.wait.left)
		return
	}
	c.wait.earliest = c.wait.earliest.Add(c.wait.left)
	c.sleep(time.Until(c.wait.due.Add(c.wait.left)))
}

// passes waits until d is over for all that has happened.
func (c *Check) passes(d time.Duration) {
	c.almost(d)
	c.rest()
}

// until waits in real time until d is over for what happened first, and nothing more.
func (c *Check) until(d time.Duration) {
	c.wait.earliest = c.wait.earliest.Add(d)
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
	c.wait.earliest = time.Now()
	answers := c.later(send)
	c.sleep(200 * time.Millisecond)
	return answers
}
