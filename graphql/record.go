package graphql

import (
	"encoding/json"
	"slices"
	"strings"
	"unique"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/berthdev/berth/impl/journal"
)

// secretInputs are the fields of inputs that are secret and never answered, input.field.
var secretInputs = map[string]bool{"SecretCreateInput.value": true, "SaveRegistryAuthInput.password": true, "UpdateRegistryAuthInput.password": true}

// variable is the type of a variable of an environment, whose key says whether its value is secret, and variableInput that of inputs.
const (
	variable      = "EnvironmentVariable"
	variableInput = "EnvironmentVariableInput"
)

// errorText has the words of an error, which may repeat a value of the document.
const errorText = "message"

// Recorded gives what a body asks for, for the journal, the body without what is secret in it, and what is secret in its answer. Of what is no
// document nothing can be told: nil, and all of it is masked.
func (h *Handler) Recorded(body []byte) (asked *journal.Document, masked []byte, answer journal.Secrets) {
	return Recorded(body, h.Limits)
}

// Recorded is that of a handler with the limits, for who records what it answers from outside.
func Recorded(body []byte, l Limits) (asked *journal.Document, masked []byte, answer journal.Secrets) {
	hidden := journal.Hide(body, false)
	params, err := parse(body)
	if err != nil {
		return nil, hidden, journal.Secrets{Names: []string{errorText}}
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, l.Tokens)
	if err != nil || selectionsOf(document) > l.Fields {
		return nil, hidden, journal.Secrets{Names: []string{errorText}}
	}

	m := &masking{schema: schema(), document: document, params: params, declared: map[string]bool{}, whole: map[string]bool{}, seen: map[*ast.FragmentDefinition]bool{}}
	for _, o := range document.Operations {
		m.operation(o)
	}
	asked = &journal.Document{Fields: []string{}}
	for _, o := range document.Operations {
		if len(document.Operations) == 1 || o.Name == params.OperationName {
			asked.Name, asked.Fields = strings.Clone(o.Name), append(asked.Fields, m.fieldsOf(o.SelectionSet, map[*ast.FragmentDefinition]bool{})...)
			break
		}
	}

	if masked, err = m.masked(body); err != nil {
		masked = hidden
	}
	if len(m.spans) > 0 || m.changed {
		m.answer.Names = append(m.answer.Names, errorText)
	}
	return asked, masked, m.answer
}

// selectionsOf counts what stands in a document: one that is too long is not looked into.
func selectionsOf(d *ast.QueryDocument) (n int) {
	for _, o := range d.Operations {
		n += selections(o.SelectionSet)
	}
	for _, f := range d.Fragments {
		n += selections(f.SelectionSet)
	}
	return n
}

// masking finds what is secret in a document, which need not be valid.
type masking struct {
	schema   *ast.Schema
	document *ast.QueryDocument
	params   *graphql.RawParams
	seen     map[*ast.FragmentDefinition]bool

	spans    []*ast.Position // of the values in the query
	declared map[string]bool // variables that an operation declares
	whole    map[string]bool // variables that are secret
	changed  bool            // a variable has something that is
	answer   journal.Secrets // by the names that fields have in it
}

// fieldsOf gives the names of the fields of a selection, with those of its fragments but what is visited already, since one may be in itself. Each is
// a copy, which many have in common: a part of the query would keep all of it in memory, and what is secret in it.
func (m *masking) fieldsOf(set ast.SelectionSet, visited map[*ast.FragmentDefinition]bool) (names []string) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			names = append(names, unique.Make(s.Name).Value())
		case *ast.InlineFragment:
			names = append(names, m.fieldsOf(s.SelectionSet, visited)...)
		case *ast.FragmentSpread:
			if f := m.document.Fragments.ForName(s.Name); f != nil && !visited[f] {
				visited[f] = true
				names = append(names, m.fieldsOf(f.SelectionSet, visited)...)
			}
		}
	}
	return names
}

func (m *masking) operation(o *ast.OperationDefinition) {
	root := m.schema.Query
	if o.Operation == ast.Mutation {
		root = m.schema.Mutation
	}
	m.directives(o.Directives)
	m.selection(root, o.SelectionSet)
	for _, v := range o.VariableDefinitions {
		m.directives(v.Directives)
		unknown := m.schema.Types[v.Type.Name()] == nil && v.Type.Name() != idType
		m.declared[v.Variable] = true
		m.whole[v.Variable] = m.whole[v.Variable] || unknown
		if v.DefaultValue != nil {
			m.value(v.DefaultValue, v.Type, m.whole[v.Variable])
		}
		if given, ok := m.params.Variables[v.Variable]; ok {
			m.params.Variables[v.Variable] = m.variable(given, v.Type)
		}
	}
}

// selection looks into the arguments of fields of a type; nil: it is not known.
func (m *masking) selection(of *ast.Definition, set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			var field *ast.FieldDefinition
			var next *ast.Definition
			if of != nil {
				field = of.Fields.ForName(s.Name)
			}
			if field != nil {
				next = m.schema.Types[field.Type.Name()]
			}

			for _, a := range s.Arguments {
				var t *ast.Type
				if field != nil {
					if known := field.Arguments.ForName(a.Name); known != nil {
						t = known.Type
					}
				}
				m.value(a.Value, t, t == nil)
			}
			m.directives(s.Directives)
			m.answered(of, field, s)
			m.selection(next, s.SelectionSet)
		case *ast.InlineFragment:
			m.directives(s.Directives)
			m.selection(of, s.SelectionSet)
		case *ast.FragmentSpread:
			m.directives(s.Directives)
			if f := m.document.Fragments.ForName(s.Name); f != nil && !m.seen[f] {
				m.seen[f] = true
				m.directives(f.Directives)
				m.selection(m.schema.Types[f.TypeCondition], f.SelectionSet)
			}
		}
	}
}

// answered notes what is secret in the answer to a field that has another name there.
func (m *masking) answered(of *ast.Definition, field *ast.FieldDefinition, s *ast.Field) {
	if s.Alias == s.Name {
		return
	}
	switch {
	case field != nil && field.Type.Name() == variable:
		m.answer.Maps = append(m.answer.Maps, s.Alias)
	case of != nil && of.Name == variable && s.Name == "value":
		m.answer.Names = append(m.answer.Names, s.Alias)
	case of != nil && of.Name == variable && s.Alias == "key": // which says nothing of the value
		m.answer.Names = append(m.answer.Names, "value")
	case s.Name == "apiKey":
		m.answer.Whole = append(m.answer.Whole, s.Alias)
	}
}

// directives looks into the arguments of directives.
func (m *masking) directives(all ast.DirectiveList) {
	for _, d := range all {
		known := m.schema.Directives[d.Name]
		for _, a := range d.Arguments {
			var t *ast.Type
			if known != nil {
				if argument := known.Arguments.ForName(a.Name); argument != nil {
					t = argument.Type
				}
			}
			m.value(a.Value, t, t == nil)
		}
	}
}

// value looks into a value in the query. One whose type is not known is taken for secret.
func (m *masking) value(v *ast.Value, t *ast.Type, secret bool) {
	if v == nil {
		return
	}
	switch v.Kind {
	case ast.Variable:
		m.whole[v.Raw] = m.whole[v.Raw] || secret
	case ast.ListValue:
		for _, c := range v.Children {
			m.value(c.Value, elementOf(t), secret)
		}
	case ast.ObjectValue:
		input := m.input(t)

		for _, c := range v.Children {
			next, hidden := m.member(input, c.Name, func() (string, bool) {
				key := v.Children.ForName("key")
				if key == nil {
					return "", false
				}
				if key.Kind == ast.Variable {
					text, ok := m.params.Variables[key.Raw].(string)
					return text, ok
				}
				return key.Raw, true
			})
			m.value(c.Value, next, secret || hidden)
		}
	case ast.NullValue, ast.BooleanValue:
	default:
		if secret {
			m.spans = append(m.spans, v.Position)
		}
	}
}

func elementOf(t *ast.Type) *ast.Type {
	if t != nil && t.Elem != nil {
		return t.Elem
	}
	return t // a value stands for a list of one
}

// input gives the input that a type is; nil: it is none.
func (m *masking) input(t *ast.Type) *ast.Definition {
	if t == nil {
		return nil
	}
	if d := m.schema.Types[t.Name()]; d != nil && d.Kind == ast.InputObject {
		return d
	}
	return nil
}

// member gives the type of a member of an input, and whether it is secret; key gives the name of a variable of an environment.
func (m *masking) member(input *ast.Definition, name string, key func() (string, bool)) (t *ast.Type, secret bool) {
	if input == nil {
		return nil, true
	}
	field := input.Fields.ForName(name)
	if field == nil {
		return nil, true
	}
	if input.Name == variableInput && name == "value" {
		of, known := key()
		return field.Type, !known || journal.SecretName(of)
	}
	return field.Type, secretInputs[input.Name+"."+name]
}

// variable gives the value of a variable without what is secret in it.
func (m *masking) variable(v any, t *ast.Type) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = m.variable(v[i], elementOf(t))
		}
	case map[string]any:
		input := m.input(t)
		for name, inner := range v {
			next, hidden := m.member(input, name, func() (string, bool) {
				key, ok := v["key"].(string)
				return key, ok
			})
			if hidden {
				v[name], m.changed = journal.Masked, true
			} else {
				v[name] = m.variable(inner, next)
			}
		}
	}
	return v
}

// masked gives the body without what was found.
func (m *masking) masked(body []byte) ([]byte, error) {
	for name := range m.params.Variables {
		if m.whole[name] || !m.declared[name] {
			m.params.Variables[name], m.changed = journal.Masked, true
		}
	}
	if len(m.spans) == 0 && !m.changed {
		return body, nil
	}

	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	var err error
	if members["query"], err = json.Marshal(m.query()); err != nil {
		return nil, err
	}
	if m.changed {
		if members["variables"], err = json.Marshal(m.params.Variables); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members)
}

// query gives the query without the values that are secret.
func (m *masking) query() string {
	var b strings.Builder
	runes, at := []rune(m.params.Query), 0
	slices.SortFunc(m.spans, func(a, b *ast.Position) int { return a.Start - b.Start })
	for _, p := range m.spans {
		if p.Start < at {
			continue // a fragment was looked into twice
		}
		b.WriteString(string(runes[at:p.Start]) + `"` + journal.Masked + `"`)
		at = min(p.End, len(runes))
	}
	b.WriteString(string(runes[at:]))
	return b.String()
}
