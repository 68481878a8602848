package conformance

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// Check is what a rule's test is given: the target, and a place to fail.
type Check struct {
	require.TestingT
	Target
	Spec *Documents
	Skip func(why string) // ends the test: the target lacks what it needs

	*run
}

// run is what the checks of one rule share, those of other endpoints and targets too.
type run struct {
	suite *Suite
	whole string // the target's key
	name  string // of no other run: what a rule names with it no other rule has left
	limit bool   // the rule sets limits of requests itself: it means to be refused

	beside bool         // rules that play the worker of the endpoint run at the same time
	client *http.Client // nil: that of all rules
	wait   waiting

	mu      sync.Mutex      // a request may be held while another is sent
	ctx     context.Context // of the requests
	failing bool            // the rule failed: what is sent from here on only takes back what it set
	over    bool            // the rule ended: what it made is deleted
	made    []resource      // what the rule made and did not delete
	keys    []string        // ids of the keys that it made
	users   []string        // names of the users that it made
	conns   []net.Conn      // that it opened below HTTP
	ran     map[string]bool // URLs that cancel the jobs that were not seen to have ended
	sshKeys map[string]any  // the user's SSH keys as they were, if the rule changed them; nil: it did not
	last    exchange        // the last request and its answer
}

// NewCheck gives what the test of one rule runs with. Its requests end with the context.
func (s *Suite) NewCheck(ctx context.Context, t require.TestingT, skip func(why string)) *Check {
	return s.NewCheckOf(ctx, s.Target, t, skip)
}

// NewCheckOf is NewCheck for the target or one beside it.
func (s *Suite) NewCheckOf(ctx context.Context, target Target, t require.TestingT, skip func(why string)) *Check {
	return &Check{TestingT: t, Target: target, Spec: s.Documents, Skip: skip, run: &run{suite: s, whole: target.Key, ctx: ctx, name: strings.ToLower(rand.Text()[:8])}}
}

// worker gives the name of a worker that no other rule was.
func (c *Check) worker(name string) string { return name + "-" + c.name }

// at gives a Check of the same rule whose queue is that of another endpoint.
func (c *Check) at(endpoint string) *Check {
	other := *c
	other.Endpoint = endpoint
	return &other
}

// of gives a Check of the same rule for another target.
func (c *Check) of(target Target) *Check {
	other := *c
	other.Target = target
	return &other
}

// Errorf fails the rule.
func (c *Check) Errorf(format string, args ...any) {
	c.mu.Lock()
	c.failing = true
	if c.wait.notice(); c.over {
		c.wait.late = false // to try the rule again would hide what it left behind
	}
	c.mu.Unlock()
	c.TestingT.Errorf(format, args...)
}

// begin takes back what a rule before may have left, and lets a rule make as many requests as it likes. Where no rule has set anything of
// that since, there is nothing to take back.
func (c *Check) begin() {
	if c.ControlsKey == "" || !c.suite.disturbed(c.URL) {
		return
	}
	c.set("PUT", "faults", `{"faults":[]}`)
	c.set("PUT", "storage", writable)
	c.set("PUT", "quotas", fmt.Sprintf(`{"minute":%[1]d,"hour":%[1]d,"day":%[1]d}`, plenty))
	c.suite.undisturbed(c.URL)
}

// disturbs reports whether the request to the test controls changes what begin takes back.
func disturbs(method, path string) bool {
	name, _, _ := strings.Cut(path, "/")
	name, _, _ = strings.Cut(name, "?")
	return method != http.MethodGet && slices.Contains([]string{"faults", "storage", "quotas", "reset", "states"}, name)
}

// caught makes a failure of a panic: rules read answers as the documents have them, and another server may answer otherwise.
func (c *Check) caught() {
	trouble := recover()
	if trouble == nil {
		return
	}
	if t, ok := c.TestingT.(interface{ Log(args ...any) }); ok { // whoever runs the tests of this package wants to see where
		t.Log(string(debug.Stack()))
	}
	c.Errorf("the answer does not have what the rule reads in it: %v", trouble)
	c.FailNow()
}

// scopesOf names the further keys that rules use.
var scopesOf = map[string][]string{
	"read":    {"rest:read"},
	"write":   {"rest:write"},
	"other":   {"queue:otherendpoint1:invoke"},
	"any":     {"queue:*:invoke"},
	"graphql": {"graphql:read", "graphql:write"},
	"admin":   {"admin"},
	"exempt":  {"all"},
	"expired": {"all"},
}

// key makes a further key of the same user and gives it as a header.
func (c *Check) key(name string) string {
	scopes, more := scopesOf[name], ""
	switch name {
	case "invoke":
		scopes = []string{"queue:" + c.Endpoint + ":invoke"}
	case "exempt":
		more = `,"exempt":true`
	case "expired":
		more = `,"expiresIn":1`
	}

	_, key := c.newKey(more, scopes...)
	if name == "expired" {
		c.advance(time.Second)
	}
	return "Bearer " + key
}

// later sends in the background. An answer that breaks the documents, or none, fails the rule, and comes as an empty one.
func (c *Check) later(send func() Answer) chan Answer {
	answers := make(chan Answer, 1)
	go func() {
		var a Answer
		defer func() { answers <- a }()
		defer c.caught()
		a = send()
	}()
	return answers
}

// Operations gives every operation that the target has.
func (c *Check) Operations() []Operation {
	return slices.DeleteFunc(c.Spec.Operations(), func(op Operation) bool { return op.Document == "controls" && c.ControlsKey == "" })
}

// Keyed gives those of them that ask for a key.
func (c *Check) Keyed() []Operation {
	return slices.DeleteFunc(c.Operations(), func(op Operation) bool { return op.Open })
}

// base gives the base address of the interface that the document describes: workers speak to the queue.
func (c *Check) base(document string) string {
	if document == "queue" || document == "worker" {
		return c.QueueURL
	}
	return c.URL
}

// address gives where the operation is.
func (c *Check) address(op Operation) string { return c.base(op.Document) + op.Path }

// patience is how long is waited in real time for what happens unasked, unless the suite says otherwise. It ends a wait that
// would not end; a machine may be slow.
const patience = time.Minute

// Eventually calls f until it is true, for as long as there is patience: what it waits for happens unasked. Where the
// clock of the target can be set, it moves it on between the looks: by a tenth of a second at first, and by more where much is yet to come.
func (c *Check) Eventually(f func() bool, what string) {
	deadline := time.Now().Add(c.suite.patience())
	step, looks := 100*time.Millisecond, 0
	for look := 200 * time.Millisecond; !f(); look = 2 * time.Second {
		require.True(c, time.Now().Before(deadline), "not within %s: %s", c.suite.patience(), what)
		if c.ControlsKey == "" {
			c.sleep(look) // seldom, since requests may have a quota
			continue
		}
		c.sleep(time.Millisecond)
		c.advance(step)
		if looks++; looks >= 5 {
			step = min(2*step, time.Second)
		}
	}
}

// sleep waits in real time. It fails the rule if its time ends first.
func (c *Check) sleep(d time.Duration) {
	ctx := c.context()
	select {
	case <-time.After(d):
	case <-ctx.Done():
		require.NoError(c, ctx.Err())
	}
}

// context is that of the requests.
func (c *Check) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}
