package graphql

import (
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/impl/compute"
)

// size is how much a selection asks for.
type size struct{ depth, fields, aliases, values int }

// The bounds of documents that are no settings.
const (
	anonymousValues = 25_000 // of an answer without a key: introspection has 20,000
	mostRepeats     = 100    // fields of the same name in a selection, and uses of fragments
	mostErrors      = 100    // that an answer lists of a document that is not executed
)

// check refuses a selection over the limits (rules graphql.depth, graphql.complexity, graphql.aliases, graphql.values).
func (l Limits) check(set ast.SelectionSet, anonymous bool) (size, error) {
	if anonymous {
		l.Values = min(l.Values, anonymousValues)
	}

	s := measure(set, max(l.Fields, l.Aliases, l.Values), map[*ast.FragmentDefinition]size{})
	switch {
	case s.depth > l.Depth:
		return s, compute.Errorf(compute.Rejected, "the document is nested too deep; the limit is %d", l.Depth)
	case s.fields > l.Fields:
		return s, l.tooManyFields()
	case s.aliases > l.Aliases:
		return s, compute.Errorf(compute.Rejected, "the document has too many aliases; the limit is %d", l.Aliases)
	case s.values > l.Values:
		return s, compute.Errorf(compute.Rejected, "the document asks for lists in lists, with too many values in all; the limit is %d", l.Values)
	}

	return s, nil
}

func (l Limits) tooManyFields() error {
	return compute.Errorf(compute.Rejected, "the document asks for too many fields; the limit is %d", l.Fields)
}

// checkExpanded refuses a document that is not validated yet if one of its operations or fragments has too many fields, or a fragment uses itself
// (rule graphql.fragments): to validate it takes as long as all of its fields, with those of fragments each time they are used.
func (l Limits) checkExpanded(d *ast.QueryDocument) error {
	e := expansion{fragments: d.Fragments, most: l.Fields, known: map[*ast.FragmentDefinition]int{}}
	long := false
	for _, o := range d.Operations {
		long = e.fields(o.SelectionSet) > l.Fields || long
	}
	for _, f := range d.Fragments {
		long = e.fragment(f) > l.Fields || long
	}
	switch {
	case e.cycle != "":
		return compute.Errorf(compute.Invalid, "Cannot spread fragment %q within itself.", e.cycle)
	case long:
		return l.tooManyFields()
	}
	return nil
}

// expansion counts the fields of selections with those of fragments. Numbers over most stay just over it.
type expansion struct {
	fragments ast.FragmentDefinitionList
	most      int
	known     map[*ast.FragmentDefinition]int // -1: it is being counted
	cycle     string                          // a fragment that uses itself
}

func (e *expansion) fields(set ast.SelectionSet) (n int) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			n += 1 + e.fields(s.SelectionSet)
		case *ast.InlineFragment:
			n += e.fields(s.SelectionSet)
		case *ast.FragmentSpread:
			if f := e.fragments.ForName(s.Name); f != nil {
				n += e.fragment(f)
			}
		}
		n = min(n, e.most+1)
	}
	return n
}

func (e *expansion) fragment(f *ast.FragmentDefinition) int {
	n, counted := e.known[f]
	if !counted {
		e.known[f] = -1
		n = e.fields(f.SelectionSet)
		e.known[f] = n
	}
	if n < 0 {
		e.cycle = f.Name
		return 0
	}
	return n
}

// measure measures each fragment once, whatever the number of its uses: nested ones would take time without end. Numbers
// over most stay just over it.
func measure(set ast.SelectionSet, most int, known map[*ast.FragmentDefinition]size) (total size) {
	for _, s := range set {
		var one size
		switch s := s.(type) {
		case *ast.Field:
			one = measure(s.SelectionSet, most, known)
			one.depth++
			one.fields++
			one.values = length(s)*one.values + 1 + costly[s.Name]
			if s.Alias != s.Name {
				one.aliases++
			}
		case *ast.InlineFragment:
			one = measure(s.SelectionSet, most, known)
		case *ast.FragmentSpread:
			measured, ok := known[s.Definition]
			if !ok {
				measured = measure(s.Definition.SelectionSet, most, known)
				known[s.Definition] = measured
			}
			one = measured
		}

		total.depth = max(total.depth, one.depth)
		total.fields = min(total.fields+one.fields, most+1)
		total.aliases = min(total.aliases+one.aliases, most+1)
		total.values = min(total.values+one.values, most+1)
	}

	return total
}

// lengths are about how many elements the lists of a type have.
var lengths = map[string]int{"GpuType": 50, "GpuAvailability": 50, "DataCenter": 30}

// costly are the fields that look at all hosts, or are read by themselves and large, and as how many further values they count.
var costly = map[string]int{"lowestPrice": 10, "gpuAvailability": 100, "specifics": 10, "manifest": 1000}

// length is about how many objects a field gives; 1 if it is no list.
func length(f *ast.Field) int {
	if f.Definition == nil || f.Definition.Type.Elem == nil {
		return 1
	}
	parent := ""
	if f.ObjectDefinition != nil {
		parent = f.ObjectDefinition.Name
	}

	element := f.Definition.Type.Name()
	switch {
	case parent == "User" || parent == "__Schema":
		return 100 // what somebody owns; the types
	case element == "__Type" || element == "__InputValue" || element == "__EnumValue":
		return 1 // on average
	case lengths[element] > 0:
		return lengths[element]
	}

	return 5
}

// repeats counts the fields of a selection whose name another one of it has, and uses of fragments, with those below: to validate a
// document takes time by the square of them. The document is not validated yet, so a fragment may use itself.
func repeats(set ast.SelectionSet) (n int) {
	names := map[string]bool{}
	var in func(ast.SelectionSet)
	in = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if names[s.Alias] {
					n++
				}
				names[s.Alias] = true
				if len(s.SelectionSet) > 0 {
					n += repeats(s.SelectionSet)
				}
			case *ast.InlineFragment:
				in(s.SelectionSet)
			case *ast.FragmentSpread:
				n++
			}
		}
	}

	in(set)
	return n
}
