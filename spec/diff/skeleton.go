package diff

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/spec/overlay"
)

// skeleton writes an overlay that makes of document a what document b has.
type skeleton struct {
	*walk
	lists   map[string]bool // required and enum lists that are written already, by target
	needed  []string        // components of b that a does not have
	actions []action
}

// action is an action of the overlay as it is written.
type action struct {
	Target string `yaml:"target"`
	Update any    `yaml:"update,omitempty"`
	Remove bool   `yaml:"remove,omitempty"`
}

// Skeleton writes an overlay over a file that extends names: with it the differences of the list become as b has them. What is not
// written, since a person is to say how, is left, and stands in a comment. The name is that of the edition.
func Skeleton(a, b Document, list []Difference, name, extends string) (text []byte, left []Difference, err error) {
	s := &skeleton{walk: compare(a, b), lists: map[string]bool{}}
	s.update(object{"version": name}, "info")
	for _, d := range list {
		s.write(d)
	}
	for i := 0; i < len(s.needed); i++ { // writing one may need others
		component := s.needed[i]
		s.update(object{component: s.plain(s.b.schema(s.b.target("#/components/schemas/" + component)).keywords)}, "components", "schemas")
	}

	file := struct {
		Overlay string            `yaml:"overlay"`
		Info    map[string]string `yaml:"info"`
		Extends string            `yaml:"extends"`
		Actions []action          `yaml:"actions"`
	}{"1.0.0", map[string]string{"title": "To be reviewed", "version": name}, extends, s.actions}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(file); err != nil {
		return nil, nil, err
	}

	after, err := a.with(out.Bytes())
	if err != nil {
		return nil, nil, err
	}
	still := Compare(after, b)
	for _, d := range list {
		if slices.Contains(still, d) {
			left = append(left, d)
		}
	}
	var head strings.Builder
	fmt.Fprintf(&head, "# Made by a program, to be reviewed: prose, closed objects and what handlers do are for people. It becomes an edition as\n# spec/editions/%s.overlay.yaml.\n", name)
	for _, d := range left {
		fmt.Fprintf(&head, "# by hand: %s\n", d)
	}
	return append([]byte(head.String()), out.Bytes()...), left, nil
}

// with gives the document as the overlay makes it.
func (d Document) with(text []byte) (Document, error) {
	var root, changes yaml.Node
	if err := root.Encode(d.root); err != nil {
		return d, err
	}
	if err := yaml.Unmarshal(text, &changes); err != nil {
		return d, err
	}
	if err := overlay.Apply(&root, changes.Content[0]); err != nil {
		return d, err
	}
	return document(&root)
}

func (s *skeleton) update(value any, steps ...string) {
	s.actions = append(s.actions, action{Target: target(steps), Update: value})
}

func (s *skeleton) remove(steps ...string) {
	s.actions = append(s.actions, action{Target: target(steps), Remove: true})
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// target writes the path to a part of a document.
func target(steps []string) string {
	path := "$"
	for _, step := range steps {
		if plainName.MatchString(step) {
			path += "." + step
		} else {
			path += "['" + step + "']"
		}
	}
	return path
}

// write writes the actions for one difference, if it is one that a program can write.
func (s *skeleton) write(d Difference) {
	if at := s.operationOf(d.At); at != "" {
		s.operation(d, at, strings.Split(strings.TrimPrefix(d.At, at), "/")[1:])
		return
	}
	names := strings.Split(d.At, "/")
	for _, component := range s.components(names[0]) {
		if s.schemaOf(d, names[0], s.b.schema(s.b.target("#/components/schemas/"+component)).keywords, names[1:]) {
			return
		}
	}
}

// operationOf gives the operation, of either document, that a place is in: the longest, since the path of one often begins with that of
// another; "": it is in none.
func (s *skeleton) operationOf(place string) (longest string) {
	for at := range both(s.a.operations(), s.b.operations()) {
		if (place == at || strings.HasPrefix(place, at+"/")) && len(at) > len(longest) {
			longest = at
		}
	}
	return longest
}

// components gives the components of b that one of a was compared with.
func (s *skeleton) components(ofA string) (names []string) {
	for pair := range s.seen {
		if pair[0] == ofA {
			names = append(names, pair[1])
		}
	}
	slices.Sort(names)
	return names
}

// operation writes a difference of an operation: that there is one, a parameter or an answer.
func (s *skeleton) operation(d Difference, at string, rest []string) {
	method, path, _ := strings.Cut(at, " ")
	method = strings.ToLower(method)
	op, _ := s.b.operations()[at].(object)
	switch {
	case len(rest) == 0 && d.A == Absent:
		s.update(object{path: object{method: s.described(op)}}, "paths")
	case len(rest) == 0:
		s.remove("paths", path, method)
	case len(rest) == 2 && rest[0] == "parameters" && d.A == Absent:
		s.update(object{"parameters": []any{s.parameter(s.b.parameters(op)[rest[1]].(object))}}, "paths", path, method)
	case len(rest) == 2 && rest[0] == "responses" && d.A == Absent:
		s.update(object{rest[1]: s.answer(responses(op)[rest[1]])}, "paths", path, method, "responses")
	case len(rest) == 2 && rest[0] == "responses" && d.B == Absent:
		s.remove("paths", path, method, "responses", rest[1])
	}
}

// described writes an operation of b.
func (s *skeleton) described(op object) object {
	answers := object{}
	own := object{"summary": "To be written.", "responses": answers}
	if id, ok := op["operationId"]; ok {
		own["operationId"] = id
	}
	all := s.b.parameters(op)
	var parameters []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parameters = append(parameters, s.parameter(all[name].(object)))
	}
	if parameters != nil {
		own["parameters"] = parameters
	}
	if body, _ := s.b.resolve(op["requestBody"]); body != nil {
		own["requestBody"] = object{"required": orElse(body["required"], false), "content": s.media(body)}
	}
	given := responses(op)
	for _, status := range slices.Sorted(maps.Keys(given)) {
		answers[status] = s.answer(given[status])
	}
	return own
}

func (s *skeleton) parameter(p object) object {
	own := structure(p)
	own["schema"] = s.plain(p["schema"])
	return own
}

// answer writes an answer of b: the component of a that it was compared with, or what it is.
func (s *skeleton) answer(node any) object {
	m, name := s.b.resolve(node)
	if ofA := s.counterpart("responses/", name); ofA != "" {
		return object{"$ref": "#/components/responses/" + ofA}
	}
	own := object{"description": "To be written."}
	if content := s.media(m); len(content) > 0 {
		own["content"] = content
	}
	headers, _ := m["headers"].(object)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		header, _ := s.b.resolve(headers[name])
		all, _ := own["headers"].(object)
		own["headers"] = both(all, object{name: object{"schema": s.plain(header["schema"])}})
	}
	return own
}

func (s *skeleton) media(m object) object {
	own := object{}
	content, _ := m["content"].(object)
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		c, _ := content[kind].(object)
		own[kind] = object{"schema": s.plain(c["schema"])}
	}
	return own
}

// schemaOf writes a difference of a component of a, where the names lead to. It reports whether b has what they lead to.
func (s *skeleton) schemaOf(d Difference, component string, b object, names []string) bool {
	steps, a := []string{"components", "schemas", component}, s.a.target("#/components/schemas/"+component)
	for len(names) > 2 && names[0] == "properties" || len(names) > 1 && names[0] == "items" {
		step := names[:2]
		if names[0] == "items" {
			step = names[:1]
		}
		for _, name := range step {
			inA, _ := a[name].(object)
			inB, _ := b[name].(object)
			if inA == nil || inB == nil {
				return false
			}
			a, b = inA, inB
		}
		b = s.b.schema(b).keywords
		steps, names = append(slices.Clone(steps), step...), names[len(step):]
	}

	key := names[0]
	switch {
	case len(names) == 2 && key == "properties" && d.A == Absent:
		properties, _ := b[key].(object)
		if properties[names[1]] == nil {
			return false
		}
		s.update(object{key: object{names[1]: s.plain(properties[names[1]])}}, steps...)
	case len(names) == 2 && key == "properties":
		s.remove(append(steps, names...)...)
	case len(names) == 2 && (key == "required" || key == "enum"):
		s.list(steps, key, a, b)
	case len(names) == 1 && d.B == Absent:
		s.remove(append(steps, key)...)
	case len(names) == 1:
		if _, scalar := a[key].(string); a[key] != nil && !scalar {
			s.remove(append(slices.Clone(steps), key)...) // or a list would be added to
		}
		s.update(object{key: s.plain(object{key: b[key]}).(object)[key]}, steps...)
	}
	return true
}

// list has a list become that of b, once for all differences of it.
func (s *skeleton) list(steps []string, key string, a, b object) {
	at := append(slices.Clone(steps), key)
	if s.lists[target(at)] {
		return
	}
	s.lists[target(at)] = true
	if a[key] != nil {
		s.remove(at...)
	}
	if b[key] != nil {
		s.update(object{key: b[key]}, steps...)
	}
}

// counterpart gives the component of a that one of b was compared with, of several the one with its name, else the first; "": none. The kind
// is as component has it.
func (s *skeleton) counterpart(kind, ofB string) (ofA string) {
	if s.seen[[2]string{kind + ofB, ofB}] {
		return ofB
	}
	for pair := range s.seen {
		name, ok := strings.CutPrefix(pair[0], kind)
		if ok && pair[1] == ofB && !strings.Contains(name, "/") && (ofA == "" || name < ofA) {
			ofA = name
		}
	}
	return ofA
}

// unwritten are keywords that the documents of this directory do not have.
var unwritten = []string{"if", "then", "else", "unevaluatedProperties"}

// plain writes a schema of b in terms of a: a reference to the component that it was compared with there, or to one that is to be written.
func (s *skeleton) plain(node any) any {
	m, ok := node.(object)
	if !ok {
		return node
	}
	made := s.b.schema(m)
	if made.name != "" {
		if ofA := s.counterpart("", made.name); ofA != "" {
			return object{"$ref": "#/components/schemas/" + ofA}
		}
		if !slices.Contains(s.needed, made.name) {
			s.needed = append(s.needed, made.name)
		}
		return object{"$ref": "#/components/schemas/" + made.name}
	}

	own := object{}
	for _, key := range slices.Sorted(maps.Keys(made.keywords)) {
		if slices.Contains(unwritten, key) {
			continue
		}
		value := made.keywords[key]
		own[key] = value
		switch key {
		case "properties":
			properties := object{}
			given, _ := value.(object)
			for _, name := range slices.Sorted(maps.Keys(given)) {
				properties[name] = s.plain(given[name])
			}
			own[key] = properties
		case "items", "additionalProperties":
			own[key] = s.plain(value)
		case "oneOf", "anyOf", "allOf":
			var branches []any
			given, _ := value.([]any)
			for _, branch := range given {
				branches = append(branches, s.plain(branch))
			}
			own[key] = branches
		}
	}
	return own
}
