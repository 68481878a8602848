package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/spec"
)

// Outcome is how a rule fared.
type Outcome struct {
	ID       string
	Area     string    // the id up to its first dot
	Rule     spec.Rule // what it says, and where it comes from
	Failure  string    // the rule, the request, the answer and what was expected; empty: passed or skipped
	Expected string    // of a failure: what was expected, in a line
	Skipped  string    // why; empty: not skipped
	Took     time.Duration

	Request, Answer string // of a failure: the last ones; empty: none
	Wanted          string // of a failure: what was expected, whole
}

// recorder is the place where a rule fails when no go test runs it. A rule may fail in several goroutines.
type recorder struct {
	unkeyed func(text string) string // nil: there are no keys

	mu      sync.Mutex
	failure strings.Builder
	skipped string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if r.unkeyed != nil {
		text = r.unkeyed(text)
	}
	r.failure.WriteString(expectation(text))
}

func (r *recorder) FailNow() { runtime.Goexit() }

func (r *recorder) skip(why string) {
	r.mu.Lock()
	r.skipped = why
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) outcome() (failure, skipped string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.TrimSpace(r.failure.String()), r.skipped
}

// Options are how rules are run.
type Options struct {
	Rules   []Rule        // which, as Select gives them
	Shuffle uint64        // the seed of their order; 0: by id
	Ended   func(Outcome) // is notified of each, one after the other; may be nil
}

// lanes is how many rules are checked at a time, where there is no clock for them to quarrel over: many only wait.
const lanes = 8

// waiters is how many of those that wait in real time, which have an endpoint of their own, are checked beside them.
const waiters = 64

// most is how long a rule may take.
const most = 10 * time.Minute

// tries is how often a rule is checked at most that waits in real time, and looked too late whenever it failed.
const tries = 3

// Run checks rules against the target. It gives an outcome of each, in the order of their ids, also when it fails: rules that it
// did not come to are skipped, and say so. It fails with ErrUnreached, ErrRefused or the error of the context.
func (s *Suite) Run(ctx context.Context, o Options) ([]Outcome, error) {
	rules := slices.Clone(o.Rules)
	if o.Shuffle != 0 {
		rand.New(rand.NewPCG(o.Shuffle, 0)).Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] }) //nolint:gosec // G404: an order, which must be the same again with the same seed
	}
	leave, err := s.prepare(ctx)
	if err != nil {
		s.stop(err)
	}
	defer leave()

	documented, err := documentedRules()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex

	outcomes := []Outcome{}
	one := func(target Target, rule Rule, beside bool) {
		outcome := s.one(ctx, target, rule, documented[rule.ID], beside)
		mu.Lock()
		defer mu.Unlock()
		outcomes = append(outcomes, outcome)
		if o.Ended != nil {
			o.Ended(outcome)
		}
	}

	s.each(rules, one)
	slices.SortFunc(outcomes, func(a, b Outcome) int { return strings.Compare(a.ID, b.ID) })
	if err := ctx.Err(); err != nil {
		return outcomes, err
	}
	return outcomes, s.stopped()
}

// each runs the rules. With test controls those beside one server share a clock: one after the other. Without, those that play the worker
// of the one endpoint are one after the other, beside them others at the same time, also those that wait, and alone at the end those that
// see what others do.
func (s *Suite) each(rules []Rule, one func(target Target, rule Rule, beside bool)) {
	if s.ControlsKey != "" {
		s.EachBeside(rules, func(target Target, rule Rule) { one(target, rule, false) })
		return
	}

	var workers, together, alone, waiting []Rule
	for _, rule := range rules {
		switch {
		case aloneRules[rule.ID] || slices.Contains(aloneAreas, areaOf(rule.ID)):
			alone = append(alone, rule)
		case rule.Waits > 0 && rule.Waits <= s.RealTime:
			waiting = append(waiting, rule)
		case workerRules[rule.ID] || slices.Contains(workerAreas, areaOf(rule.ID)):
			workers = append(workers, rule)
		default:
			together = append(together, rule)
		}
	}

	var group sync.WaitGroup
	group.Go(func() {
		for _, rule := range workers {
			one(s.Target, rule, false)
		}
	})

	beside := func(rules []Rule, lanes int) {
		next := queued(rules)
		for range min(lanes, len(rules)) {
			group.Go(func() {
				for rule := range next {
					one(s.Target, rule, true)
				}
			})
		}
	}
	beside(waiting, waiters)
	beside(together, lanes-1)
	group.Wait()
	for _, rule := range alone {
		one(s.Target, rule, false)
	}
}

// EachBeside hands each rule to the target or to one beside it, in their order: one at a time beside each, beside all at the same time. It
// returns once all are done.
func (s *Suite) EachBeside(rules []Rule, one func(target Target, rule Rule)) {
	var group sync.WaitGroup
	next := queued(rules)
	for _, target := range append([]Target{s.Target}, s.Beside...) {
		group.Go(func() {
			for rule := range next {
				one(target, rule)
			}
		})
	}
	group.Wait()
}

// queued gives the rules one by one.
func queued(rules []Rule) <-chan Rule {
	next := make(chan Rule, len(rules))
	for _, rule := range rules {
		next <- rule
	}
	close(next)
	return next
}

var (
	workerAreas = []string{"queue", "openai", "jobs", "why"}
	workerRules = map[string]bool{
		"auth.scopes.all":        true, // its ping is a worker of the endpoint
		"auth.revoked.held":      true, // these take jobs of the endpoint
		"auth.revoked.stream":    true,
		"auth.revoked.openai":    true,
		"bounds.inputs":          true, // takes jobs of the endpoint
		"public.run.input":       true, // these make jobs of the endpoint
		"public.run.webhook-v2":  true,
		"serverless.delete.jobs": true, // receives webhooks, which is tried out with a job of the endpoint
	}
	aloneAreas = []string{"rates"} // they count every request of the user
	aloneRules = map[string]bool{
		"bounds.outputs":          true, // these take the memory that the key has for answers
		"bounds.readers":          true,
		"clusters.create.nothing": true, // counts the user's pods
		"clusters.create.ssh":     true, // these set the user's SSH keys, which pods get
		"graphql.deploy.ssh":      true,
		"graphql.settings":        true,
		"flash.login.bounds":      true, // takes all requests to log in that an address has
		"public.create.ssh":       true,

		"serverless.declared":        true, // the first compares what the second changes
		"serverless.declared.same":   true,
		"graphql.endpoints.declared": true,
	}
)

// one checks a rule, or skips it if the run has ended; beside others, it may not have jobs on their endpoint.
func (s *Suite) one(ctx context.Context, target Target, rule Rule, says spec.Rule, beside bool) Outcome {
	o := Outcome{ID: rule.ID, Area: areaOf(rule.ID), Rule: says}
	why := s.stopped()
	if why == nil {
		why = ctx.Err()
	}
	if why != nil {
		o.Skipped = "not run: " + why.Error()
		return o
	}

	start := time.Now()
	var check *Check
	var failure, skipped string
	for late, n := true, 0; late && n < tries; n++ {
		check, late, failure, skipped = s.try(ctx, target, rule, beside)
		if failure == "" || ctx.Err() != nil || s.stopped() != nil {
			break
		}
	}
	o.Took = time.Since(start)

	switch {
	case ctx.Err() != nil || s.stopped() != nil && failure != "":
		o.Skipped = "cut short"
	case skipped != "":
		o.Skipped = check.unkeyed(skipped)
	case failure != "":
		check.describe(&o, failure)
	}

	return o
}

// try checks a rule once, which cleans up what it left, and reports whether it looked too late.
func (s *Suite) try(ctx context.Context, target Target, rule Rule, beside bool) (check *Check, late bool, failure, skipped string) {
	within, cancel := context.WithTimeout(ctx, most+2*rule.Waits)
	defer cancel()
	r := &recorder{}
	check = s.NewCheckOf(within, target, r, r.skip)
	if s.ExemptKey != "" && areaOf(rule.ID) != "rates" {
		check.Key = s.ExemptKey
	}
	check.beside, r.unkeyed = beside, check.unkeyed
	done := make(chan struct{})
	go func() {
		defer close(done)
		rule.Test(check)
	}()
	<-done
	failure, skipped = r.outcome()
	check.mu.Lock()
	defer check.mu.Unlock()
	return check, check.wait.late, failure, skipped
}

// NotRun gives an outcome of each rule, which says that it was not run, and why. It fails where spec/rules.yaml cannot be read.
func NotRun(rules []Rule, why string) (all []Outcome, err error) {
	documented, err := documentedRules()
	for _, rule := range rules {
		all = append(all, Outcome{ID: rule.ID, Area: areaOf(rule.ID), Rule: documented[rule.ID], Skipped: "not run: " + why})
	}
	return all, err
}

// documentedRules gives the rules of spec/rules.yaml by their ids.
func documentedRules() (map[string]spec.Rule, error) {
	list, err := spec.Rules()
	byID := map[string]spec.Rule{}
	for _, r := range list {
		byID[r.ID] = r
	}
	return byID, err
}
