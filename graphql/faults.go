package graphql

import (
	"context"
	"errors"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/berthdev/berth/impl/fault"
)

// operationPrefix distinguishes the operations of GraphQL from those of REST, some of which have the same name.
const operationPrefix = "graphql."

// Operations gives the names under which a fault can be scripted: graphql. and a field of Query or Mutation.
func (h *Handler) Operations() (names []string) {
	schema := schema()
	for _, root := range []string{"Query", "Mutation"} {
		for _, field := range schema.Types[root].Fields {
			names = append(names, operationPrefix+field.Name)
		}
	}
	return names
}

// fieldCall gives the call of a field of the document, as faults are matched with it.
func fieldCall(ctx context.Context, field string) fault.Call {
	c := callOf(ctx)
	return fault.Call{Operation: operationPrefix + field, KeyID: keyOf(ctx), Body: func() []byte { return c.body }}
}

// faulty shows the faults before the operation's fields, in their order; the first with a status is the whole answer (rule
// controls.faults.graphql).
func (h *Handler) faulty(ctx context.Context, o *graphql.OperationContext) error {
	for _, field := range fieldsOf(o.Operation.SelectionSet) {
		shown, err := h.Faults.Show(ctx, fieldCall(ctx, field), h.Clock, h.Log)
		if err != nil {
			return err
		}
		callOf(ctx).shown = callOf(ctx).shown || shown
	}
	return nil
}

// done gives the calls of the document's fields that were not refused.
func done(ctx context.Context, o *graphql.OperationContext, errs gqlerror.List) (calls []fault.Call) {
	refused := map[ast.PathElement]bool{}
	for _, e := range errs {
		if len(e.Path) == 0 {
			return nil
		}
		refused[e.Path[0]] = true
	}

	for _, field := range graphql.CollectFields(o, o.Operation.SelectionSet, nil) {
		if !refused[ast.PathName(field.Alias)] {
			calls = append(calls, fieldCall(ctx, field.Name))
		}
	}
	return calls
}

// held keeps the answer back that a fault after the document's fields may become of; nil: none may.
func (h *Handler) held(ctx context.Context, w http.ResponseWriter) *fault.Held {
	c := callOf(ctx)
	return h.Faults.Hold(ctx, w, c.shown, h.Clock, h.Log, c.done...)
}

// answer writes the answer, by way of what keeps it back if something does.
func (h *Handler) answer(ctx context.Context, w http.ResponseWriter, held *fault.Held, status int, answer *graphql.Response) {
	if held == nil {
		h.write(ctx, w, status, answer)
		return
	}
	h.write(ctx, held, status, answer)
	if of, ok := errors.AsType[*fault.Answer](held.End()); ok {
		h.write(ctx, w, of.Status, h.scripted(ctx, w.Header(), of))
	}
}

// scripted gives the answer of a fault with a status.
func (h *Handler) scripted(ctx context.Context, header http.Header, of *fault.Answer) *graphql.Response {
	if seconds := of.RetryAfter(); seconds != "" {
		header.Set("Retry-After", seconds)
	}
	return &graphql.Response{Errors: gqlerror.List{h.present(ctx, of)}}
}
