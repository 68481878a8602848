// Package berth has no code: its test holds the rules of the tree, which imports go which way among them.
package berth

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/berthdev/berth/"

// rooms says which of our packages each package may import, and which technology it may use. A package that is not listed
// fails the test: a new room is a decision.
var rooms = map[string]struct {
	may  []string
	uses []string
}{
	"spec":                     {},
	"gen":                      {},
	"gen/rest":                 {may: []string{"impl/validate"}, uses: []string{http, echo}},
	"gen/queue":                {may: []string{"impl/validate"}, uses: []string{http, echo}},
	"gen/worker":               {may: []string{"impl/validate"}, uses: []string{http, echo}},
	"impl":                     {},
	"impl/validate":            {},
	"impl/compute":             {},
	"impl/problem":             {may: []string{"impl/compute"}},
	"store":                    {may: []string{"impl/compute"}},
	"store/sqldb":              {may: []string{"store", "impl/compute"}, uses: []string{sql}},
	"store/sqlite":             {may: []string{"store", "store/sqldb", "impl/compute"}, uses: []string{sql}},
	"store/storetest":          {may: []string{"store", "impl/compute"}},
	"impl/control":             {may: []string{"impl/compute", "store"}},
	"impl/queue":               {may: []string{"impl/compute", "store"}},
	"impl/runtime":             {may: []string{"impl/compute"}},
	"impl/runtime/sim":         {may: []string{"impl/compute", "impl/runtime"}},
	"impl/runtime/process":     {may: []string{"impl/compute", "impl/runtime"}},
	"impl/runtime/runtimetest": {may: []string{"impl/compute", "impl/runtime"}},
	"impl/loop":                {may: []string{"impl/compute", "impl/control", "impl/queue", "impl/runtime", "store"}},
	"impl/httpapi": {
		may:  []string{"gen/rest", "gen/queue", "gen/worker", "impl/compute", "impl/control", "impl/problem", "impl/queue", "impl/validate", "spec"},
		uses: []string{http, echo},
	},
	"impl/app": {
		may:  []string{"impl/compute", "impl/control", "impl/httpapi", "impl/loop", "impl/queue", "impl/runtime/process", "impl/runtime/sim", "store", "store/sqlite"},
		uses: []string{http},
	},
	"conformance":       {may: []string{"spec", "gen/rest", "gen/queue", "gen/worker", "impl/app"}, uses: []string{http}},
	"conformance/crash": {uses: []string{http}},
	"cmd/berth":         {may: []string{"conformance", "impl/app", "impl/compute", "gen/rest", "gen/queue", "gen/worker"}, uses: []string{http}},
	"cmd/validgen":      {},
	"":                  {},
}

// The technologies that only some rooms may know.
const (
	http = "net/http"
	echo = "github.com/labstack/echo/v4"
	sql  = "database/sql"
)

func TestImportsGoDownward(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		}
		name := strings.TrimPrefix(p.ImportPath+"/", module)
		name = strings.TrimSuffix(name, "/")
		room, listed := rooms[name]
		require.True(t, listed, "%s is not listed in architecture_test.go: say what it may import", name)
		for _, i := range p.Imports {
			if ours, ok := strings.CutPrefix(i, module); ok {
				require.Contains(t, room.may, ours, "%s imports %s", name, ours)
			}
			if slices.Contains([]string{http, echo, sql}, i) {
				require.Contains(t, room.uses, i, "%s imports %s", name, i)
			}
		}
	}
}

// handWritten calls f with every Go file that is not generated.
func handWritten(t *testing.T, f func(path string, file *ast.File, set *token.FileSet, text []byte)) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, ".gen.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err == nil {
			f(path, file, set, text)
		}
		return err
	}))
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	withDoc := map[string]bool{}
	handWritten(t, func(path string, file *ast.File, _ *token.FileSet, _ []byte) {
		withDoc[filepath.Dir(path)] = withDoc[filepath.Dir(path)] || file.Doc != nil
	})
	for dir, has := range withDoc {
		require.True(t, has, "the package in %s has no doc comment", dir)
	}
}

func TestNothingIsDecidedByTheTextOfAnError(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		isText := func(n ast.Expr) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return false
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			return ok && selector.Sel.Name == "Error" && len(call.Args) == 0
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if selector, ok := n.Fun.(*ast.SelectorExpr); ok {
					if pkg, ok := selector.X.(*ast.Ident); ok && (pkg.Name == "strings" || pkg.Name == "regexp") {
						for _, a := range n.Args {
							require.False(t, isText(a), "%s decides by the text of an error", set.Position(n.Pos()))
						}
					}
				}
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					require.False(t, isText(n.X) || isText(n.Y), "%s compares the text of an error", set.Position(n.Pos()))
				}
			case *ast.SwitchStmt:
				require.False(t, n.Tag != nil && isText(n.Tag), "%s decides by the text of an error", set.Position(n.Pos()))
			}
			return true
		})
	})
}

func TestHandWrittenFilesStayShort(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, _ *ast.File, _ *token.FileSet, text []byte) {
		require.LessOrEqual(t, bytes.Count(text, []byte("\n")), 500, "%s has over 500 lines", path)
	})
}

// clocks are the places where the machine's time may be read: the one clock, what waits for real processes, and programs
// that stand outside the server.
var clocks = []string{"impl/compute/", "impl/runtime/process/", "impl/runtime/runtimetest/", "cmd/", "conformance/"}

func TestOnlyTheClockReadsTheTime(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		allowed := slices.ContainsFunc(clocks, func(dir string) bool { return strings.HasPrefix(filepath.ToSlash(path), dir) })
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "time" {
				forbidden := []string{"Now", "After", "Since", "NewTimer", "NewTicker", "AfterFunc", "Tick", "Sleep"}
				switch {
				case strings.HasSuffix(path, "_test.go"):
					forbidden = []string{"Sleep"}
				case allowed:
					forbidden = nil
				}
				require.NotContains(t, forbidden, selector.Sel.Name, "%s", set.Position(n.Pos()))
			}
			return true
		})
	})
}
