package graphql

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// gate stands between a valid document and its execution: bounds, key, scope, values of arguments.
type gate struct {
	Services
}

var _ interface {
	graphql.OperationParameterMutator
	graphql.OperationContextMutator
	graphql.RootFieldInterceptor
	graphql.HandlerExtension
} = gate{}

// ExtensionName is for gqlgen.
func (gate) ExtensionName() string { return "gate" }

// Validate is for gqlgen; any schema will do.
func (gate) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters refuses a document that is too long, or repeats itself, before it is validated: that takes time by the
// square of its length, with that of fragments wherever they are used. And it takes empty text out of the variables where it can only
// mean that there is nothing.
func (g gate) MutateOperationParameters(_ context.Context, params *graphql.RawParams) *gqlerror.Error {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, g.Limits.Tokens)
	if err != nil {
		return nil // the executor finds the same, and answers it
	}
	length, repeated := 0, 0
	for _, o := range document.Operations {
		length += selections(o.SelectionSet)
		repeated += repeats(o.SelectionSet)
	}
	for _, f := range document.Fragments {
		length += selections(f.SelectionSet)
		repeated += repeats(f.SelectionSet)
	}
	if length > g.Limits.Fields {
		return gqlerror.Wrap(g.Limits.tooManyFields())
	}
	if repeated > mostRepeats {
		return gqlerror.Wrap(compute.Errorf(compute.Rejected, "the document repeats too many fields of a selection, or uses too many fragments; the limit is %d", mostRepeats))
	}
	if err := g.Limits.checkExpanded(document); err != nil {
		return gqlerror.Wrap(err)
	}

	if len(document.Operations) > 1 && params.OperationName == "" {
		return gqlerror.Wrap(compute.Errorf(compute.Invalid, "operationName is missing: the document has %d operations", len(document.Operations)))
	}
	params.Query = idsAsText(params.Query, document)
	for _, o := range document.Operations {
		if params.OperationName != "" && o.Name != params.OperationName {
			continue // another one may have a variable of the name, of another type
		}
		for _, v := range o.VariableDefinitions {
			if given, ok := params.Variables[v.Variable]; ok {
				params.Variables[v.Variable] = canonical(schema(), v.Type, given)
			}
		}
	}

	return nil
}

// idType is the type of variables that clients declare for ids.
const idType = "ID"

// idsAsText makes variables of the type ID such of String, which every id in the schema is: clients declare both (rule
// graphql.variables.ids).
func idsAsText(query string, document *ast.QueryDocument) string {
	var at []int // of each ID, in runes
	for _, o := range document.Operations {
		for _, v := range o.VariableDefinitions {
			named := v.Type
			for named.Elem != nil {
				named = named.Elem
			}
			if named.NamedType == idType {
				named.NamedType = "String"
				at = append(at, named.Position.Start)
			}
		}
	}
	if at == nil {
		return query
	}

	var b strings.Builder
	runes, from := []rune(query), 0
	slices.Sort(at)
	for _, start := range at {
		b.WriteString(string(runes[from:start]) + "String")
		from = start + len(idType)
	}
	b.WriteString(string(runes[from:]))
	return b.String()
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
	c := callOf(ctx)
	size, err := g.Limits.check(o.Operation.SelectionSet, c.key == nil)
	c.values = size.values
	if err == nil {
		err = g.permitted(c, o)
	}
	if err == nil {
		err = checkArguments(schema(), o)
	}
	if err != nil {
		return gqlerror.Wrap(err)
	}

	o.DisableIntrospection = !g.Introspection
	return nil
}

// InterceptRootField has what a mutation changes noted as the caller's (rule audit.doors).
func (g gate) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	c := callOf(ctx)
	if c.key == nil || graphql.GetOperationContext(ctx).Operation.Operation != ast.Mutation {
		return next(ctx)
	}
	c.forget() // an earlier field of the document may have changed it
	field := graphql.GetRootFieldContext(ctx).Field.Name
	ctx = audit.With(ctx, audit.Actor{User: c.key.UserID, Key: c.key.ID, Request: c.requestID, Operation: field, Client: c.client})
	return next(control.WithUserOf(ctx, *c.key))
}
