package main

import (
	"os"
	"path/filepath"
	"text/template"
)

// writeFormula writes the formula for Homebrew, of the systems that it has.
func (r *release) writeFormula() error {
	form, err := template.ParseFS(packed, "files/berth.rb.tmpl")
	if err != nil {
		return err
	}
	brewed := map[string]map[string]build{}
	for _, b := range r.builds {
		if b.os == "windows" {
			continue
		}
		if brewed[b.os] == nil {
			brewed[b.os] = map[string]build{}
		}
		brewed[b.os][b.arch] = b
	}

	f, err := os.Create(filepath.Join(r.dist, "berth.rb"))
	if err != nil {
		return err
	}
	defer f.Close()
	return form.Execute(f, map[string]any{"Version": r.version.String(), "Project": project, "Summary": summary, "Builds": brewed, "Names": map[string]string{"darwin": "macos", "linux": "linux", "amd64": "intel", "arm64": "arm"}})
}

// Archive is the name of the archive, and Sum its checksum, for the formula.
func (b build) Archive() string { return b.archive }

// Sum is the SHA-256 of the archive.
func (b build) Sum() string { return b.sum }
