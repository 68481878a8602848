package graphql

import (
	"context"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/impl/compute"
)

// authenticate finds the key in the Authorization header or, without one, in the query parameter api_key. Nil: none was
// sent (rules graphql.key.*).
func (h *Handler) authenticate(r *http.Request) (*compute.Key, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		key, _, err := h.Keyring.Authenticate(r.Context(), header, false)
		return &key, err
	}
	if token := r.URL.Query().Get("api_key"); token != "" {
		key, err := h.Keyring.Find(r.Context(), token)
		return &key, err
	}
	return nil, nil //nolint:nilnil // no key, no error: some things may be asked for without one
}

// anonymous are the fields that are answered without a key.
var anonymous = map[string]bool{
	"gpuTypes": true, "cpuFlavors": true, "cpuTypes": true, "dataCenters": true, "countryCodes": true, "myself": true,
	"createFlashAuthRequest": true, "flashAuthRequestStatus": true, // who has no key yet asks for one so
	"__typename": true, "__schema": true, "__type": true,
}

// permitted holds the operation against what the key may do.
func (s Services) permitted(c *call, o *graphql.OperationContext) error {
	root := fieldsOf(o.Operation.SelectionSet)
	for _, field := range root {
		if (field == "__schema" || field == "__type") && !s.Introspection {
			return compute.Errorf(compute.Rejected, "introspection is off")
		}
	}

	if c.key == nil {
		for _, field := range root {
			if !anonymous[field] {
				return compute.RefusedKey{Reason: compute.RefusedMissing}.Refuse(field + " needs an API key: send api_key=<key> or Authorization: Bearer <key>")
			}
		}
		return nil
	}

	want := compute.ScopeGraphQLRead
	if o.Operation.Operation == ast.Mutation {
		want = compute.ScopeGraphQLWrite
	}
	if c.key.Allows(want) || c.key.HasPods() && onlyOnePod(root) {
		return nil
	}

	return c.key.LacksScope(want)
}

// onePod are the fields that are about one pod, and that a key of that pod may ask for: a program in it looks at it, stops it
// and terminates it. They ask as owner says.
var onePod = map[string]bool{"pod": true, "podStop": true, "podTerminate": true, "__typename": true}

func onlyOnePod(root []string) bool {
	return !slices.ContainsFunc(root, func(field string) bool { return !onePod[field] })
}

// owner gives as whom the key asks for the pod, where want is the scope that it takes: nobody if the key is for other pods,
// which makes this one unknown (rule graphql.scopes.pod).
func owner(ctx context.Context, pod compute.PodID, want compute.Scope) compute.UserID {
	return callOf(ctx).key.UserFor(pod, want)
}

// fieldsOf gives the names of the fields of a selection, with those of its fragments.
func fieldsOf(set ast.SelectionSet) (names []string) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			names = append(names, s.Name)
		case *ast.InlineFragment:
			names = append(names, fieldsOf(s.SelectionSet)...)
		case *ast.FragmentSpread:
			names = append(names, fieldsOf(s.Definition.SelectionSet)...)
		}
	}
	return names
}
