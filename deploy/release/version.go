package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// version is a version as it is tagged, without its v: 1.2.3, 1.2.3-rc.1, or 0.0.0-dev.7 of what has no tag.
type version struct {
	number string // 1.2.3
	kind   string // rc, dev, or nothing of a release
	count  string // 1 of rc.1
}

var versionForm = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(rc|dev)\.(\d+))?$`)

func parseVersion(s string) (version, error) {
	m := versionForm.FindStringSubmatch(s)
	if m == nil {
		return version{}, fmt.Errorf("-version: %q is no version such as v1.2.3, v1.2.3-rc.1 or v0.0.0-dev.7", s)
	}
	return version{m[1], m[2], m[3]}, nil
}

// String is the version as Go, npm, Helm and the archives have it: 1.2.3-rc.1.
func (v version) String() string {
	if v.kind == "" {
		return v.number
	}
	return v.number + "-" + v.kind + "." + v.count
}

// python is the version as PEP 440 has it: 1.2.3rc1, 0.0.0.dev7.
func (v version) python() string {
	switch v.kind {
	case "":
		return v.number
	case "dev":
		return v.number + ".dev" + v.count
	default:
		return v.number + v.kind + v.count
	}
}

// writeNotes writes what CHANGELOG.md says of this version. A version that it does not name is refused, but for what has no tag.
func (r *release) writeNotes() error {
	changelog, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	heading := r.version.number
	if r.version.kind == "dev" {
		heading = "Unreleased"
	}

	sections := regexp.MustCompile(`(?m)^## `).Split(string(changelog), -1)
	for _, section := range sections[1:] {
		if regexp.MustCompile(`^\[?` + regexp.QuoteMeta(heading) + `\b`).MatchString(section) {
			return os.WriteFile(filepath.Join(r.dist, "NOTES.md"), append([]byte("## "), append(bytes.TrimSpace([]byte(section)), '\n')...), 0o644)
		}
	}
	return fmt.Errorf("CHANGELOG.md has no section ## %s", heading)
}
