package compute

import (
	"fmt"
	"io"
	"slices"
)

// Row is one permitted move: in status From, event On leads to status To. Rule is the id in spec/rules.yaml of the
// sentence that the row implements.
type Row[S, E ~string] struct {
	From S
	On   E
	To   S
	Rule string
}

// Machine answers which moves are permitted. It is immutable.
type Machine[S, E ~string] struct {
	noun    string
	initial S
	rows    []Row[S, E]
}

// NewMachine checks the rows and makes a Machine. It panics on a duplicate row, on a status that the initial one cannot
// reach, and on a row that leaves a terminal status: all three are faults of the table and show at start-up.
func NewMachine[S, E ~string](noun string, initial S, terminal []S, rows []Row[S, E]) Machine[S, E] {
	type key struct {
		from S
		on   E
	}

	seen := map[key]bool{}
	for _, r := range rows {
		if seen[key{r.From, r.On}] {
			panic(fmt.Sprintf("%s: two rows for %s in %s", noun, r.On, r.From))
		}
		seen[key{r.From, r.On}] = true
		if slices.Contains(terminal, r.From) {
			panic(fmt.Sprintf("%s: %s leaves terminal %s", noun, r.On, r.From))
		}
	}

	reached := map[S]bool{initial: true}
	for grew := true; grew; {
		grew = false
		for _, r := range rows {
			if reached[r.From] && !reached[r.To] {
				reached[r.To], grew = true, true
			}
		}
	}

	for _, r := range rows {
		if !reached[r.From] || !reached[r.To] {
			panic(fmt.Sprintf("%s: %s to %s cannot be reached from %s", noun, r.From, r.To, initial))
		}
	}

	return Machine[S, E]{noun: noun, initial: initial, rows: rows}
}

// Next gives the status to which event on leads from status from, or a Conflict.
func (m Machine[S, E]) Next(from S, on E) (S, error) {
	if to, ok := m.next(from, on); ok {
		return to, nil
	}
	return from, Errorf(Conflict, "%s is not possible while the %s is %s", on, m.noun, from)
}

func (m Machine[S, E]) next(from S, on E) (to S, ok bool) {
	for _, r := range m.rows {
		if r.From == from && r.On == on {
			return r.To, true
		}
	}
	return to, false
}

// Allowed gives those of events that the status permits, in the order of events.
func (m Machine[S, E]) Allowed(from S, events []E) []E {
	allowed := []E{}
	for _, e := range events {
		if _, ok := m.next(from, e); ok {
			allowed = append(allowed, e)
		}
	}
	return allowed
}

// Sources gives the statuses in which the event is possible, in the order of the rows.
func (m Machine[S, E]) Sources(on E) []S {
	var sources []S
	for _, r := range m.rows {
		if r.On == on {
			sources = append(sources, r.From)
		}
	}
	return sources
}

// Rules gives the rule ids that the rows cite, sorted, each once.
func (m Machine[S, E]) Rules() []string {
	var ids []string
	for _, r := range m.rows {
		ids = append(ids, r.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// WriteMermaid writes the table as a Mermaid state diagram.
func (m Machine[S, E]) WriteMermaid(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "stateDiagram-v2\n  [*] --> %s\n", m.initial); err != nil {
		return err
	}
	for _, r := range m.rows {
		if _, err := fmt.Fprintf(w, "  %s --> %s: %s\n", r.From, r.To, r.On); err != nil {
			return err
		}
	}
	return nil
}
