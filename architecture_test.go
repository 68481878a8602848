package berth

// This file holds the rules of the tree, which imports go which way among them.

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance/tree"
)

const module = "github.com/berthdev/berth/"

// rooms says which of our packages each package may import, and which technology it may use. A package that is not listed
// fails the test: a new room is a decision.
var rooms = map[string]struct {
	may  []string
	uses []string
}{
	"spec":                             {may: []string{"spec/overlay"}},
	"spec/overlay":                     {},
	"spec/answers":                     {may: []string{"spec"}, uses: []string{http}},
	"spec/diff":                        {may: []string{"spec/overlay"}},
	"gen":                              {},
	"gen/rest":                         {may: []string{"impl/encode", "impl/nullable", "impl/validate"}, uses: []string{http, echo}},
	"gen/queue":                        {may: []string{"impl/encode", "impl/nullable", "impl/validate"}, uses: []string{http, echo}},
	"gen/worker":                       {may: []string{"impl/encode", "impl/nullable", "impl/validate"}, uses: []string{http, echo}},
	"gen/controls":                     {may: []string{"impl/encode", "impl/nullable", "impl/validate"}, uses: []string{http, echo}},
	"gen/controlsclient":               {may: []string{"gen/controls"}, uses: []string{http}},
	"gen/restclient":                   {may: []string{"gen/rest"}, uses: []string{http}},
	"gen/queueclient":                  {may: []string{"gen/queue"}, uses: []string{http}},
	"gen/graph":                        {may: []string{"graphql/plain", "graphql/scalar", "spec"}},
	"gen/graphclient":                  {},
	"graphql/scalar":                   {},
	"graphql/plain":                    {may: []string{"graphql/scalar"}},
	"impl":                             {},
	"impl/validate":                    {},
	"impl/encode":                      {},
	"impl/encode/encodetest":           {may: []string{"impl/encode"}},
	"impl/nullable":                    {},
	"impl/compute":                     {},
	"impl/atomicfile":                  {},
	"impl/problem":                     {may: []string{"impl/compute"}},
	"impl/journal":                     {may: []string{"impl/compute"}},
	"impl/journal/bodies":              {may: []string{"impl/journal", "impl/validate"}, uses: []string{http}},
	"impl/fault":                       {may: []string{"impl/compute", "impl/journal"}, uses: []string{http}},
	"impl/script":                      {may: []string{"impl/compute", "impl/journal", "impl/spelling"}},
	"impl/spelling":                    {},
	"impl/seed":                        {may: []string{"gen/controls", "gen/rest", "impl/compute", "impl/spelling", "impl/validate", "spec"}},
	"store":                            {may: []string{"impl/compute", "store/transfer"}},
	"store/sqldb":                      {may: []string{"store", "store/transfer", "impl/compute"}, uses: []string{sql}},
	"store/groupcommit":                {may: []string{"store", "impl/compute"}},
	"store/transfer":                   {},
	"store/sqlite":                     {may: []string{"store", "store/groupcommit", "store/sqldb", "store/transfer", "impl/atomicfile", "impl/compute"}, uses: []string{sql}},
	"store/postgres":                   {may: []string{"store", "store/groupcommit", "store/sqldb", "store/transfer", "impl/compute"}, uses: []string{sql, pgx}},
	"store/pgtest":                     {may: []string{"impl/compute"}, uses: []string{pgx}}, // a PostgreSQL of one's own
	"store/storetest":                  {may: []string{"store", "store/transfer", "impl/compute"}},
	"store/ship":                       {may: []string{"impl/atomicfile", "impl/compute", "store/sqlite"}, uses: []string{http}},
	"store/faulttest":                  {may: []string{"impl/atomicfile"}},
	"impl/args":                        {},
	"impl/audit":                       {may: []string{"impl/compute", "store"}},
	"impl/changes":                     {may: []string{"impl/compute", "store"}},
	"impl/control":                     {may: []string{"impl/args", "impl/compute", "impl/script", "store"}},
	"impl/certificate":                 {may: []string{"impl/compute"}, uses: []string{http}},
	"impl/certificate/certificatetest": {uses: []string{http}}, // an authority of one's own
	"impl/limit":                       {may: []string{"impl/atomicfile", "impl/compute"}, uses: []string{http}},
	"impl/proxy":                       {may: []string{"impl/compute", "impl/journal", "impl/limit", "impl/problem", "impl/queue", "impl/relay"}, uses: []string{http}},
	"impl/relay":                       {uses: []string{http}},
	"impl/queue":                       {may: []string{"impl/compute", "store"}},
	"impl/history":                     {may: []string{"impl/compute", "impl/queue"}},
	"impl/setting":                     {},
	"impl/runtime":                     {may: []string{"impl/compute", "impl/setting"}},
	"impl/runtimes":                    {may: []string{"impl/runtime/docker", "impl/runtime/kubernetes", "impl/runtime/process", "impl/runtime/sim"}}, // and nobody else: they register themselves
	"impl/runtime/sim":                 {may: []string{"impl/args", "impl/compute", "impl/runtime", "impl/setting"}},
	"impl/runtime/docker":              {may: []string{"impl/args", "impl/compute", "impl/runtime", "impl/setting"}, uses: []string{moby}},
	"impl/runtime/docker/dockertest":   {uses: []string{moby, http}}, // a registry to pull from
	"impl/runtime/kubernetes":          {may: []string{"impl/args", "impl/compute", "impl/runtime", "impl/setting"}, uses: []string{http}},
	"impl/runtime/kubernetes/kubetest": {may: []string{"impl/compute"}, uses: []string{http}}, // a cluster of one's own
	"impl/runtime/process":             {may: []string{"impl/args", "impl/compute", "impl/runtime", "impl/setting"}},
	"impl/runtime/runtimetest":         {may: []string{"impl/compute", "impl/runtime"}},
	"impl/runtime/runtimetest/play":    {},
	"impl/replica":                     {may: []string{"impl/compute", "impl/relay", "store"}, uses: []string{http}},
	"impl/loop":                        {may: []string{"impl/compute", "impl/control", "impl/loop/reconcile", "impl/queue", "impl/runtime", "store", "impl/script"}},
	"impl/why":                         {may: []string{"impl/compute", "impl/control", "impl/queue", "store"}},
	"impl/loop/reconcile":              {may: []string{"impl/compute"}},
	"impl/webhook":                     {uses: []string{http}},
	"impl/reference":                   {uses: []string{http}},
	"docs":                             {may: []string{"impl/reference"}, uses: []string{http}},
	"docs/site":                        {},
	"console":                          {may: []string{"impl/reference"}, uses: []string{http}},
	"impl/observe":                     {may: []string{"impl/compute", "impl/control", "impl/queue", "store"}, uses: []string{http, prom, otel}},
	"impl/shell":                       {may: []string{"impl/compute", "impl/runtime"}},
	"impl/gateway":                     {may: []string{"impl/compute", "impl/runtime", "impl/shell"}},
	"impl/shell/wire":                  {may: []string{"gen/controls", "impl/compute", "impl/runtime"}, uses: []string{http}},
	"impl/worker":                      {uses: []string{http}}, // stands outside the server, as any worker
	"impl/record": {
		may:  []string{"gen/rest", "graphql", "impl/compute", "impl/journal", "impl/journal/bodies", "impl/relay", "spec/answers"},
		uses: []string{http},
	},
	"impl/httpapi": {
		may:  []string{"gen/controls", "gen/rest", "gen/queue", "gen/worker", "impl/audit", "impl/changes", "impl/compute", "impl/control", "impl/encode", "impl/fault", "impl/history", "impl/journal", "impl/journal/bodies", "impl/limit", "impl/nullable", "impl/problem", "impl/queue", "impl/runtime", "impl/script", "impl/seed", "impl/shell", "impl/shell/wire", "impl/spelling", "impl/validate", "spec", "impl/why"},
		uses: []string{http, echo},
	},
	"graphql": {
		may:  []string{"gen/graph", "impl/audit", "impl/compute", "impl/control", "impl/fault", "impl/journal", "impl/limit", "impl/problem", "impl/validate"},
		uses: []string{http},
	},
	"impl/app": {
		may:  []string{"console", "docs", "graphql", "impl/atomicfile", "impl/audit", "impl/certificate", "impl/changes", "impl/compute", "impl/control", "impl/fault", "impl/gateway", "impl/history", "impl/httpapi", "impl/limit", "impl/loop", "impl/loop/reconcile", "impl/observe", "impl/problem", "impl/proxy", "impl/queue", "impl/reference", "impl/replica", "impl/runtime", "impl/runtimes", "impl/seed", "impl/setting", "impl/shell", "impl/webhook", "store", "store/postgres", "store/ship", "store/sqlite", "store/transfer", "impl/why"},
		uses: []string{http},
	},
	"conformance":          {may: []string{"spec", "spec/answers", "gen/rest", "gen/queue", "gen/worker", "gen/controls", "gen/graphclient", "conformance/spread", "impl/app"}, uses: []string{http}},
	"conformance/mutate":   {},
	"conformance/abuse":    {uses: []string{http}},
	"conformance/crash":    {may: []string{"store/pgtest", "store/postgres"}, uses: []string{http}}, // of berth it sees the interfaces alone, and who owns the database
	"conformance/spread":   {},
	"conformance/tree":     {},
	"conformance/thousand": {},                                                    // a test alone
	"conformance/replicas": {may: []string{"conformance/spread", "store/pgtest"}}, // stands in for the program
	"cmd/berth":            {may: []string{"conformance", "docs", "impl/reference", "impl/app", "impl/compute", "impl/observe", "impl/record", "impl/runtime", "impl/seed", "impl/setting", "impl/shell/wire", "impl/spelling", "impl/worker", "gen/controls", "gen/controlsclient", "gen/rest", "gen/restclient", "gen/queue", "gen/queueclient", "gen/worker", "spec", "spec/diff"}, uses: []string{http}},
	"cmd/validgen":         {may: []string{"spec/overlay"}},
	"cmd/graphgen":         {},
	"":                     {may: []string{"gen/controls", "gen/controlsclient", "impl/app", "impl/compute", "impl/runtime", "impl/setting", "impl/shell/wire", "impl/worker"}, uses: []string{http}}, // what embedders import
	"berthtest":            {may: []string{""}},
}

// The technologies that only some rooms may know.
const (
	http = "net/http"
	echo = "github.com/labstack/echo/v4"
	sql  = "database/sql"
	moby = "github.com/moby/moby" // the Docker client
	pgx  = "github.com/jackc/pgx/v5"
	prom = "github.com/prometheus"
	otel = "go.opentelemetry.io"
)

func TestArchitecture_ImportsGoDownward(t *testing.T) {
	t.Parallel()
	// Without the profile, which names packages otherwise. With -e a cycle or a missing module does not end the list: an import upward is named by the rule that it breaks.
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-pgo=off", "-json=ImportPath,Dir,Imports,IgnoredGoFiles", "./...")
	var stderr strings.Builder
	list.Stderr = &stderr
	out, err := list.Output()
	require.NoError(t, err, stderr.String())

	gone := maps.Clone(rooms)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir         string
			Imports, IgnoredGoFiles []string
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}

		require.NoError(t, err)
		name := strings.TrimSuffix(strings.TrimPrefix(p.ImportPath+"/", module), "/")
		room, listed := rooms[name]
		delete(gone, name)
		if !assert.True(t, listed, "%s is not listed in architecture_test.go: say what it may import", name) {
			continue
		}

		for _, file := range p.IgnoredGoFiles { // those of other systems
			if !strings.HasSuffix(file, "_test.go") {
				p.Imports = append(p.Imports, importsOf(t, filepath.Join(p.Dir, file))...)
			}
		}

		for _, i := range p.Imports {
			if ours, ok := strings.CutPrefix(i+"/", module); ok {
				ours = strings.TrimSuffix(ours, "/") // "": the root
				assert.Contains(t, room.may, ours, "%s imports %s", name, ours)
			}
			for _, technology := range []string{http, echo, sql, moby, prom, otel} {
				if i == technology || strings.HasPrefix(i, technology+"/") {
					assert.Contains(t, room.uses, technology, "%s imports %s", name, i)
				}
			}
		}
	}

	assert.Empty(t, gone, "architecture_test.go lists packages that are gone")
}

// importsOf gives the paths that a file imports.
func importsOf(t *testing.T, path string) (paths []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, i := range file.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, `"`))
	}
	return paths
}

// handWritten calls f with every Go file that is not generated.
func handWritten(t *testing.T, f func(path string, file *ast.File, set *token.FileSet, text []byte)) {
	files, err := tree.Files(".", ".go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.Contains(path, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)

		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		require.NoError(t, err)
		if !ast.IsGenerated(file) {
			f(path, file, set, text)
		}
	}
}

func TestArchitecture_EveryPackageHasADocComment(t *testing.T) {
	t.Parallel()
	withDoc := map[string]bool{}
	handWritten(t, func(path string, file *ast.File, _ *token.FileSet, _ []byte) {
		withDoc[filepath.Dir(path)] = withDoc[filepath.Dir(path)] || file.Doc != nil
	})
	for dir, has := range withDoc {
		assert.True(t, has, "the package in %s has no doc comment", dir)
	}
}

func TestArchitecture_NothingIsDecidedByErrorText(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, at := range decisionsByText(file) {
			assert.Fail(t, set.Position(at).String()+" decides by the text of an error")
		}
	})
}

// judges are the packages whose functions answer questions about text, or cut it up for an answer.
var judges = []string{"strings", "bytes", "regexp"}

// decisionsByText finds where a file compares, switches on, matches or cuts what Error() gave, also by way of a variable or a
// conversion. It knows no types: a method without arguments that is called Error is that of an error.
func decisionsByText(file *ast.File) (found []token.Pos) {
	names := map[string]string{} // what the file calls the judges
	for _, judge := range judges {
		names[localName(file, judge)] = judge
	}

	for _, declaration := range file.Decls {
		texts := map[string]bool{} // the variables of this function that hold the text of an error
		var isText func(ast.Expr) bool
		isText = func(n ast.Expr) bool {
			switch n := n.(type) {
			case *ast.Ident:
				return texts[n.Name]
			case *ast.ParenExpr:
				return isText(n.X)
			case *ast.SliceExpr:
				return isText(n.X)
			case *ast.IndexExpr:
				return isText(n.X)
			case *ast.CallExpr:
				switch f := n.Fun.(type) {
				case *ast.SelectorExpr:
					return f.Sel.Name == "Error" && len(n.Args) == 0
				case *ast.ArrayType:
					return len(n.Args) == 1 && isText(n.Args[0])
				case *ast.Ident:
					return (f.Name == "string" || f.Name == "len") && len(n.Args) == 1 && isText(n.Args[0])
				}
			}

			return false
		}

		ast.Inspect(declaration, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if name, ok := to.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
						texts[name.Name] = isText(n.Rhs[i])
					}
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := f.X.(*ast.Ident)
				judged := ok && names[pkg.Name] != "" || strings.HasPrefix(f.Sel.Name, "Match") || strings.HasPrefix(f.Sel.Name, "Find")
				if judged && slices.ContainsFunc(n.Args, isText) {
					found = append(found, n.Pos())
				}
			case *ast.BinaryExpr:
				if slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ}, n.Op) && (isText(n.X) || isText(n.Y)) {
					found = append(found, n.Pos())
				}
			case *ast.SwitchStmt:
				if n.Tag != nil && isText(n.Tag) {
					found = append(found, n.Pos())
				}
			}

			return true
		})
	}

	return found
}

// localName is what a file calls a package that it imports, or "-", which names nothing, when it does not.
func localName(file *ast.File, path string) string {
	for _, i := range file.Imports {
		if i.Path.Value == `"`+path+`"` {
			if i.Name != nil {
				return i.Name.Name
			}
			return path[strings.LastIndex(path, "/")+1:]
		}
	}
	return "-"
}

func TestArchitecture_CommandsUseTheGeneratedClients(t *testing.T) {
	t.Parallel()
	byHand := []string{"NewRequest", "NewRequestWithContext", "Get", "Head", "Post", "PostForm"}
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		path = filepath.ToSlash(path)
		if filepath.Dir(path) != "cmd/berth" || strings.HasSuffix(path, "_test.go") || path == "cmd/berth/healthcheck.go" || path == "cmd/berth/build_send.go" { // their addresses are in no document
			return
		}

		client := localName(file, http)
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == client {
					assert.NotContains(t, byHand, call.Sel.Name, "%s makes a request by hand: the generated clients know the paths and parameters", set.Position(n.Pos()))
				}
			}
			return true
		})
	})
}

func TestArchitecture_FilesAndFunctionsStayShort(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, text []byte) {
		assert.LessOrEqual(t, bytes.Count(text, []byte("\n")), 500, "%s has over 500 lines", path)
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
				assert.LessOrEqual(t, lines, 80, "%s: %s has over 80 lines", path, f.Name.Name)
			}
			return true
		})
	})
}

// TestArchitecture_WhatIsSkippedSaysSo: the lines that begin with SKIPPED are how a reader of a log finds what was not tested.
func TestArchitecture_WhatIsSkippedSaysSo(t *testing.T) {
	t.Parallel()
	handWritten(t, func(_ string, file *ast.File, set *token.FileSet, _ []byte) {
		tests := localName(file, "testing")
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || tests == "-" {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, f.Sel.Name) {
				return true
			}
			said := ""
			if len(call.Args) > 0 {
				ast.Inspect(call.Args[0], func(n ast.Node) bool { // the first text of those that are added
					if text, ok := n.(*ast.BasicLit); ok && said == "" {
						said, _ = strconv.Unquote(text.Value)
					}
					return true
				})
			}
			assert.True(t, strings.HasPrefix(said, "SKIPPED:"), "%s: what is skipped is told as SKIPPED: and why", set.Position(call.Pos()))
			return true
		})
	})
}

// clocks are the places where the machine's time may be read: the one clock, what waits for real processes, and programs
// that stand outside the server.
var clocks = []string{"impl/compute/", "impl/runtime/process/", "impl/runtime/runtimetest/", "impl/worker/", "cmd/", "conformance/"}

func TestArchitecture_OnlyTheClockReadsTheTime(t *testing.T) {
	t.Parallel()
	handWritten(t, func(path string, file *ast.File, set *token.FileSet, _ []byte) {
		clock, bubble := localName(file, "time"), localName(file, "testing/synctest")
		allowed := slices.ContainsFunc(clocks, func(dir string) bool { return strings.HasPrefix(filepath.ToSlash(path), dir) })
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok {
					pkg, _ := f.X.(*ast.Ident)
					return pkg == nil || pkg.Name != bubble // where no time passes
				}
			}
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}

			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == clock {
				forbidden := []string{"Now", "After", "Since", "NewTimer", "NewTicker", "AfterFunc", "Tick", "Sleep"}
				switch {
				case strings.HasSuffix(path, "_test.go"):
					forbidden = []string{"Sleep"}
				case allowed:
					forbidden = nil
				}
				assert.NotContains(t, forbidden, selector.Sel.Name, "%s reads the machine's clock or waits for it", set.Position(n.Pos()))
			}

			return true
		})
	})
}
