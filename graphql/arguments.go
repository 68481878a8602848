package graphql

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

// checkArguments holds the values of all arguments against their types, whether they stand in the document or came as
// variables. The libraries would make text of a number and a number of text, and find a number that is too large only
// while they execute (rule graphql.variables).
func checkArguments(schema *ast.Schema, o *graphql.OperationContext) error {
	a := arguments{schema: schema, variables: o.Variables, seen: map[*ast.FragmentDefinition]bool{}}
	a.selection(o.Operation.SelectionSet)
	if len(a.fields) == 0 {
		return nil
	}
	return &compute.Error{Code: compute.Invalid, Detail: a.fields[0], Fields: a.fields}
}

// canonical gives the value of a variable in the form that the libraries read. Where its type has no empty text, as enums and times have
// none, that is null: clients send it for what is not set (rule graphql.variables.empty). Where its type is Int, 2.0 is 2, as in JSON it
// is one number (rule graphql.variables.whole).
func canonical(schema *ast.Schema, t *ast.Type, value any) any {
	if t.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			return canonical(schema, t.Elem, value) // one value stands for a list of one
		}
		for i := range list {
			list[i] = canonical(schema, t.Elem, list[i])
		}
		return list
	}

	definition := schema.Types[t.NamedType]
	if definition == nil {
		return value // the document is refused for it
	}
	if number, ok := value.(json.Number); ok && definition.Name == "Int" {
		return wholeNumber(number)
	}
	if value == "" && (definition.Kind == ast.Enum || definition.Name == "DateTime") {
		return nil
	}

	if object, ok := value.(map[string]any); ok && definition.Kind == ast.InputObject {
		for _, field := range definition.Fields {
			if member, given := object[field.Name]; given {
				object[field.Name] = canonical(schema, field.Type, member)
			}
		}
	}

	return value
}

// wholeNumber gives a number without fraction and exponent if it is a whole one, and as it is otherwise.
func wholeNumber(number json.Number) json.Number {
	if digits, ok := validate.Whole(number.String()); ok {
		return json.Number(digits)
	}
	return number
}

type arguments struct {
	schema    *ast.Schema
	variables map[string]any
	seen      map[*ast.FragmentDefinition]bool
	fields    []string // one line for each violation
}

func (a *arguments) wrong(place, format string, args ...any) {
	if len(a.fields) >= mostErrors {
		return
	}
	a.fields = append(a.fields, place+": "+fmt.Sprintf(format, args...))
}

func (a *arguments) selection(set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			a.directives(s.Directives)
			a.given(s.Arguments, s.Definition.Arguments)
			a.selection(s.SelectionSet)
		case *ast.InlineFragment:
			a.directives(s.Directives)
			a.selection(s.SelectionSet)
		case *ast.FragmentSpread:
			a.directives(s.Directives)
			if !a.seen[s.Definition] {
				a.seen[s.Definition] = true
				a.selection(s.Definition.SelectionSet)
			}
		}
	}
}

// directives holds those of directives: the library finds that skip has no value while it executes.
func (a *arguments) directives(all ast.DirectiveList) {
	for _, d := range all {
		a.given(d.Arguments, d.Definition.Arguments)
	}
}

func (a *arguments) given(all ast.ArgumentList, defined ast.ArgumentDefinitionList) {
	for _, given := range all {
		value, err := given.Value.Value(a.variables)
		if err != nil {
			a.wrong(given.Name, "cannot be read")
			continue
		}
		a.value(given.Name, defined.ForName(given.Name).Type, value)
	}
}

func (a *arguments) value(place string, t *ast.Type, value any) {
	switch {
	case value == nil:
		if t.NonNull {
			a.wrong(place, "must not be null")
		}
	case t.Elem != nil:
		list := reflect.ValueOf(value) // of whatever type the library made of it
		if list.Kind() != reflect.Slice {
			a.value(place, t.Elem, value) // one value stands for a list of one
			return
		}
		for i := range list.Len() {
			a.value(place+"."+strconv.Itoa(i), t.Elem, list.Index(i).Interface())
		}
	default:
		a.named(place, a.schema.Types[t.NamedType], value)
	}
}

func (a *arguments) named(place string, d *ast.Definition, value any) {
	text, isText := value.(string)
	switch {
	case d.Kind == ast.InputObject:
		object, ok := value.(map[string]any)
		if !ok {
			a.wrong(place, "must be an object")
			return
		}

		for _, field := range d.Fields {
			if member, given := object[field.Name]; given {
				a.value(place+"."+field.Name, field.Type, member)
			}
		}
	case d.Kind == ast.Enum:
		if !isText || !slices.ContainsFunc(d.EnumValues, func(v *ast.EnumValueDefinition) bool { return v.Name == text }) {
			a.wrong(place, "must be one of the values of %s", d.Name)
		}
	case d.Name == "Int":
		if !isInt(value) {
			a.wrong(place, "must be a whole number of 32 bits")
		}
	case d.Name == "Float":
		if !isFloat(value) {
			a.wrong(place, "must be a number")
		}
	case d.Name == "Boolean":
		if _, ok := value.(bool); !ok {
			a.wrong(place, "must be true or false")
		}
	case d.Name == "DateTime":
		if _, ok := validate.DateTime(text); !isText || !ok {
			a.wrong(place, "must be a time as RFC 3339 text")
		}
	case d.Name == "JSON": // any value
	case d.Name == "Port":
		if !isText && !isInt(value) {
			a.wrong(place, "must be a number or text")
		}
	case !isText: // String, ID
		a.wrong(place, "must be text")
	}
}

func isInt(value any) bool {
	switch n := value.(type) {
	case int64:
		return n >= math.MinInt32 && n <= math.MaxInt32
	case json.Number:
		_, err := strconv.ParseInt(n.String(), 10, 32)
		return err == nil
	}
	return false
}

func isFloat(value any) bool {
	switch n := value.(type) {
	case int64:
		return true
	case float64:
		return !math.IsInf(n, 0) && !math.IsNaN(n)
	case json.Number:
		_, err := n.Float64()
		return err == nil
	}
	return false
}
