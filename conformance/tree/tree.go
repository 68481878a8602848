// Package tree names the files of the repository, for tests that hold all of them against a rule.
//
// A test that lists a folder runs again when an entry of it has changed, and those of the root change with each command of git and
// each build. So the root is not listed here: its folders and pages are named, and the test of this package holds the names against it.
package tree

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"
)

// What the root has that people read and write, besides its Go files.
var (
	folders = []string{"berthtest", "cmd", "conformance", "console", "deploy", "docs", "examples", "gen", "graphql", "impl", "spec", "store"}
	pages   = []string{"BENCH.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "RULES.md", "SECURITY.md"}
)

// Files gives the paths, from the root on and with slashes, of the files in the repository at root whose names end with one of the
// extensions, such as ".go". Packages of npm and what hidden folders hold are not among them.
func Files(root string, extensions ...string) ([]string, error) {
	top, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	var files []string
	add := func(name string) {
		for _, extension := range extensions {
			if path.Ext(name) == extension {
				files = append(files, name)
			}
		}
	}
	for _, name := range append(top, pages...) {
		add(name)
	}

	tree := os.DirFS(root)
	for _, folder := range folders {
		err := fs.WalkDir(tree, folder, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case !entry.IsDir():
				add(name)
			case entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the files of the repository: %w", err)
		}
	}

	return files, nil
}

// goFiles names the Go files of the root package, for every system and with its tests.
func goFiles(root string) ([]string, error) {
	list := exec.Command("go", "list", "-pgo=off", "-f", `{{range .GoFiles}}{{.}} {{end}}{{range .IgnoredGoFiles}}{{.}} {{end}}`+
		`{{range .TestGoFiles}}{{.}} {{end}}{{range .XTestGoFiles}}{{.}} {{end}}`, ".")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("the Go files of the root: %w", err)
	}
	return strings.Fields(string(out)), nil
}
