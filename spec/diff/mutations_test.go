package diff

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// mutator makes mutations of a document: changes, as a program makes them, that mean something.
type mutator struct {
	root object
	all  []func() (undo func()) // each changes the tree
	at   []string               // where, and what was done
}

func newMutator(t testing.TB, text []byte) *mutator {
	t.Helper()
	m := &mutator{}
	require.NoError(t, yaml.Unmarshal(text, &m.root))
	m.document(m.root)
	return m
}

// each calls f with the document after each of the chosen mutations that leaves one.
func (m *mutator) each(f func(at string, d Document)) {
	for _, n := range m.chosen() {
		undo := m.all[n]()
		d := Document{root: m.root, schemas: map[uintptr]schema{}}
		if d.checkReferences(d.root) == nil { // or Parse says so
			f(m.at[n], d)
		}
		undo()
	}
}

func (m *mutator) add(at string, change func() (undo func())) {
	m.all, m.at = append(m.all, change), append(m.at, at)
}

// set adds the mutation that a member becomes another value, or goes if that is nil.
func (m *mutator) set(at string, in map[string]any, key string, value any) {
	what := "gone"
	if value != nil {
		text, _ := json.Marshal(value)
		what = "becomes " + string(text)
	}
	m.add(at+"/"+key+" "+what, func() func() {
		before, had := in[key]
		if value == nil {
			delete(in, key)
		} else {
			in[key] = value
		}
		return func() {
			if had {
				in[key] = before
			} else {
				delete(in, key)
			}
		}
	})
}

type members = object

func sorted(m members) []string { return slices.Sorted(maps.Keys(m)) }

func (m *mutator) document(root members) {
	for _, path := range sorted(root["paths"].(members)) {
		item := root["paths"].(members)[path].(members)
		at := "paths/" + path
		m.set("paths", root["paths"].(members), path, nil)
		if shared, ok := item["parameters"].([]any); ok {
			m.parameters(at, shared)
		}
		for _, method := range sorted(item) {
			if op, ok := item[method].(members); ok && op["responses"] != nil {
				m.set(at, item, method, nil)
				m.operation(at+"/"+method, op)
			}
		}
	}
	used := references(root)
	components, _ := root["components"].(members)
	for _, kind := range sorted(components) {
		for _, name := range sorted(components[kind].(members)) {
			at := "components/" + kind + "/" + name
			one := components[kind].(members)[name].(members)
			switch {
			case !used["#/"+at]:
			case kind == "schemas":
				m.schema(at, one)
			case kind == "responses":
				m.response(at, one)
			case kind == "parameters":
				m.parameter(at, one)
			case kind == "headers":
				m.header(at, one)
			case kind == "requestBodies":
				m.body(at, one)
			}
		}
	}
}

// references gives what the operations lead to.
func references(root members) map[string]bool {
	used := map[string]bool{}
	var visit func(node any)
	visit = func(node any) {
		switch node := node.(type) {
		case members:
			if ref, ok := node["$ref"].(string); ok && !used[ref] {
				used[ref] = true
				var target any = root
				for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					target = target.(members)[part]
				}
				visit(target)
			}
			for _, child := range node {
				visit(child)
			}
		case []any:
			for _, child := range node {
				visit(child)
			}
		}
	}
	visit(root["paths"])
	return used
}

func (m *mutator) operation(at string, op members) {
	m.set(at, op, "operationId", "another")
	if m.root["security"] != nil { // else it leaves that to its readers
		m.set(at, op, "security", []any{members{"another": []any{}}})
	}
	m.set(at, op, "servers", []any{members{"url": "https://example.com"}})
	if list, ok := op["parameters"].([]any); ok {
		m.parameters(at, list)
	}
	m.add(at+"/parameters one more", func() func() {
		before, had := op["parameters"]
		list, _ := before.([]any)
		op["parameters"] = append(slices.Clone(list), members{"name": "another", "in": "query", "schema": members{"type": "string"}})
		return func() {
			if op["parameters"] = before; !had {
				delete(op, "parameters")
			}
		}
	})
	if body, ok := op["requestBody"].(members); ok {
		m.set(at, op, "requestBody", nil)
		m.body(at+"/requestBody", body)
	}
	responses := op["responses"].(members)
	for _, status := range sorted(responses) {
		m.set(at+"/responses", responses, status, nil)
		m.response(at+"/responses/"+status, responses[status].(members))
	}
	m.set(at+"/responses", responses, "599", members{"description": "Another."})
}

func (m *mutator) parameters(at string, list []any) {
	for i, p := range list {
		m.parameter(at+"/parameters/"+strconv.Itoa(i), p.(members))
	}
}

func (m *mutator) parameter(at string, p members) {
	if p["$ref"] != nil {
		return
	}
	required, _ := p["required"].(bool)
	m.set(at, p, "name", "another")
	m.set(at, p, "required", !required)
	m.set(at, p, "allowReserved", true)
	if explode, ok := p["explode"].(bool); ok {
		m.set(at, p, "explode", !explode)
	}
	if p["in"] == "query" {
		m.set(at, p, "style", "pipeDelimited")
	}
	m.set(at, p, "content", members{"text/plain": members{"schema": members{"type": "string"}}})
	if s, ok := p["schema"].(members); ok {
		m.schema(at+"/schema", s)
	}
}

func (m *mutator) header(at string, h members) {
	if h["$ref"] != nil {
		return
	}
	required, _ := h["required"].(bool)
	m.set(at, h, "required", !required)
	m.set(at, h, "explode", true)
	if s, ok := h["schema"].(members); ok {
		m.schema(at+"/schema", s)
	}
}

func (m *mutator) body(at string, body members) {
	if body["$ref"] != nil {
		return
	}
	required, _ := body["required"].(bool)
	m.set(at, body, "required", !required)
	m.content(at, body)
}

func (m *mutator) response(at string, r members) {
	if r["$ref"] != nil {
		return
	}
	if headers, ok := r["headers"].(members); ok {
		for _, name := range sorted(headers) {
			m.set(at+"/headers", headers, name, nil)
			m.header(at+"/headers/"+name, headers[name].(members))
		}
	}
	m.content(at, r)
}

func (m *mutator) content(at string, r members) {
	content, _ := r["content"].(members)
	for _, kind := range sorted(content) {
		media := content[kind].(members)
		m.set(at+"/content", content, kind, nil)
		m.set(at+"/content/"+kind, media, "encoding", members{"a": members{"contentType": "text/plain"}})
		if s, ok := media["schema"].(members); ok {
			m.set(at+"/content/"+kind, media, "schema", nil)
			m.schema(at+"/content/"+kind+"/schema", s)
		}
	}
}

// schema mutates each keyword, adds further ones, and goes on with the schemas below.
func (m *mutator) schema(at string, s members) {
	for _, key := range sorted(s) {
		if slices.Contains(prose, key) || strings.HasPrefix(key, "x-") {
			continue
		}
		m.keyword(at, s, key)
	}
	further := members{
		"readOnly": true, "writeOnly": true, "uniqueItems": true, "minProperties": 7, "maxProperties": 77, "multipleOf": 7, "pattern": "^another$", "format": "another", "default": members{"another": 1},
		"not": members{"const": "another"}, "if": members{"minProperties": 3}, "propertyNames": members{"maxLength": 7}, "patternProperties": members{"^another": members{"type": "null"}},
		"dependentRequired": members{"a": []any{"b"}}, "dependentSchemas": members{"a": members{"type": "null"}}, "contains": members{"const": 7}, "prefixItems": []any{members{"const": 7}},
		"contentMediaType": "text/plain", "discriminator": members{"propertyName": "another"}, "xml": members{"name": "another"},
	}
	for _, key := range sorted(further) {
		if s[key] == nil {
			m.set(at, s, key, further[key])
		}
	}
	parts := members{
		"a bound": members{"minimum": -77}, "a condition": members{"if": members{"minProperties": 3}, "then": members{"maxProperties": 9}}, "an exception": members{"not": members{"const": "other"}},
		"a property": members{"properties": members{"another": members{"type": "string"}}}, "a further pattern": members{"pattern": "^further$"},
	}
	for _, name := range sorted(parts) {
		m.add(at+"/allOf gets "+name, func() func() {
			before, had := s["allOf"]
			list, _ := before.([]any)
			s["allOf"] = append(slices.Clone(list), parts[name])
			return func() {
				if s["allOf"] = before; !had {
					delete(s, "allOf")
				}
			}
		})
	}
}

func (m *mutator) keyword(at string, s members, key string) {
	below := at + "/" + key
	switch value := s[key].(type) {
	case bool:
		m.set(at, s, key, !value)
	case string:
		switch key {
		case "$ref":
			m.set(at, s, key, nil)
		case "type":
			m.set(at, s, key, map[bool]string{true: "integer", false: "string"}[value == "string"])
		default:
			m.set(at, s, key, value+"x")
		}
		if key == "default" || key == "const" {
			m.set(at, s, key, Absent)
		}
		m.set(at, s, key, nil)
	case int:
		m.set(at, s, key, value+1)
		m.set(at, s, key, strconv.Itoa(value))
		m.set(at, s, key, nil)
	case float64:
		m.set(at, s, key, value+0.5)
		m.set(at, s, key, nil)
	case []any:
		m.set(at, s, key, nil)
		for i, one := range value {
			if len(value) > 1 {
				m.set(at, s, key, slices.Delete(slices.Clone(value), i, i+1))
			}
			if sub, ok := one.(members); ok && key != "enum" && key != "default" {
				m.schema(below+"/"+strconv.Itoa(i), sub)
			}
		}
		if key == "required" || key == "enum" {
			m.set(at, s, key, append(slices.Clone(value), "another"))
		}
	case members:
		m.set(at, s, key, nil)
		switch key {
		case "properties", "patternProperties", "dependentSchemas":
			for _, name := range sorted(value) {
				m.set(below, value, name, nil)
				m.schema(below+"/"+name, value[name].(members))
			}
			m.set(below, value, "another", members{"type": "string"})
		case "items", "additionalProperties", "unevaluatedProperties", "not", "contains", "propertyNames", "if", "then", "else":
			m.schema(below, value)
		case "discriminator":
			m.set(below, value, "propertyName", "another")
			mapping, _ := value["mapping"].(members)
			for _, name := range sorted(mapping) {
				m.set(below+"/mapping", mapping, name, nil)
				for _, other := range sorted(mapping) {
					if mapping[other] != mapping[name] {
						m.set(below+"/mapping", mapping, name, mapping[other])
					}
				}
			}
		case "dependentRequired":
			for _, name := range sorted(value) {
				m.set(below, value, name, []any{"another"})
			}
		}
	}
}

// mutationsOf is how many mutations of each document are made, at random places; BERTH_MUTATIONS=all makes every one.
const mutationsOf = 200

// chosen gives the numbers of the mutations to be made.
func (m *mutator) chosen() []int {
	if os.Getenv("BERTH_MUTATIONS") == "all" {
		all := make([]int, len(m.all))
		for i := range all {
			all[i] = i
		}
		return all
	}
	return rand.New(rand.NewPCG(1, uint64(len(m.all)))).Perm(len(m.all))[:min(mutationsOf, len(m.all))]
}

func TestCompare_SeesEveryMutation(t *testing.T) {
	t.Parallel()
	paths := []string{"../rest.yaml", "../queue.yaml", "testdata/a.yaml", "testdata/same.yaml"}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			document, err := Parse(text)
			require.NoError(t, err)
			m := newMutator(t, text)
			made := 0
			var unseen []string
			m.each(func(at string, mutated Document) {
				made++
				if len(Compare(document, mutated)) == 0 || made%8 == 0 && len(Compare(mutated, document)) == 0 {
					unseen = append(unseen, at)
				}
			})
			t.Log(made, "mutations of", len(m.all))
			require.Empty(t, unseen)
			require.GreaterOrEqual(t, made, mutationsOf*9/10)
		})
	}
}

// What only one document has is reported as a whole, and so listed without what is in it.
func TestCheck_OurListHidesNoMutation(t *testing.T) {
	t.Parallel()
	list, err := LoadExpected("../differences.yaml")
	require.NoError(t, err)
	list = Of("2.0.0", list)
	texts := [2][]byte{}
	documents := [2]Document{}
	for i, path := range []string{"../rest.yaml", "../facts/public-2026-10.overlay.yaml"} {
		d, err := Load(path)
		require.NoError(t, err)
		texts[i], err = yaml.Marshal(d.root)
		require.NoError(t, err)
		documents[i], err = Parse(texts[i])
		require.NoError(t, err)
	}
	w := compare(documents[0], documents[1])
	before := slices.Collect(maps.Keys(w.found))
	unlisted, stale := Check(before, list)
	require.Empty(t, unlisted)
	require.Empty(t, stale)
	alone := map[string]bool{}
	for _, d := range before {
		if d.A == Absent || d.B == Absent || strings.HasSuffix(d.A, " branches") {
			alone[d.At] = true
		}
	}
	for i, text := range texts {
		m := newMutator(t, text)
		made, hidden := 0, []string{}
		m.each(func(at string, mutated Document) {
			made++
			pair := documents
			pair[i] = mutated
			unlisted, stale := Check(Compare(pair[0], pair[1]), list)
			if len(unlisted)+len(stale) > 0 {
				return
			}
			for _, d := range Compare(documents[i], mutated) {
				if strings.HasSuffix(d.At, "/security") && !documents[1-i].hasSecurity() {
					continue // what one of them leaves open
				}
				for _, place := range w.places(d.At, i) {
					if !within(place, alone) {
						hidden = append(hidden, at+": "+d.String())
						break
					}
				}
			}
		})
		t.Log(made, "mutations of", len(m.all))
		require.Empty(t, hidden)
	}
}

// within reports whether a place is one of these or below one.
func within(at string, places map[string]bool) bool {
	for ; at != ""; at = at[:max(0, strings.LastIndex(at, "/"))] {
		if places[at] {
			return true
		}
	}
	return false
}

// places gives what a place of one of the documents is called when both are compared: after the components of the first. It is called
// nothing if the other document has nothing to compare its component with.
func (w *walk) places(at string, document int) (all []string) {
	components, _ := [2]Document{w.a, w.b}[document].root["components"].(object)
	kind, prefix := "schemas", ""
	if rest, ok := strings.CutPrefix(at, "responses/"); ok {
		kind, prefix, at = "responses", "responses/", rest
	}
	name, rest, _ := strings.Cut(at, "/")
	if named, _ := components[kind].(object); named[name] == nil {
		return []string{prefix + at}
	}
	for pair := range w.seen {
		own := strings.TrimPrefix(pair[0], prefix)
		if pair[0] == prefix+own && [2]string{own, pair[1]}[document] == name {
			all = append(all, join(prefix+own, rest))
		}
	}
	return all
}
