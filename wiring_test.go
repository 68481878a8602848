package berth

// This file holds the rules of how the rooms are wired: by what runtimes can do, never by their names, and in one go.

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// listOfRuntimes is the one room that may import runtimes.
const listOfRuntimes = "impl/runtimes"

func TestArchitecture_OnlyOneListImportsRuntimes(t *testing.T) {
	t.Parallel()
	for _, k := range app.Runtimes() {
		path := "impl/runtime/" + k.Name
		assert.Contains(t, rooms, path, "the package of a runtime has its name")
		for room, r := range rooms {
			assert.Equal(t, room == listOfRuntimes, slices.Contains(r.may, path), "%s: only %s may import %s", room, listOfRuntimes, path)
		}
	}
}

// namers are the places that may have the name of a runtime: the runtimes themselves, the constants of the Go API, and programs and
// suites that stand outside the server.
var namers = []string{"impl/runtime/", "berth.go", "conformance/", "store/storetest/"}

func TestArchitecture_NobodyElseNamesARuntime(t *testing.T) {
	t.Parallel()
	var names []string
	for _, k := range app.Runtimes() {
		names = append(names, k.Name)
	}

	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		slash := filepath.ToSlash(path)
		if strings.HasSuffix(path, "_test.go") || slices.ContainsFunc(namers, func(at string) bool { return strings.HasPrefix(slash, at) }) {
			return
		}

		ast.Inspect(file, func(n ast.Node) bool {
			if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				assert.NotContains(t, names, text, "%s names a runtime: let what it can do decide", set.Position(n.Pos()))
			}
			return true
		})
	})
}

func TestArchitecture_NobodyComparesNamesOfRuntimes(t *testing.T) {
	t.Parallel()
	p, err := server()
	require.NoError(t, err)
	namesARuntime := func(e ast.Expr) bool {
		selector, is := ast.Unparen(e).(*ast.SelectorExpr)
		if !is || p.info.Selections[selector] == nil {
			return false
		}
		field, of := p.info.Selections[selector].Obj(), p.info.Selections[selector].Recv().String()
		switch {
		case strings.HasSuffix(of, "impl/runtime.Kind"), strings.HasSuffix(of, "impl/compute.RuntimeAt"):
			return field.Name() == "Name"
		}

		return strings.HasSuffix(of, "impl/app.Config") && field.Name() == "Runtime"
	}

	for path, files := range p.files {
		if strings.HasPrefix(path, module+"impl/runtime") {
			continue
		}
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					compares := n.Op == token.EQL || n.Op == token.NEQ
					assert.False(t, compares && (namesARuntime(n.X) || namesARuntime(n.Y)), "%s compares the name of a runtime", p.set.Position(n.Pos()))
				case *ast.SwitchStmt:
					assert.False(t, n.Tag != nil && namesARuntime(n.Tag), "%s decides by the name of a runtime", p.set.Position(n.Pos()))
				}
				return true
			})
		}
	}
}

// states are the fields of package app that are states, and not wiring.
var states = []string{"timekeeper.lag", "timekeeper.noted", "timekeeper.looked", "undo.steps", "beside.made", "beside.err", "reported.read", "reported.ticks", "engines.named", "engines.others", "holder.now", "holder.over", "holder.requests", "savedRows.bytes", "door.now"}

// TestArchitecture_AppSetsNoFieldLater holds package app to making things in one go: through a pointer it sets a field of a struct only
// in a function that gives the struct, and never one of another room.
func TestArchitecture_AppSetsNoFieldLater(t *testing.T) {
	t.Parallel()
	p, err := server()
	require.NoError(t, err)

	here := p.of("impl/app")
	for _, file := range p.files[module+"impl/app"] {
		for _, declaration := range file.Decls {
			f, is := declaration.(*ast.FuncDecl)
			if !is {
				continue
			}

			var makes []string
			if f.Type.Results != nil {
				for _, r := range f.Type.Results.List {
					makes = append(makes, nameOf(p.info.Types[r.Type].Type))
				}
			}

			ast.Inspect(f, func(n ast.Node) bool {
				assign, is := n.(*ast.AssignStmt)
				if !is {
					return true
				}

				for _, to := range assign.Lhs {
					selector, is := to.(*ast.SelectorExpr)
					if !is || p.info.Selections[selector] == nil {
						continue
					}
					selection := p.info.Selections[selector]
					pointer, is := selection.Recv().Underlying().(*types.Pointer)
					if !is {
						continue
					}

					of, at, room := nameOf(pointer), p.set.Position(n.Pos()), selection.Obj().Pkg()
					if !strings.HasPrefix(room.Path()+"/", module) || slices.Contains(states, of+"."+selection.Obj().Name()) {
						continue
					}
					assert.True(t, here == room, "%s sets %s of another room", at, selection.Obj().Name())
					assert.Contains(t, makes, of, "%s sets %s of a %s that was made before", at, selection.Obj().Name(), of)
				}

				return true
			})
		}
	}
}

// nameOf is the name of a type, or of that which it points to.
func nameOf(t types.Type) string {
	if pointer, is := t.(*types.Pointer); is {
		t = pointer.Elem()
	}
	if named, is := t.(*types.Named); is {
		return named.Obj().Name()
	}
	return t.String()
}
