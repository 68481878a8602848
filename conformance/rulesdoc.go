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
	b.WriteString("# Rules\n\nGenerated from spec/rules.yaml by `make rules`. Each rule has a test in conformance/, except those marked open.\n\n" +
		"A source is a heading of [the contract](docs/contract.md), which says what is documented and what was decided. A rule that names editions of the contract is theirs alone.\n")
	b.WriteString("\n| area | rules | open |\n|---|---|---|\n")
	areas, counts := countByArea(rules)

	var all areaCount
	for _, a := range areas {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", a, counts[a].Rules, counts[a].Open)
		all.Rules += counts[a].Rules
		all.Open += counts[a].Open
	}

	fmt.Fprintf(&b, "| all | %d | %d |\n", all.Rules, all.Open)
	area := ""
	for _, r := range rules {
		if a := areaOf(r.ID); a != area {
			area = a
			fmt.Fprintf(&b, "\n## %s\n\n| id | rule | source | |\n|---|---|---|---|\n", a)
		}
		mark := r.Kind
		if r.Open {
			mark += ", open"
		}
		if len(r.Editions) > 0 {
			mark += ", " + strings.Join(r.Editions, ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.ID, r.Says, r.Source, mark)
	}

	_, err = io.WriteString(out, b.String())
	return err
}

// areaCount is how many rules an area has, and how many of them no test covers yet.
type areaCount struct{ Rules, Open int }

// countByArea counts the rules; the areas are in the order of the rules.
func countByArea(rules []spec.Rule) (areas []string, counts map[string]areaCount) {
	counts = map[string]areaCount{}
	for _, r := range rules {
		a := areaOf(r.ID)
		count, ok := counts[a]
		if !ok {
			areas = append(areas, a)
		}
		count.Rules++
		if r.Open {
			count.Open++
		}
		counts[a] = count
	}

	return areas, counts
}

// areaOf gives the area of a rule: its id up to the first dot.
func areaOf(id string) string {
	area, _, _ := strings.Cut(id, ".")
	return area
}
