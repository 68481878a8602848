package conformance

import (
	"fmt"
	"io"
	"strings"

	"github.com/berthdev/berth/spec"
)

// WriteRules writes the rules for readers: RULES.md.
func WriteRules(out io.Writer) error {
	rules, err := spec.Rules()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Rules\n\nGenerated from spec/rules.yaml by `make rules`. Each rule has a test in conformance/, except those marked open.\n")
	area := ""
	for _, r := range rules {
		if a, _, _ := strings.Cut(r.ID, "."); a != area {
			area = a
			fmt.Fprintf(&b, "\n## %s\n\n| id | rule | source | |\n|---|---|---|---|\n", a)
		}
		mark := r.Kind
		if r.Open {
			mark += ", open"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, r.Says, r.Source, mark)
	}
	_, err = io.WriteString(out, b.String())
	return err
}
