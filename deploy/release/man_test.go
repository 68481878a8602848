package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// example has what man pages trip over: lines that begin with a dot or a quote, backslashes, hyphens, and characters that ASCII lacks.
var example = command{
	Name: "berth", Use: "berth", Short: "Pods and jobs", Long: "The server.\n\nExit codes:\n  0  done\n  1  'failed'",
	Commands: []command{
		{Name: "berth pods", Use: "berth pods", Group: "What speaks to a server", Short: "Pods", Commands: []command{{
			Name: "berth pods list", Use: "berth pods list", Short: "List …", Long: ".dotted \\ and 2 × 3\n'quoted' ~ ^ `", Aliases: []string{"ls"}, Example: "  berth pods list --json | jq '.pods[]'",
			Flags: []commandFlag{{Name: "quiet", Shorthand: "q", Usage: "ids \"alone\""}, {Name: "server", Value: "string", Default: "http://127.0.0.1:8765", Usage: "address", Variable: "BERTH_SERVER"}},
		}}},
		{Name: "berth serve", Use: "berth serve", Group: "The server and its tools", Short: "Run the server"},
	},
}

func TestManual_IsReadByManAsItIsMeant(t *testing.T) {
	t.Parallel()
	pages := manual(example, "1.2.3", time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
	if len(pages) != 3 {
		t.Fatalf("there are %d pages", len(pages))
	}
	if !strings.HasPrefix(pages["berth-pods.1"], `.TH "BERTH\-PODS" "1" "2026\-11\-23" "berth 1.2.3" "berth"`+"\n") {
		t.Fatalf("the page begins with %.80q", pages["berth-pods.1"])
	}

	for name, want := range map[string][]string{
		"berth.1":      {"BERTH(1)", "berth-pods(1)", "  0  done", "'failed'", "WHAT SPEAKS TO A SERVER"},
		"berth-pods.1": {"berth pods list", ".dotted \\ and 2 × 3 'quoted' ~ ^ `", "-q, --quiet", `ids "alone"`, "address.  The default is http://127.0.0.1:8765.  In the environment it is BERTH_SERVER.", "jq '.pods[]'", "also called ls"},
	} {
		shown := formatted(t, pages[name])
		for _, text := range want {
			if !strings.Contains(shown, text) {
				t.Errorf("%s does not say %q:\n%s", name, text, shown)
			}
		}
	}
}

// formatted gives a page as man shows it, and fails at every warning.
func formatted(t *testing.T, page string) string {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("SKIPPED: the manual needs groff")
	}
	cmd := exec.Command("groff", "-man", "-ww", "-Tutf8", "-P-c", "-P-b", "-P-u", "-rLL=200n")
	cmd.Stdin = strings.NewReader(page)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Fatalf("groff: %v\n%s", err, errs.String())
	}
	return out.String()
}
