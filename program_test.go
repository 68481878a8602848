package berth

// This file reads the program as the compiler does, for rules of the tree that need types.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is the server's packages with their types. Ours are read from source, so that a field is one object wherever it is
// used; what they import of others comes from what the compiler exports.
type program struct {
	set      *token.FileSet
	info     *types.Info
	listed   map[string]listedPackage
	packages map[string]*types.Package
	files    map[string][]*ast.File // of the packages that are ours
	others   types.Importer
}

// listedPackage is what go list prints of a package.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// newProgram is a program without packages.
func newProgram() *program {
	return &program{
		set:      token.NewFileSet(),
		info:     &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}},
		listed:   map[string]listedPackage{},
		packages: map[string]*types.Package{},
		files:    map[string][]*ast.File{},
	}
}

// server reads the program once: the room that knows every room, and what it imports.
var server = sync.OnceValues(func() (*program, error) {
	p := newProgram()
	// Without the profile, as the tests are compiled, so that what they made already is taken.
	out, err := exec.Command("go", "list", "-deps", "-export", "-pgo=off", "-json=ImportPath,Dir,Export,GoFiles", "./impl/app").Output()
	if err != nil {
		return nil, err
	}

	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listedPackage
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		p.listed[one.ImportPath] = one
	}

	p.others = importer.ForCompiler(p.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(p.listed[path].Export) })
	_, err = p.Import(module + "impl/app")
	return p, err
})

// Import gives the package of that path.
func (p *program) Import(path string) (*types.Package, error) {
	if known := p.packages[path]; known != nil {
		return known, nil
	}
	if !strings.HasPrefix(path, module) {
		return p.others.Import(path)
	}

	one, ok := p.listed[path]
	if !ok {
		return nil, fmt.Errorf("%s is not listed", path)
	}

	var files []*ast.File
	for _, name := range one.GoFiles {
		file, err := parser.ParseFile(p.set, filepath.Join(one.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}

	return p.check(path, files)
}

// check finds out the types of a package of ours. Of what is generated only what it declares is looked at.
func (p *program) check(path string, files []*ast.File) (*types.Package, error) {
	config := types.Config{Importer: p, IgnoreFuncBodies: strings.HasPrefix(path, module+"gen/")}
	made, err := config.Check(path, p.set, files, p.info)
	p.packages[path], p.files[path] = made, files
	return made, err
}

// of gives the package in a room.
func (p *program) of(room string) *types.Package { return p.packages[module+room] }

// fieldsRead gives the fields of structs that the rooms read. A field that is only set is not read, and neither is one that is
// given to the blank identifier. A struct that is converted to another one is read as that is.
func (p *program) fieldsRead(rooms ...string) map[*types.Var]bool {
	read := map[*types.Var]bool{}
	flows := map[*types.Var][]*types.Var{} // what a field becomes in conversions
	for _, room := range rooms {
		for _, file := range p.files[module+room] {
			p.readIn(file, read, flows)
		}
	}

	for again := true; again; {
		again = false
		for from, targets := range flows {
			for _, to := range targets {
				if read[to] && !read[from] {
					read[from], again = true, true
				}
			}
		}
	}

	return read
}

// readIn notes what the file reads and converts.
func (p *program) readIn(file *ast.File, read map[*types.Var]bool, flows map[*types.Var][]*types.Var) {
	set := map[ast.Node]bool{} // that stand where a value is put
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				markTarget(to, set)
				if blank, ok := to.(*ast.Ident); ok && blank.Name == "_" && len(n.Lhs) == len(n.Rhs) {
					set[n.Rhs[i]] = true
				}
			}
		case *ast.SelectorExpr:
			selection := p.info.Selections[n]
			if selection == nil || set[n] {
				return true
			}
			for _, field := range fieldsOn(selection) {
				read[field] = true
			}
		case *ast.CallExpr:
			if target := p.info.Types[n.Fun]; target.IsType() && len(n.Args) == 1 {
				flow(p.info.Types[n.Args[0]].Type, target.Type, flows)
			}
		}

		return true
	})
}

// markTarget marks the selectors of what is assigned to: a.b.c = x reads neither b nor c.
func markTarget(to ast.Expr, set map[ast.Node]bool) {
	for {
		switch at := to.(type) {
		case *ast.SelectorExpr:
			set[at] = true
			to = at.X
		case *ast.StarExpr:
			to = at.X
		case *ast.ParenExpr:
			to = at.X
		default:
			return
		}
	}
}

// fieldsOn gives the fields on the way of a selection, those of embedded structs too.
func fieldsOn(s *types.Selection) (fields []*types.Var) {
	t, way := s.Recv(), s.Index()
	if s.Kind() != types.FieldVal {
		way = way[:len(way)-1] // the last one is a method
	}
	for _, i := range way {
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			t = pointer.Elem()
		}
		field := t.Underlying().(*types.Struct).Field(i)
		fields, t = append(fields, field.Origin()), field.Type()
	}
	return fields
}

// flow notes what fields become when a struct, or a pointer to one, is converted.
func flow(from, to types.Type, flows map[*types.Var][]*types.Var) {
	a, b := structOf(from), structOf(to)
	if a == nil || b == nil || a == b {
		return
	}
	for i := range min(a.NumFields(), b.NumFields()) {
		flows[a.Field(i)] = append(flows[a.Field(i)], b.Field(i))
	}
}

// structOf gives the struct that the type is or points to; nil: neither.
func structOf(t types.Type) *types.Struct {
	if t == nil {
		return nil
	}
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

func TestProgram_DistinguishesReadingAFieldFromSettingIt(t *testing.T) {
	t.Parallel()
	const source = `package a

type inner struct{ read, set, skipped int }
type outer struct {
	inner
	path, pathSet *inner
	converted, unconverted, taken, compared int
}
type other struct {
	inner
	path, pathSet *inner
	converted, unconverted, taken, compared int
}

func f(o outer, p *outer) (n int) {
	_ = o.skipped
	o.set, p.pathSet.set = 1, 2
	o = outer{unconverted: 1}
	x := &o.taken
	if o.compared == n {
		n += o.read + p.path.read + other(o).converted + *x
	}
	return n
}`

	p := newProgram()
	file, err := parser.ParseFile(p.set, "a.go", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	_, err = p.check(module+"a", []*ast.File{file})
	require.NoError(t, err)

	var names []string
	for field := range p.fieldsRead("a") {
		if !slices.Contains(names, field.Name()) {
			names = append(names, field.Name())
		}
	}

	require.ElementsMatch(t, []string{"inner", "read", "path", "converted", "taken", "compared"}, names)
}
