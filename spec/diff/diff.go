// Package diff reports what two OpenAPI documents describe differently: operations, parameters, bodies, statuses, headers and
// schemas, in whatever way they are cut into components. It walks both trees at once and reports a difference of a component
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
	At string `json:"at"`
	A  string `json:"a"`
	B  string `json:"b"`
}

// What a document has at a place, where it is not a plain value.
const (
	Absent  = "absent"
	Present = "present"
)

func (d Difference) String() string { return fmt.Sprintf("%s: %s | %s", d.At, d.A, d.B) }

// Compare gives the differences, sorted by place.
func Compare(a, b Document) []Difference {
	w := compare(a, b)
	return slices.SortedFunc(maps.Keys(w.found), func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
}

func compare(a, b Document) *walk {
	w := &walk{a: a, b: b, seen: map[[2]string]bool{}, around: map[[2]uintptr]bool{}, found: map[Difference]bool{}}
	w.operations()
	return w
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
	security := w.a.hasSecurity() && w.b.hasSecurity() // one that does not leaves it to its readers
	w.both("", w.a.operations(), w.b.operations(), func(name string, x, y any) {
		a, b := x.(object), y.(object)
		w.both(name+"/parameters", w.a.parameters(a), w.b.parameters(b), func(key string, x, y any) {
			w.parameter(name+"/parameters/"+key, x.(object), y.(object))
		})
		w.body(name+"/requestBody", a, b)
		w.both(name+"/responses", responses(a), responses(b), func(status string, x, y any) {
			w.response(name+"/responses/"+status, x, y)
		})
		if security {
			w.leaf(name+"/security", w.a.security(a), w.b.security(b))
		}
		w.others(name, a, b, "parameters", "requestBody", "responses", "security")
	})

	w.leaf("webhooks", w.a.root["webhooks"], w.b.root["webhooks"])
}

// others compares what an object has besides the members that are compared by themselves. Whatever it is, it is not passed over.
func (w *walk) others(at string, a, b object, compared ...string) {
	a, b = structure(a), structure(b)
	for _, key := range slices.Sorted(maps.Keys(both(a, b))) {
		if !slices.Contains(compared, key) {
			w.leaf(at+"/"+key, a[key], b[key])
		}
	}
}

// operations gives the operations by method and path; what a path says for all is with each.
func (d Document) operations() object {
	all := object{}
	for path, item := range d.root["paths"].(object) {
		item, _ := d.resolve(item)
		if isExtension(path) {
			continue
		}
		shared, _ := item["parameters"].([]any)
		for method, op := range item {
			fields, ok := op.(object)
			if _, has := fields["responses"].(object); !ok || !has && !isMethod(method) {
				continue
			}
			fields = maps.Clone(fields)
			own, _ := fields["parameters"].([]any)
			fields["parameters"] = slices.Concat(shared, own) // an own one replaces a shared one of its name below
			if fields["servers"] == nil && item["servers"] != nil {
				fields["servers"] = item["servers"]
			}
			all[strings.ToUpper(method)+" "+path] = fields
		}
	}

	return all
}

// responses gives the answers of an operation, which need not say any.
func responses(op object) object {
	all, _ := op["responses"].(object)
	return all
}

// hasSecurity reports whether the document says of any operation how to authenticate.
func (d Document) hasSecurity() bool {
	if d.root["security"] != nil {
		return true
	}
	for _, op := range d.operations() {
		if op.(object)["security"] != nil {
			return true
		}
	}
	return false
}

// security gives the ways to authenticate, each by what it is: its name is the document's own.
func (d Document) security(op object) any {
	ways, ok := op["security"].([]any)
	if !ok {
		ways, _ = d.root["security"].([]any)
	}

	shown := []any{}
	for _, way := range ways {
		var schemes []any
		way, _ := way.(object)
		for name, scopes := range way {
			scheme, _ := d.resolve(d.target("#/components/securitySchemes/" + name))
			scheme = structure(scheme)
			delete(scheme, "bearerFormat") // for people
			schemes = append(schemes, object{"scheme": scheme, "scopes": scopes})
		}
		slices.SortFunc(schemes, func(x, y any) int { return cmp.Compare(text(x), text(y)) })
		shown = append(shown, schemes)
	}

	return shown
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
	w.content(at, a, b)
	w.others(at, a, b, "name", "in", "required", "style", "explode", "schema", "content")
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
	w.others(at, x, y, "required", "content")
}

func presence(m object) string {
	if m == nil {
		return Absent
	}
	return Present
}

// response compares a response; one that is a component is reported once.
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
		w.parameter(at+"/headers/"+name, p, q)
	})

	w.content(at, a, b)
	w.others(at, a, b, "headers", "content", "links") // links promise nothing
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
		p, _ := x.(object)
		q, _ := y.(object)
		w.schema(at+"/"+kind, p["schema"], q["schema"])
		w.others(at+"/"+kind, p, q, "schema")
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
		if key == "discriminator" {
			w.discriminator(at+"/"+key, a.keywords, b.keywords)
			continue
		}
		w.keyword(at+"/"+key, key, a.keywords[key], b.keywords[key])
	}
}

func (w *walk) keyword(at, key string, a, b any) {
	switch key {
	case "properties", "patternProperties", "dependentSchemas":
		p, _ := a.(object)
		q, _ := b.(object)
		w.both(at, p, q, func(name string, x, y any) { w.schema(at+"/"+name, x, y) })

	case "required", "enum":
		w.both(at, set(a), set(b), func(string, any, any) {})

	case "type":
		w.leaf(at, types(a), types(b))

	case "oneOf", "anyOf", "allOf", "prefixItems":
		p, _ := a.([]any)
		q, _ := b.([]any)
		if len(p) != len(q) {
			w.note(at, strconv.Itoa(len(p))+" branches", strconv.Itoa(len(q))+" branches")
			return
		}
		for i := range p {
			w.schema(at+"/"+strconv.Itoa(i), p[i], q[i])
		}

	case "items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "not", "contains", "propertyNames", "if", "then", "else", "contentSchema":
		_, isA := a.(object)
		_, isB := b.(object)
		if isA && isB {
			w.schema(at, a, b)
			return
		}
		w.note(at, value(a), value(b))

	default:
		w.leaf(at, a, b)
	}
}

// discriminator compares which values lead to which branches, whatever the branches are called.
func (w *walk) discriminator(at string, a, b object) {
	p, _ := a["discriminator"].(object)
	q, _ := b["discriminator"].(object)
	if p == nil || q == nil {
		w.note(at, presence(p), presence(q))
		return
	}
	w.both(at+"/mapping", mapping(a), mapping(b), func(name string, x, y any) { w.leaf(at+"/mapping/"+name, x, y) })
	w.others(at, p, q, "mapping")
}

// mapping gives the number of the branch that each value leads to. A branch that no value leads to has the name of its component
// as its value.
func mapping(s object) object {
	given, _ := s["discriminator"].(object)["mapping"].(object)
	one, _ := s["oneOf"].([]any)
	any, _ := s["anyOf"].([]any)

	names := map[string]int{}
	for i, branch := range slices.Concat(one, any) {
		m, _ := branch.(object)
		if ref, ok := m["$ref"].(string); ok {
			names[ref[strings.LastIndex(ref, "/")+1:]] = i
		}
	}

	all, led := object{}, map[string]bool{}
	for value, target := range given {
		name := text(target)
		name = name[strings.LastIndex(name, "/")+1:]
		all[value] = text(target)
		if i, ok := names[name]; ok {
			all[value], led[name] = i, true
		}
	}

	for name, i := range names {
		if !led[name] {
			all[name] = i
		}
	}

	return all
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

// leaf notes values that are not the same.
func (w *walk) leaf(at string, a, b any) { w.note(at, shown(a), shown(b)) }

// shown gives a value as it is shown.
func shown(v any) string {
	if v == nil {
		return Absent
	}
	return text(v)
}

// value gives what a keyword has that takes a schema.
func value(v any) string {
	if _, ok := v.(object); ok {
		return Present
	}
	return shown(v)
}

// text gives JSON, and text without quotes where nothing else is written so.
func text(v any) string {
	s, plain := v.(string)
	if plain && s != Absent && s != Present && !json.Valid([]byte(s)) {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // YAML has keys that JSON has not
	}
	return string(b)
}
