package graphql

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/berthdev/berth/impl/compute"
)

// gate stands between a valid document and its execution: bounds, key, scope, values of arguments.
type gate struct {
	Services
	schema func() *ast.Schema // parsed when it is first needed
}

var _ interface {
	graphql.OperationParameterMutator
	graphql.OperationContextMutator
	graphql.HandlerExtension
} = gate{}

// ExtensionName is for gqlgen.
func (gate) ExtensionName() string { return "gate" }

// Validate is for gqlgen; any schema will do.
func (gate) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters refuses a document that is too long before it is validated: that takes time by the square of
// its length. And it takes empty text out of the variables where it can only mean that there is nothing.
func (g gate) MutateOperationParameters(_ context.Context, params *graphql.RawParams) *gqlerror.Error {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, g.Limits.Tokens)
	if err != nil {
		return nil // the executor finds the same, and tells
	}
	length := 0
	for _, o := range document.Operations {
		length += selections(o.SelectionSet)
	}
	for _, f := range document.Fragments {
		length += selections(f.SelectionSet)
	}
	if length > g.Limits.Fields {
		return gqlerror.Wrap(g.Limits.tooManyFields())
	}
	for _, o := range document.Operations {
		for _, v := range o.VariableDefinitions {
			if given, ok := params.Variables[v.Variable]; ok {
				params.Variables[v.Variable] = unblanked(g.schema(), v.Type, given)
			}
		}
	}
	return nil
}

// selections counts what stands in a selection, each spread of a fragment as one.
func selections(set ast.SelectionSet) (n int) {
	for _, s := range set {
		n++
		switch s := s.(type) {
		case *ast.Field:
			n += selections(s.SelectionSet)
		case *ast.InlineFragment:
			n += selections(s.SelectionSet)
		}
	}
	return n
}

// MutateOperationContext refuses the operation or lets it pass.
func (g gate) MutateOperationContext(ctx context.Context, o *graphql.OperationContext) *gqlerror.Error {
	err := g.Limits.check(o.Operation.SelectionSet)
	if err == nil {
		err = g.permitted(callOf(ctx), o)
	}
	if err == nil {
		err = checkArguments(g.schema(), o)
	}
	if err != nil {
		return gqlerror.Wrap(err)
	}
	o.DisableIntrospection = !g.Introspection
	return nil
}

// size is how much a selection asks for.
type size struct{ depth, fields, aliases int }

// check refuses a selection over the limits (rules graphql.depth, graphql.complexity, graphql.aliases).
func (l Limits) check(set ast.SelectionSet) error {
	s := measure(set, max(l.Fields, l.Aliases), map[*ast.FragmentDefinition]size{})
	switch {
	case s.depth > l.Depth:
		return compute.Errorf(compute.Rejected, "the document is nested too deep; the limit is %d", l.Depth)
	case s.fields > l.Fields:
		return l.tooManyFields()
	case s.aliases > l.Aliases:
		return compute.Errorf(compute.Rejected, "the document has too many aliases; the limit is %d", l.Aliases)
	}
	return nil
}

func (l Limits) tooManyFields() error {
	return compute.Errorf(compute.Rejected, "the document asks for too many fields; the limit is %d", l.Fields)
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
	}
	return total
}
