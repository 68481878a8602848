//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of one place of a file.
type mutant struct {
	file     string // from the root of the module, with slashes
	line     int
	from, to int       // bytes of the file that the new text stands for
	old, new string    // texts
	context  string    // the line, without the space around it
	in       *function // nil if it is in none
}

// function is a function that can be changed in one place or another, with its body.
type function struct {
	pkg  string // its package's name
	text []byte // of the file
	set  *token.FileSet
	decl *ast.FuncDecl
}

// at gives the byte of the file where something is.
func (f *function) at(pos token.Pos) int { return f.set.Position(pos).Offset }

// change reports what is changed, in one line.
func (m mutant) change() string {
	return fmt.Sprintf("%s → %s", oneLine(m.old), oneLine(m.new))
}

func oneLine(text string) string {
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return "nothing"
	}
	return text
}

// apply gives the text of the file with the change.
func (m mutant) apply(text []byte) []byte {
	return slices.Concat(text[:m.from], []byte(m.new), text[m.to:])
}

// mutantsOf gives the mutants of every file below the folders that people write: no tests, nothing generated, nothing for other systems.
func mutantsOf(root string, folders []string) (all []mutant, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := entry.Name()
			if entry.IsDir() && (name == "testdata" || strings.HasSuffix(name, "test")) {
				return filepath.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".gen.go") {
				return nil
			}

			if built, err := build.Default.MatchFile(filepath.Dir(path), name); err != nil || !built { // for another system
				return err
			}

			text, err := os.ReadFile(path) //nolint:gosec // G122: the checkout of who runs it
			if err != nil {
				return err
			}
			short, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}

			of, err := mutantsIn(filepath.ToSlash(short), text)
			all = append(all, of...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}

	return all, nil
}

// mutantsIn gives the mutants of one file, in the order of their places.
func mutantsIn(file string, text []byte) ([]mutant, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	f := &finder{file: file, text: text, set: set}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				f.in = &function{pkg: parsed.Name.Name, text: text, set: set, decl: d}
				ast.Inspect(d.Body, f.visit)
				f.in = nil
			}
		case *ast.GenDecl: // limits and sizes
			if d.Tok == token.CONST || d.Tok == token.VAR {
				ast.Inspect(d, f.visit)
			}
		}
	}

	slices.SortStableFunc(f.found, func(a, b mutant) int { return a.from - b.from })
	return f.found, nil
}

// finder collects the mutants of a file.
type finder struct {
	file  string
	text  []byte
	set   *token.FileSet
	in    *function // nil outside of functions
	found []mutant
}

func (f *finder) add(from, to token.Pos, changed ...string) {
	begin, end := f.set.Position(from), f.set.Position(to)
	line := f.text[begin.Offset-begin.Column+1:]
	if i := slices.Index(line, '\n'); i >= 0 {
		line = line[:i]
	}
	for _, text := range changed {
		if text == string(f.text[begin.Offset:end.Offset]) { // an assignment to _
			continue
		}
		f.found = append(f.found, mutant{
			file: f.file, line: begin.Line, from: begin.Offset, to: end.Offset,
			old: string(f.text[begin.Offset:end.Offset]), new: text, context: strings.TrimSpace(string(line)), in: f.in,
		})
	}
}

// operators are what may stand in the place of an operator.
var operators = map[token.Token][]string{
	token.EQL: {"!="}, token.NEQ: {"=="},
	token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
	token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"}, token.REM: {"*"},
	token.AND: {"|"}, token.OR: {"&"}, token.SHL: {">>"}, token.SHR: {"<<"},
	token.ADD_ASSIGN: {"-="}, token.SUB_ASSIGN: {"+="},
}

// visit adds the mutants of a node. Those that the compiler refuses are found out later.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), operators[n.Op]...)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.add(n.OpPos, n.OpPos+1, "")
		}
	case *ast.IncDecStmt:
		f.add(n.TokPos, n.TokPos+2, map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
		f.add(n.Pos(), n.End(), "")
	case *ast.AssignStmt:
		f.add(n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), operators[n.Tok]...)
		if n.Tok != token.DEFINE {
			f.add(n.Pos(), n.End(), strings.Repeat("_, ", len(n.Lhs)-1)+"_ = "+f.slice(n.Rhs[0].Pos(), n.Rhs[len(n.Rhs)-1].End()))
		}
	case *ast.IfStmt:
		cond := f.slice(n.Cond.Pos(), n.Cond.End())
		f.add(n.Cond.Pos(), n.Cond.End(), "("+cond+") && false", "("+cond+") || true")
	case *ast.ForStmt:
		if n.Cond != nil {
			f.add(n.Cond.Pos(), n.Cond.End(), "("+f.slice(n.Cond.Pos(), n.Cond.End())+") && false")
		}
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		f.add(n.Pos(), n.End(), "")
	case *ast.BranchStmt:
		if other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[n.Tok]; other != "" && n.Label == nil {
			f.add(n.Pos(), n.End(), other)
		}
	case *ast.ReturnStmt:
		if last := len(n.Results) - 1; last >= 0 {
			if name, ok := n.Results[last].(*ast.Ident); ok && name.Name == "err" {
				f.add(name.Pos(), name.End(), "nil")
			}
		}
	case *ast.BasicLit:
		f.number(n)
	case *ast.Ident:
		if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" {
			f.add(n.Pos(), n.End(), other)
		}
	}

	return true
}

func (f *finder) slice(from, to token.Pos) string {
	return string(f.text[f.set.Position(from).Offset:f.set.Position(to).Offset])
}

// number makes a whole number one more or one less.
func (f *finder) number(n *ast.BasicLit) {
	if n.Kind != token.INT {
		return
	}
	value, err := strconv.ParseInt(n.Value, 0, 64)
	if err != nil {
		return
	}
	changed := []string{strconv.FormatInt(value+1, 10)}
	if value > 0 {
		changed = append(changed, strconv.FormatInt(value-1, 10))
	}
	f.add(n.Pos(), n.End(), changed...)
}
