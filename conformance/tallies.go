package conformance

import (
	"slices"
	"strings"
	"time"
)

// ReportOf is what a report is about.
type ReportOf struct {
	Target   string // base of REST; empty: a server of the program's own
	Contract string // the edition whose rules were checked, by its name
	Version  string // of the program
	At       time.Time
	Ended    error // why the run ended before its rules; nil: it did not, or not yet
}

// Tally is how many rules of a group fared how.
type Tally struct {
	Name                      string
	Passed, Failed, NotJudged int
}

// Rules gives how many rules are in the group.
func (t Tally) Rules() int { return t.Passed + t.Failed + t.NotJudged }

// Judged gives how many of them were judged.
func (t Tally) Judged() int { return t.Passed + t.Failed }

// Percent gives how much of the rules was judged, in whole percent, rounded down.
func (t Tally) Percent() int { return 100 * t.Judged() / max(1, t.Rules()) }

func (t *Tally) add(o Outcome) {
	switch {
	case o.Skipped != "":
		t.NotJudged++
	case o.Failure != "":
		t.Failed++
	default:
		t.Passed++
	}
}

// TallyOf counts all outcomes.
func TallyOf(outcomes []Outcome) Tally {
	all := Tally{Name: "all rules"}
	for _, o := range outcomes {
		all.add(o)
	}
	return all
}

// tallies counts outcomes in groups, in the order of their names.
func tallies(outcomes []Outcome, group func(Outcome) string) (all []Tally) {
	for _, o := range outcomes {
		name := group(o)
		i, found := slices.BinarySearchFunc(all, name, func(t Tally, name string) int { return strings.Compare(t.Name, name) })
		if !found {
			all = slices.Insert(all, i, Tally{Name: name})
		}
		all[i].add(o)
	}
	return all
}

// Reason is why rules were not judged.
type Reason struct {
	Why   string
	Rules []string // their ids
}

// Reasons groups the rules that were not judged by why, those of most rules first.
func Reasons(outcomes []Outcome) (all []Reason) {
	places := map[string]int{}
	for _, o := range outcomes {
		if o.Skipped == "" {
			continue
		}
		place, found := places[o.Skipped]
		if !found {
			place = len(all)
			places[o.Skipped] = place
			all = append(all, Reason{Why: o.Skipped})
		}
		all[place].Rules = append(all[place].Rules, o.ID)
	}

	slices.SortStableFunc(all, func(a, b Reason) int { return len(b.Rules) - len(a.Rules) })
	return all
}

// editionsOf names the editions that a rule is of.
func editionsOf(o Outcome) string {
	if len(o.Rule.Editions) == 0 {
		return "every edition"
	}
	return strings.Join(o.Rule.Editions, ", ") + " alone"
}
