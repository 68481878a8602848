package berth

// This file holds that no member of a request is accepted and ignored.

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gql "github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/gen/graph"
)

// unread are the members of requests that no code reads, with the reason. The list may only shrink: an entry that is read, or
// that is no member any more, fails the test.
var unread = map[string]string{
	"GpuAvailabilityInput.includeAiApi": "it adds the places for workers to those for pods, and here every place for the one is one for the other",
	"GpuLowestPriceInput.includeAiApi":  "likewise",
	"SavingsPlanInput.planLength":       "savingsPlan is refused whole",
	"SavingsPlanInput.upfrontCost":      "likewise",
	"rest.QueueDelayScaling.type":       "the generated code finds out by it which kind of scaling it is",
	"rest.RequestCountScaling.type":     "likewise",
	"worker.FinishJobParams.isStream":   "that a handler streams is known by its chunks",
	"controls.ReceiveWebhook(_)":        "the journal reads it from the path",
	"worker.StreamJobParams.isStream":   "likewise",
}

// edges are the rooms that take requests, models those that hold what requests are decoded into.
var (
	edges  = []string{"graphql", "impl/httpapi"}
	models = []string{"gen/rest", "gen/queue", "gen/worker", "gen/controls"}
)

// TestRequests_EveryMemberIsRead is the mirror of the tests that views fill every field: a member of a body, a parameter or an
// input of GraphQL that the edges never read would be accepted and have no effect.
func TestRequests_EveryMemberIsRead(t *testing.T) {
	t.Parallel()
	p, err := server()
	require.NoError(t, err)
	read := p.fieldsRead(edges...)

	ignored := map[string]bool{}
	for _, room := range models {
		for name, field := range p.requestMembers(room) {
			if !read[field] {
				ignored[name] = true
			}
		}
		for _, name := range p.unusedOf(t, module+room, "ServerInterface", nil) {
			ignored[name] = true
		}
	}

	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	for name, field := range p.inputMembers(t, schema) {
		if !read[field] {
			ignored[name] = true
		}
	}

	for _, name := range p.ignoredArguments(t, schema) {
		ignored[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(ignored)) {
		assert.Contains(t, unread, name, "%s is accepted and ignored: enforce it, store it, or refuse it by name", name)
	}
	for name := range unread {
		assert.True(t, ignored[name], "%s is read, or is no member any more: take it from the list", name)
	}
}

// requestMembers gives the members of the bodies and parameters of a generated room: package.Type.member.
func (p *program) requestMembers(room string) map[string]*types.Var {
	members := map[string]*types.Var{}
	scope := p.of(room).Scope()
	for _, name := range scope.Names() {
		if strings.HasSuffix(name, "JSONRequestBody") || strings.HasSuffix(name, "Params") {
			p.addMembers(scope.Lookup(name).Type(), members)
		}
	}
	return members
}

// addMembers adds the fields of the struct, and of the structs in it, that its package declares.
func (p *program) addMembers(t types.Type, members map[string]*types.Var) {
	t = types.Unalias(t)
	switch t := t.(type) {
	case *types.Pointer:
		p.addMembers(t.Elem(), members)
	case *types.Slice:
		p.addMembers(t.Elem(), members)
	case *types.Map:
		p.addMembers(t.Elem(), members)
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			p.addMembers(t.TypeArgs().At(i), members)
		}
		if !strings.HasPrefix(t.Obj().Pkg().Path(), module+"gen/") {
			return
		}

		s, isStruct := t.Underlying().(*types.Struct)
		if !isStruct {
			p.addMembers(t.Underlying(), members)
			return
		}

		for i := range t.NumMethods() { // of a union: its kinds
			if m := t.Method(i); strings.HasPrefix(m.Name(), "As") {
				p.addMembers(m.Signature().Results().At(0).Type(), members)
			}
		}

		for i := range s.NumFields() {
			field := s.Field(i)
			member := memberName(s.Tag(i))
			name := t.Obj().Pkg().Name() + "." + t.Obj().Name() + "." + member
			if member == "" || members[name] != nil {
				continue
			}
			members[name] = field
			p.addMembers(field.Type(), members)
		}
	}
}

// memberName gives what the tag of a field calls it in JSON.
func memberName(tag string) string {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name
}

// inputMembers gives the fields of the inputs of GraphQL: Input.field.
func (p *program) inputMembers(t *testing.T, schema *gql.Schema) map[string]*types.Var {
	members := map[string]*types.Var{}
	for name, definition := range schema.Types {
		if definition.Kind != gql.InputObject {
			continue
		}
		s := structOf(lookup(t, p.of("gen/graph").Scope(), name).Type())
		require.NotNil(t, s, name)

		byName := map[string]*types.Var{}
		for i := range s.NumFields() {
			byName[memberName(s.Tag(i))] = s.Field(i)
		}
		for _, field := range definition.Fields {
			require.Contains(t, byName, field.Name, name)
			members[name+"."+field.Name] = byName[field.Name]
		}
	}

	return members
}

// lookup gives what the scope declares under a name in whatever case: generators write some parts of names in capitals.
func lookup(t *testing.T, scope *types.Scope, name string) types.Object {
	i := slices.IndexFunc(scope.Names(), func(other string) bool { return strings.EqualFold(other, name) })
	require.GreaterOrEqual(t, i, 0, "nothing is called %s", name)
	return scope.Lookup(scope.Names()[i])
}

// ignoredArguments gives the arguments of GraphQL that their resolvers do not use: Type.field(argument).
func (p *program) ignoredArguments(t *testing.T, schema *gql.Schema) (names []string) {
	for _, definition := range schema.Types {
		if definition.Kind != gql.Object || strings.HasPrefix(definition.Name, "__") {
			continue
		}

		arguments := map[string][]string{} // of the methods, in lower case
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			for _, a := range field.Arguments {
				key := strings.ToLower(field.Name)
				arguments[key] = append(arguments[key], definition.Name+"."+field.Name+"("+a.Name+")")
			}
		}

		if len(arguments) > 0 {
			names = append(names, p.unusedOf(t, module+"gen/graph", definition.Name+"Resolver", arguments)...)
		}
	}

	return names
}

// unusedOf gives the parameters that what implements the interface in an edge does not use. With arguments only those are
// looked at, which stand last, under their names there; without, all after the first but those whose members are looked at.
func (p *program) unusedOf(t *testing.T, path, name string, arguments map[string][]string) (unused []string) {
	declared := lookup(t, p.packages[path].Scope(), name)
	asked := declared.Type().Underlying().(*types.Interface)
	seen := map[string]bool{}
	for _, edge := range edges {
		for _, file := range p.files[module+edge] {
			for _, d := range file.Decls {
				method, ok := d.(*ast.FuncDecl)
				if !ok || method.Recv == nil || !p.implements(method, asked) {
					continue
				}

				names, parameters := arguments[strings.ToLower(method.Name.Name)], p.parametersOf(method)
				if arguments == nil {
					parameters = slices.DeleteFunc(parameters[1:], func(v *types.Var) bool { return structOf(v.Type()) != nil })
				} else {
					parameters = parameters[len(parameters)-len(names):]
				}

				seen[strings.ToLower(method.Name.Name)] = true
				for i, parameter := range parameters {
					switch {
					case p.used(method, parameter):
					case arguments != nil:
						unused = append(unused, names[i])
					default:
						unused = append(unused, declared.Pkg().Name()+"."+method.Name.Name+"("+parameter.Name()+")")
					}
				}
			}
		}
	}

	for i := range asked.NumMethods() {
		require.True(t, seen[strings.ToLower(asked.Method(i).Name())], "nothing implements %s.%s", name, asked.Method(i).Name())
	}
	for field := range arguments {
		require.True(t, seen[field], "%s has no method for the arguments of %s: let the generator make it one", name, field)
	}

	return unused
}

// implements reports whether the method is one of the interface, on a type that has all of them.
func (p *program) implements(method *ast.FuncDecl, asked *types.Interface) bool {
	is := false
	for i := range asked.NumMethods() {
		is = is || asked.Method(i).Name() == method.Name.Name
	}
	receiver := p.info.Defs[method.Name].(*types.Func).Signature().Recv().Type()
	return is && types.Implements(receiver, asked)
}

// parametersOf gives the parameters in their order.
func (p *program) parametersOf(f *ast.FuncDecl) (all []*types.Var) {
	for parameter := range p.info.Defs[f.Name].(*types.Func).Signature().Params().Variables() {
		all = append(all, parameter)
	}
	return all
}

// used reports whether the body of the function names the parameter.
func (p *program) used(f *ast.FuncDecl, parameter *types.Var) (found bool) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && p.info.Uses[name] == parameter
		return !found
	})
	return found
}

// TestRequests_WhatTheEdgesHandOnIsRead goes on where TestRequests_EveryMemberIsRead ends: what an edge puts into a struct of a room
// below is read by some room, else the member would be taken over and then forgotten.
func TestRequests_WhatTheEdgesHandOnIsRead(t *testing.T) {
	t.Parallel()
	p, err := server()
	require.NoError(t, err)
	var all []string
	for path := range p.files {
		all = append(all, strings.TrimPrefix(path, module))
	}

	read := p.fieldsRead(all...)
	for _, edge := range edges {
		for field, owner := range p.fieldsSet(edge) {
			assert.True(t, read[field], "%s.%s is set from a request and read by nobody", owner, field.Name())
		}
	}
}

// fieldsSet gives the fields of the structs of the rooms below that a room sets, with the names of the structs.
func (p *program) fieldsSet(room string) map[*types.Var]string {
	fields := map[*types.Var]string{}
	add := func(t types.Type, field *types.Var) {
		if path := field.Pkg().Path(); strings.HasPrefix(path, module) && !strings.HasPrefix(path, module+"gen/") && path != module+room {
			fields[field.Origin()] = types.TypeString(t, nil)
		}
	}

	for _, file := range p.files[module+room] {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				of := p.info.Types[n].Type
				for _, e := range n.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok {
						if name, ok := pair.Key.(*ast.Ident); ok {
							if field, ok := p.info.Uses[name].(*types.Var); ok && field.IsField() {
								add(of, field)
							}
						}
					}
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if s, ok := to.(*ast.SelectorExpr); ok && p.info.Selections[s] != nil {
						if field, ok := p.info.Selections[s].Obj().(*types.Var); ok {
							add(p.info.Selections[s].Recv(), field)
						}
					}
				}
			}

			return true
		})
	}

	return fields
}
