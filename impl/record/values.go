package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/spec/answers"
)

// What two values differ in.
const (
	Missing = "missing" // a member or an element that the right side has not
	Extra   = "extra"   // one that only the right side has
	Type    = "type"    // null, a boolean, a number, a text, a list, an object
	Value   = "value"
	Order   = "order" // of the elements of a list
)

// difference is a place at which two bodies differ.
type difference struct{ kind, pointer, left, right string }

// differ compares values. What it finds goes to found.
type differ struct {
	ids     *pairs // from left to right; nil: no ids are followed
	exact   bool   // all is compared, what moves too
	ignored func(pointer string) bool
	found   []difference
}

// mostFound bounds the differences of one body.
const mostFound = 100

func (d *differ) add(kind, pointer string, left, right any) {
	if len(d.found) < mostFound {
		d.found = append(d.found, difference{kind, pointer, shown(kind, Extra, left), shown(kind, Missing, right)})
	}
}

// shown gives a value for people; of what is not there it is empty.
func shown(kind, absent string, value any) string {
	if kind == absent {
		return ""
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return shortened(string(text))
}

// longestShown bounds what is shown of a value, in bytes.
const longestShown = 200

func shortened(text string) string {
	if len(text) <= longestShown {
		return text
	}
	return strings.ToValidUTF8(text[:longestShown], "") + "…"
}

// at is a place of a body.
type at struct {
	pointer string
	name    string // of the member that it is, or that it is an element of
	moves   bool   // what is there is never the same
	schema  answers.Schema
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func (p at) member(name string) at {
	return at{p.pointer + "/" + escape.Replace(name), name, p.moves && isPriceList(p.name) || moves(name), p.schema.Member(name)}
}

func (p at) element(i int) at {
	return at{p.pointer + "/" + strconv.Itoa(i), p.name, p.moves, p.schema.Element()}
}

// values compares two values.
func (d *differ) values(p at, a, b any) {
	if d.ignored != nil && d.ignored(p.pointer) {
		return
	}
	if typeOf(a) != typeOf(b) {
		d.add(Type, p.pointer, a, b)
		return
	}
	switch a := a.(type) {
	case map[string]any:
		d.objects(p, a, b.(map[string]any))
	case []any:
		d.lists(p, a, b.([]any))
	default:
		if !d.same(p, a, b) {
			d.add(Value, p.pointer, a, b)
		}
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number, float64:
		return "number"
	case string:
		return "text"
	case []any:
		return "list"
	default:
		return "object"
	}
}

func (d *differ) objects(p at, a, b map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		next := p.member(name)
		if other, ok := b[name]; ok {
			d.values(next, a[name], other)
		} else if !d.mayLack(p, next) {
			d.add(Missing, next.pointer, a[name], nil)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		next := p.member(name)
		if _, ok := a[name]; !ok && !d.mayLack(p, next) {
			d.add(Extra, next.pointer, nil, b[name])
		}
	}
}

// mayLack reports whether it is no difference that one side alone has the member.
func (d *differ) mayLack(of, member at) bool {
	return d.ignored != nil && d.ignored(member.pointer) || !d.exact && of.name == measuring && slices.Contains(measured, member.name)
}

// same reports whether two scalars of one type are the same, or stand for the same.
func (d *differ) same(p at, a, b any) bool {
	_, isNumber := a.(json.Number)
	if a == b || !d.exact && (p.moves || isNumber && slices.Contains(movingNumbers, p.name)) {
		return true
	}
	left, ok := a.(string)
	if !ok || d.exact {
		return false
	}
	right := b.(string)
	if isTime(left) && isTime(right) || p.schema.Format() == "date-time" {
		return true
	}
	if d.ids == nil {
		return false
	}
	if d.ids.same(left, right) {
		return true
	}
	return isReference(p.name, left) && isReference(p.name, right) && d.ids.learn(left, right)
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

// lists compares two lists. Elements that stand for the same thing are compared with each other, wherever they stand.
func (d *differ) lists(p at, a, b []any) {
	if p.moves && !d.exact && !slices.ContainsFunc(slices.Concat(a, b), isComposed) {
		return
	}
	partner := d.align(a, b)
	taken := make([]bool, len(b))
	var places []int
	for i, j := range partner {
		if j < 0 {
			if d.ignored == nil || !d.ignored(p.element(i).pointer) {
				d.add(Missing, p.element(i).pointer, a[i], nil)
			}
			continue
		}
		taken[j] = true
		places = append(places, j)
		d.values(p.element(i), a[i], b[j])
	}

	if !slices.IsSorted(places) {
		d.add(Order, p.pointer, d.order(a), d.order(b))
	}
	for j := range b {
		if !taken[j] && (d.ignored == nil || !d.ignored(p.element(j).pointer)) {
			d.add(Extra, p.element(j).pointer, nil, b[j])
		}
	}
}

// isComposed reports whether the value has others in it.
func isComposed(v any) bool { return typeOf(v) == "list" || typeOf(v) == "object" }

// order gives what stands for the elements of a list where their order is shown.
func (d *differ) order(list []any) any {
	short := make([]any, len(list))
	for i, v := range list {
		short[i] = v
		if o, ok := v.(map[string]any); ok {
			for _, name := range []string{"id", "name", "key"} {
				if o[name] != nil {
					short[i] = o[name]
					break
				}
			}
		}
	}
	return short
}

// align gives for each element of a list the place of its partner in the other one; -1: it has none. Elements with the same id are partners, and
// scalars that are the same; what is left is taken in its order if the lists are equally long, since they then differ in what is there.
func (d *differ) align(a, b []any) []int {
	partner, taken := make([]int, len(a)), make([]bool, len(b))
	byID := map[string][]int{}
	for j, v := range b {
		if k := d.key(v, false); k != "" {
			byID[k] = append(byID[k], j)
		}
	}
	for i, v := range a {
		partner[i] = -1
		k := d.key(v, true)
		if same := byID[k]; k != "" && len(same) > 0 {
			partner[i], byID[k] = same[0], same[1:]
			taken[same[0]] = true
		}
	}

	if len(a) != len(b) && slices.ContainsFunc(partner, func(j int) bool { return j >= 0 }) && !d.unknownOnBothSides(a, partner) {
		return partner
	}
	j := 0
	for i := range a {
		for j < len(b) && taken[j] {
			j++
		}
		if partner[i] < 0 && j < len(b) {
			partner[i], taken[j] = j, true
		}
	}
	return partner
}

// unknownOnBothSides reports whether an element that has no partner has an id that was never seen on the other side: it may be any.
func (d *differ) unknownOnBothSides(a []any, partner []int) bool {
	if d.ids == nil {
		return false
	}
	for i, v := range a {
		o, _ := v.(map[string]any)
		id, _ := o["id"].(string)
		if _, known := d.ids.known(id); partner[i] < 0 && looksChosen(id) && !known {
			return true
		}
	}
	return false
}

// key gives what an element is found by, with the names of the right side: its id or its name, or itself if it is a scalar; empty: nothing.
func (d *differ) key(v any, left bool) string {
	translated := func(text string) string {
		if left && d.ids != nil && !d.exact {
			return d.ids.translate(text)
		}
		return text
	}
	switch v := v.(type) {
	case string:
		return "text " + translated(v)
	case json.Number:
		return "number " + string(v)
	case map[string]any:
		for _, name := range []string{"id", "key", "name"} {
			text, ok := v[name].(string)
			if !ok {
				continue
			}
			if _, known := d.knownID(text); name == "id" && left && looksChosen(text) && !known {
				return "" // it has another id there
			}
			return name + " " + translated(text)
		}
	}
	return ""
}

func (d *differ) knownID(id string) (string, bool) {
	if d.ids == nil || d.exact {
		return id, true
	}
	return d.ids.known(id)
}

// read gives a body as a value: JSON, the events of a stream, or text; nil: there is none.
func (m *Message) read() any {
	switch {
	case m.Body == "":
		return nil
	case strings.HasPrefix(m.Header("Content-Type"), answers.EventStream) && !m.Base64:
		return eventsOf(m.Body)
	case m.Base64:
		return m.Body
	}
	if v, err := journal.Decode([]byte(m.Body)); err == nil {
		return v
	}
	return m.Body
}

// eventsOf gives the events of a stream, with data as JSON where it is.
func eventsOf(body string) any {
	events := []any{}
	for block := range strings.SplitSeq(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		event := map[string]any{}
		for line := range strings.SplitSeq(block, "\n") {
			name, value, _ := strings.Cut(line, ":")
			if value = strings.TrimPrefix(value, " "); name == "" {
				continue // a comment
			}
			event[name] = value
			if v, err := journal.Decode([]byte(value)); err == nil && name == "data" {
				event[name] = v
			}
		}
		if len(event) > 0 {
			events = append(events, event)
		}
	}
	return events
}
