package berth

// This file holds what interfaces may ask for.

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArchitecture_InterfacesAreSmall(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		ast.Inspect(file, func(n ast.Node) bool {
			if i, is := n.(*ast.InterfaceType); is {
				assert.LessOrEqual(t, len(i.Methods.List), 12, "%s is an interface of over 12 methods and parts", set.Position(i.Pos()))
			}
			return true
		})
	})
}

// TestArchitecture_FunctionsTakeTheirPartOfATx finds the functions that take a whole transaction though one of its parts has all that
// they need.
func TestArchitecture_FunctionsTakeTheirPartOfATx(t *testing.T) {
	t.Parallel()
	p, err := server()
	require.NoError(t, err)
	tx := p.of("store").Scope().Lookup("Tx").Type()
	found := 0
	for path, files := range p.files {
		for _, file := range files {
			for _, declaration := range file.Decls {
				f, is := declaration.(*ast.FuncDecl)
				if !is || f.Body == nil || !strings.HasPrefix(path, module+"impl/") && !strings.HasPrefix(path, module+"graphql") {
					continue
				}
				for _, parameter := range p.parametersOf(f) {
					if !types.Identical(parameter.Type(), tx) {
						continue
					}
					found++
					needed, whole := p.neededOf(f, parameter)
					if whole {
						continue
					}
					part := smallest(p.of("store"), needed, tx)
					assert.Empty(t, part, "%s: %s takes store.Tx and needs store.%s", p.set.Position(f.Pos()), f.Name.Name, part)
				}
			}
		}
	}
	require.Positive(t, found, "some do need all of it")
}

// neededOf gives the methods that a function calls of a parameter, itself or through a function that it hands it to; whole reports that
// one of those takes all of it.
func (p *program) neededOf(f *ast.FuncDecl, parameter *types.Var) (methods map[string]bool, whole bool) {
	methods = map[string]bool{}
	selected := map[*ast.Ident]bool{}
	isIt := func(e ast.Expr) (*ast.Ident, bool) {
		id, is := e.(*ast.Ident)
		return id, is && p.info.Uses[id] == parameter
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, is := isIt(n.X); is {
				selected[id], methods[n.Sel.Name] = true, true
			}
		case *ast.CallExpr:
			signature, is := p.info.Types[n.Fun].Type.(*types.Signature)
			if !is {
				return true
			}
			for i, argument := range n.Args {
				id, is := isIt(argument)
				if !is || i >= signature.Params().Len() {
					continue
				}
				asked := signature.Params().At(i).Type()
				if i, is := asked.Underlying().(*types.Interface); is && !types.Identical(asked, parameter.Type()) {
					selected[id] = true
					for m := range i.Methods() {
						methods[m.Name()] = true
					}
				}
			}
		}
		return true
	})
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && p.info.Uses[id] == parameter && !selected[id] {
			whole = true
		}
		return true
	})
	return methods, whole
}

// smallest gives the interface of a package, other than the one, that has the methods and the fewest beside them; "": there is none.
func smallest(in *types.Package, methods map[string]bool, other types.Type) (name string) {
	fewest := 0
	for _, n := range in.Scope().Names() {
		i, is := in.Scope().Lookup(n).Type().Underlying().(*types.Interface)
		if !is || types.Identical(in.Scope().Lookup(n).Type(), other) {
			continue
		}
		has := 0
		for m := range i.Methods() {
			if methods[m.Name()] {
				has++
			}
		}
		if has == len(methods) && (name == "" || i.NumMethods() < fewest) {
			name, fewest = n, i.NumMethods()
		}
	}
	return name
}
