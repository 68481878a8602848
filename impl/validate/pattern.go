package validate

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// Pattern is a regular expression (RE2). Matching a short ASCII text is a walk through a table, which is several times
// faster than package regexp; that package still decides on other texts, and for patterns that have no small table.
type Pattern struct {
	text string
	// Made at the first use, not at the start of a program.
	re    func() *regexp.Regexp
	table func() []row // nil if there is none
}

// row says, for a state of the table, which state follows on each ASCII character, and whether the text may end here.
type row struct {
	next [utf8.RuneSelf]uint8
	ends bool
}

// The states that do not change any more, the first one, and how large a table and the program for it may be.
const (
	refused         = 0
	accepted        = 1
	begin           = 2
	maxStates       = 128
	maxInstructions = 512
)

// MustPattern makes a pattern that the generator has checked: using one that makes no sense panics.
func MustPattern(text string) *Pattern {
	return &Pattern{
		text:  text,
		re:    sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) }),
		table: sync.OnceValue(func() []row { return makeTable(text) }),
	}
}

// String gives the pattern as it is written.
func (p *Pattern) String() string { return p.text }

// Match reports whether the pattern matches anywhere in the text.
func (p *Pattern) Match(text string) bool {
	table := p.table()
	if table == nil {
		return p.re().MatchString(text)
	}

	state := uint8(begin)
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return p.re().MatchString(text)
		}
		state = table[state].next[c]
		if state <= accepted {
			return state == accepted
		}
	}

	return table[state].ends
}

// makeTable makes the table of a pattern by the subset construction: a state is the set of instructions that the program of
// package regexp/syntax may stand at. It gives nil for a pattern that looks at lines or words, or has too many states.
func makeTable(text string) []row {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(prog.Inst) > maxInstructions {
		return nil
	}

	for _, i := range prog.Inst {
		if i.Op == syntax.InstEmptyWidth && i.Arg&^uint32(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
			return nil
		}
	}

	t := tableMaker{prog: prog, rows: make([]row, begin), alike: alike(prog)}
	first := t.closure([]uint32{uint32(prog.Start)}, syntax.EmptyBeginText)
	if t.matches(first) {
		return nil // it matches every text: not worth a table
	}

	// The begin is a state of its own, also if the same set is reached later: ^ matches here only.
	t.add(first)
	t.rows[begin].ends = t.matches(t.closure(first, syntax.EmptyBeginText|syntax.EmptyEndText))
	for i := 0; i < len(t.sets); i++ {
		if !t.fill(i) {
			return nil
		}
	}

	return t.rows
}

type tableMaker struct {
	prog  *syntax.Prog
	sets  [][]uint32 // of the states from begin on
	rows  []row
	alike [utf8.RuneSelf]rune
}

// alike gives for each character the first one that the whole program treats like it: most patterns distinguish few.
func alike(prog *syntax.Prog) (first [utf8.RuneSelf]rune) {
	known := map[string]rune{}
	for c := range rune(utf8.RuneSelf) {
		var matched []byte
		for i := range prog.Inst {
			if inst := &prog.Inst[i]; isRune(inst) && inst.MatchRune(c) {
				matched = append(matched, byte(i), byte(i>>8))
			}
		}

		if _, ok := known[string(matched)]; !ok {
			known[string(matched)] = c
		}
		first[c] = known[string(matched)]
	}

	return first
}

func (t *tableMaker) add(set []uint32) {
	t.sets = append(t.sets, set)
	t.rows = append(t.rows, row{ends: t.matches(t.closure(set, syntax.EmptyEndText))})
}

// fill sets where state begin+i goes on each character; false if there are too many states.
func (t *tableMaker) fill(i int) bool {
	for c := range rune(utf8.RuneSelf) {
		if like := t.alike[c]; like != c {
			t.rows[begin+i].next[c] = t.rows[begin+i].next[like]
			continue
		}

		moved := []uint32{uint32(t.prog.Start)} // a match may begin after any character
		for _, pc := range t.sets[i] {
			if inst := &t.prog.Inst[pc]; isRune(inst) && inst.MatchRune(c) {
				moved = append(moved, inst.Out)
			}
		}

		set := t.closure(moved, 0)
		next := refused
		switch at := slices.IndexFunc(t.sets[1:], func(known []uint32) bool { return slices.Equal(known, set) }); {
		case t.matches(set):
			next = accepted
		case !slices.ContainsFunc(set, t.goesOn):
		case at >= 0:
			next = begin + 1 + at
		default:
			next = len(t.rows)
			t.add(set)
		}

		if next >= maxStates {
			return false
		}
		t.rows[begin+i].next[c] = uint8(next)
	}

	return true
}

// closure gives all instructions that can be reached without a character, in order.
func (t *tableMaker) closure(from []uint32, flags syntax.EmptyOp) []uint32 {
	var set []uint32
	seen := make([]bool, len(t.prog.Inst))
	var visit func(pc uint32)
	visit = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		set = append(set, pc)

		switch inst := &t.prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			visit(inst.Out)
			visit(inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			visit(inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				visit(inst.Out)
			}
		}
	}

	for _, pc := range from {
		visit(pc)
	}
	slices.Sort(set)
	return set
}

func (t *tableMaker) matches(set []uint32) bool {
	return slices.ContainsFunc(set, func(pc uint32) bool { return t.prog.Inst[pc].Op == syntax.InstMatch })
}

// goesOn reports whether an instruction can lead to a match: it waits for a character, or for the end of the text.
func (t *tableMaker) goesOn(pc uint32) bool {
	inst := &t.prog.Inst[pc]
	return isRune(inst) || inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg) == syntax.EmptyEndText
}

func isRune(inst *syntax.Inst) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}
