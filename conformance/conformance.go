// Package conformance checks every documented rule over HTTP: it talks to a URL and knows nothing of the server behind it.
// Each rule of spec/rules.yaml that is not open has one test here, and the other way round.
package conformance

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/gen/rest"
)

// Target is the server to check. Endpoint must be one whose workers are not running: the rules play the worker.
type Target struct {
	URL      string // base of REST, without a slash at the end
	QueueURL string // base of the queue
	Key      string // a key with every scope
	Endpoint string // endpoint id; empty: Suite.Run makes one
	Contract string // the edition of the contract that requests name, and whose rules are checked; empty: none, and the strict one's

	ExemptKey   string  // a key of the same user that limits do not concern, for all rules but those about limits; may be empty
	Managed     string  // id of an endpoint whose workers the server starts; may be empty
	Declared    string  // id of an endpoint that the server's settings declare; may be empty
	ControlsKey string  // the key of its test controls; rules that need them are skipped without it
	Guarded     *Target // a server like this one, but that posts to no private address; may be nil
}

// Rule is a documented rule with its test. ID is the id in spec/rules.yaml.
type Rule struct {
	ID   string
	Ops  []string // ids of the operations that it exercises
	Test func(*Check)

	Waits time.Duration // how long it waits in real time where the target has no test controls; 0: not long, or it needs them
}

// areas make the rules, and are named by the files of this package, one for each resource. The program that this package is part
// of starts without making them.
var areas []func()

func area(rules func()) (named bool) {
	areas = append(areas, rules)
	return true
}

// rules is filled by the areas.
var rules []Rule

var fill = sync.OnceFunc(func() {
	for _, rules := range areas {
		rules()
	}
})

// add takes in a rule. It is called a thousand times: inlined, it and the functions that rules call as often (newPod, graphQL, REST, to)
// would make the program larger by 1.5 MB.
//
//go:noinline
func add(id string, ops []string, test func(*Check)) {
	rules = append(rules, Rule{ID: id, Ops: ops, Test: func(c *Check) {
		defer c.cleanUp()
		defer c.caught() // before what was made is deleted, so that a failure is reported with the request that it came of
		c.begin()
		test(c)
	}})
}

// RulesOf gives the rules of an edition of the contract, sorted by id; empty: of the strict one.
func RulesOf(edition string) ([]Rule, error) {
	documented, err := documentedRules()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(Rules(), func(r Rule) bool { return !documented[r.ID].In(cmp.Or(edition, rest.Editions[0].Name)) }), nil
}

// Rules gives all rules, sorted by id.
func Rules() []Rule {
	fill()
	return slices.SortedFunc(slices.Values(rules), func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
}
