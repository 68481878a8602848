// Package diff tells what two OpenAPI documents describe differently: operations, parameters, bodies, statuses, headers and
// schemas, in whatever way they are cut into components. It walks both trees at once and tells a difference of a component
// once, where oasdiff repeats it wherever the component is used.
package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is one thing that two documents describe differently. At is the place: a component of the first document, or an
// operation, and the way from there. A and B are what the documents have there: JSON, or Absent or Present.
type Difference struct {
	At string `yaml:"at" json:"at"`
	A  string `yaml:"a" json:"a"`
	B  string `yaml:"b" json:"b"`
}

// What a document has at a place, where it is not a plain value.
const (
	Absent  = "absent"
	Present = "present"
)

func (d Difference) String() string { return fmt.Sprintf("%s: %s | %s", d.At, d.A, d.B) }

// Compare gives the differences, sorted by place.
func Compare(a, b Document) []Difference {
	w := walk{a: a, b: b, seen: map[[2]string]bool{}, around: map[[2]uintptr]bool{}, found: map[Difference]bool{}}
	w.operations()
	return slices.SortedFunc(maps.Keys(w.found), func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
}

type walk struct {
	a, b   Document
	seen   map[[2]string]bool  // pairs of components that were compared
	around map[[2]uintptr]bool // pairs of schemas that are being compared, around this one
	found  map[Difference]bool
}

// note notes a difference, unless both are the same.
func (w *walk) note(at, a, b string) {
	if a != b {
		w.found[Difference{at, a, b}] = true
	}
}

// both calls f for every key that both have, and notes the others.
func (w *walk) both(at string, a, b object, f func(key string, a, b any)) {
	for key := range a {
		if _, ok := b[key]; !ok {
			w.note(join(at, key), Present, Absent)
		}
	}
	for key, other := range b {
		if value, ok := a[key]; ok {
			f(key, value, other)
		} else {
			w.note(join(at, key), Absent, Present)
		}
	}
}

// both gives the members of two objects.
func both(a, b object) object {
	all := object{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "/" + key
}

// operations compares the documents by method and path.
func (w *walk) operations() {
	w.both("", w.a.operations(), w.b.operations(), func(name string, x, y any) {
		a, b := x.(object), y.(object)
		w.leaf(name+"/operationId", a["operationId"], b["operationId"])
		w.both(name+"/parameters", w.a.parameters(a), w.b.parameters(b), func(key string, x, y any) {
			w.parameter(name+"/parameters/"+key, x.(object), y.(object))
		})
		w.body(name+"/requestBody", a, b)
		w.both(name+"/responses", a["responses"].(object), b["responses"].(object), func(status string, x, y any) {
			w.response(name+"/responses/"+status, x, y)
		})
	})
}

// operations gives the operations by method and path; parameters of a path are with each.
func (d Document) operations() object {
	all := object{}
	for path, item := range d.root["paths"].(object) {
		item, _ := d.resolve(item)
		shared, _ := item["parameters"].([]any)
		for method, op := range item {
			fields, ok := op.(object)
			if _, has := fields["responses"].(object); !ok || !has {
				continue
			}
			fields = maps.Clone(fields)
			own, _ := fields["parameters"].([]any)
			fields["parameters"] = slices.Concat(shared, own) // an own one replaces a shared one of its name below
			all[strings.ToUpper(method)+" "+path] = fields
		}
	}
	return all
}

// parameters gives the parameters of an operation by place and name.
func (d Document) parameters(op object) object {
	all := object{}
	for _, p := range op["parameters"].([]any) {
		p, _ := d.resolve(p)
		all[fmt.Sprint(p["in"], ".", p["name"])] = p
	}
	return all
}

func (w *walk) parameter(at string, a, b object) {
	w.leaf(at+"/required", orElse(a["required"], false), orElse(b["required"], false))
	w.leaf(at+"/style", style(a), style(b))
	w.leaf(at+"/explode", orElse(a["explode"], style(a) == "form"), orElse(b["explode"], style(b) == "form"))
	w.schema(at, a["schema"], b["schema"])
}

// style gives how a parameter is written; form for the query, unless it says so itself.
func style(p object) any {
	if p["in"] == "query" || p["in"] == "cookie" {
		return orElse(p["style"], "form")
	}
	return orElse(p["style"], "simple")
}

func orElse(value, otherwise any) any {
	if value == nil {
		return otherwise
	}
	return value
}

func (w *walk) body(at string, a, b object) {
	x, _ := w.a.resolve(a["requestBody"])
	y, _ := w.b.resolve(b["requestBody"])
	if x == nil || y == nil {
		w.note(at, presence(x), presence(y))
		return
	}
	w.leaf(at+"/required", orElse(x["required"], false), orElse(y["required"], false))
	w.content(at, x, y)
}

func presence(m object) string {
	if m == nil {
		return Absent
	}
	return Present
}

// response compares a response; one that is a component is told of once.
func (w *walk) response(at string, x, y any) {
	a, nameA := w.a.resolve(x)
	b, nameB := w.b.resolve(y)
	at, again := w.component("responses/", at, nameA, nameB)
	if again {
		return
	}
	headers := func(m object) object {
		h, _ := m["headers"].(object)
		return h
	}
	w.both(at+"/headers", headers(a), headers(b), func(name string, x, y any) {
		p, _ := w.a.resolve(x)
		q, _ := w.b.resolve(y)
		w.schema(at+"/headers/"+name, p["schema"], q["schema"])
	})
	w.content(at, a, b)
}

// component gives the place of a component, and whether the pair was compared before.
func (w *walk) component(kind, at, nameA, nameB string) (place string, again bool) {
	if nameA == "" || nameB == "" {
		return at, false
	}
	pair := [2]string{kind + nameA, nameB}
	again, w.seen[pair] = w.seen[pair], true
	return kind + nameA, again
}

func (w *walk) content(at string, a, b object) {
	media := func(m object) object {
		c, _ := m["content"].(object)
		return c
	}
	w.both(at, media(a), media(b), func(kind string, x, y any) {
		w.schema(at+"/"+kind, x.(object)["schema"], y.(object)["schema"])
	})
}

// schema compares two schemas keyword by keyword.
func (w *walk) schema(at string, x, y any) {
	a, b := w.a.schema(x), w.b.schema(y)
	at, again := w.component("", at, a.name, b.name)
	pair := [2]uintptr{identity(a.keywords), identity(b.keywords)}
	if again || w.around[pair] {
		return
	}
	w.around[pair] = true
	defer delete(w.around, pair)
	for _, key := range slices.Sorted(maps.Keys(both(a.keywords, b.keywords))) {
		w.keyword(at+"/"+key, key, a.keywords[key], b.keywords[key])
	}
}

func (w *walk) keyword(at, key string, a, b any) {
	switch key {
	case "properties":
		p, _ := a.(object)
		q, _ := b.(object)
		w.both(at, p, q, func(name string, x, y any) { w.schema(at+"/"+name, x, y) })
	case "required", "enum":
		w.both(at, set(a), set(b), func(string, any, any) {})
	case "type":
		w.leaf(at, types(a), types(b))
	case "oneOf", "anyOf":
		p, _ := a.([]any)
		q, _ := b.([]any)
		if len(p) != len(q) {
			w.note(at, strconv.Itoa(len(p))+" branches", strconv.Itoa(len(q))+" branches")
			return
		}
		for i := range p {
			w.schema(at+"/"+strconv.Itoa(i), p[i], q[i])
		}
	case "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else":
		_, isA := a.(object)
		_, isB := b.(object)
		if isA && isB {
			w.schema(at, a, b)
			return
		}
		fallthrough
	default:
		w.leaf(at, a, b)
	}
}

// set gives the members of a list as keys.
func set(list any) object {
	members := object{}
	all, _ := list.([]any)
	for _, m := range all {
		members[text(m)] = true
	}
	return members
}

// types gives a type as a sorted list, or alone.
func types(t any) any {
	list, ok := t.([]any)
	if !ok {
		return t
	}
	if len(list) == 1 {
		return list[0]
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y any) int { return cmp.Compare(text(x), text(y)) })
	return list
}

// leaf notes plain values that are not the same.
func (w *walk) leaf(at string, a, b any) { w.note(at, value(a), value(b)) }

// value gives a plain value as it is shown.
func value(v any) string {
	switch v.(type) {
	case nil:
		return Absent
	case object:
		return Present
	}
	return text(v)
}

// text gives JSON, and text without quotes.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // YAML has keys that JSON has not
	}
	return string(b)
}
