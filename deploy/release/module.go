package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// writeModule writes the commit of the checkout as a proxy of Go modules has it, for GOPROXY=file://…: what go install fetches, by the rules of
// what a module may have.
func (r *release) writeModule(folder string) error {
	root, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}
	version := "v" + r.version.String()
	base := filepath.Join(folder, filepath.FromSlash(moduleName), "@v", version)
	about, err := json.Marshal(map[string]string{"Version": version, "Time": r.time.Format(time.RFC3339)})
	if err != nil {
		return err
	}
	requires, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}

	text := func(content []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(content); return err }
	}
	list := filepath.Join(filepath.Dir(base), "list")
	return errors.Join(create(list, text([]byte(version+"\n"))), create(base+".info", text(about)), create(base+".mod", text(requires)), create(base+".zip", func(w io.Writer) error {
		return zip.CreateFromVCS(w, module.Version{Path: moduleName, Version: version}, root, "HEAD", "")
	}))
}
