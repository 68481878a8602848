package graphql

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/berthdev/berth/gen/graph"
)

// operationPrefix distinguishes the operations of GraphQL from those of REST, some of which have the same name.
const operationPrefix = "graphql."

// Operations gives the names under which a fault can be scripted: graphql. and a field of Query or Mutation.
func (h *Handler) Operations() (names []string) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	for _, root := range []string{"Query", "Mutation"} {
		for _, field := range schema.Types[root].Fields {
			names = append(names, operationPrefix+field.Name)
		}
	}
	return names
}

// faulty shows the faults of the operation's fields, in their order; the first with a status is the whole answer (rule
// controls.faults.graphql).
func (h *Handler) faulty(ctx context.Context, o *graphql.OperationContext) error {
	for _, field := range fieldsOf(o.Operation.SelectionSet) {
		if err := h.Faults.Show(ctx, operationPrefix+field, h.Clock, h.Log); err != nil {
			return err
		}
	}
	return nil
}
