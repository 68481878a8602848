package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReference_IsUpToDate: docs/commands.md is what the help says.
func TestReference_IsUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "commands.md")
	page := referencePage(describe(newCommand()))
	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(kept), page, "make rules writes it")
}

// referencePage writes the page of all commands.
func referencePage(root described) string {
	var page strings.Builder
	page.WriteString("# Commands\n\nWritten by `make rules` from the help of each command. `berth help COMMAND --json` gives the same as a document, and the packages\n" +
		"of Linux have it as man pages: `man berth-pods`.\n")
	for _, group := range []string{"The server and its tools", "What speaks to a server"} {
		fmt.Fprintf(&page, "\n%s:\n\n| command | what it does |\n|---|---|\n", group)
		for _, cmd := range root.Commands {
			if cmd.Group == group {
				fmt.Fprintf(&page, "| [`%s`](#%s) | %s |\n", cmd.Name, strings.ReplaceAll(cmd.Name, " ", "-"), cell(cmd.Short))
			}
		}
	}

	fmt.Fprintf(&page, "\n## %s\n\n%s%s", root.Name, fenced(root.Long), flagTable(root.Flags))
	for _, cmd := range root.Commands {
		section(&page, 2, cmd)
	}
	return page.String()
}

// section writes what there is to say of a command, and of those below it.
func section(page *strings.Builder, depth int, cmd described) {
	fmt.Fprintf(page, "\n%s %s\n\n%s.\n", strings.Repeat("#", min(depth, 4)), cmd.Name, cmd.Short)
	if len(cmd.Commands) == 0 {
		page.WriteString("\n" + fenced(cmd.Use))
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(page, "\nAlso called `%s`.\n", strings.Join(cmd.Aliases, "`, `"))
	}
	if cmd.Long != "" && cmd.Long != cmd.Short+"." {
		page.WriteString("\n" + fenced(cmd.Long))
	}
	page.WriteString(flagTable(cmd.Flags))
	if cmd.Example != "" {
		page.WriteString("\n" + fenced(strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n")))
	}
	for _, sub := range cmd.Commands {
		section(page, depth+1, sub)
	}
}

// fenced shows a text as it is.
func fenced(text string) string { return "```text\n" + strings.TrimRight(text, "\n") + "\n```\n" }

// cell is a text of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;", "\n", " ").Replace(text)
}

func flagTable(flags []describedFlag) string {
	if len(flags) == 0 {
		return ""
	}
	var table strings.Builder
	table.WriteString("\n| flag | default | what it is |\n|---|---|---|\n")
	for _, f := range flags {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		usage, byDefault := cell(f.Usage), ""
		if f.Variable != "" {
			usage += " (`" + f.Variable + "`)"
		}
		if f.Default != "" {
			byDefault = "`" + cell(f.Default) + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", strings.TrimSpace(name+" "+f.Value), byDefault, usage)
	}
	return table.String()
}

func TestHelp_AsADocumentHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	r := call(t.Context(), "", "help", "--json")
	require.Zero(t, r.code, r.err)
	var root described
	require.NoError(t, json.Unmarshal([]byte(r.out), &root))
	require.Len(t, root.Commands, len(serverCommands)+len(clientCommands)+2, "and help and completion")
	require.NotContains(t, r.out, os.TempDir(), "it is the same on every machine")

	r = call(t.Context(), "", "help", "pods", "create", "--json")
	var create described
	require.NoError(t, json.Unmarshal([]byte(r.out), &create))
	require.Equal(t, "berth pods create", create.Use)
	flags := map[string]describedFlag{}
	for _, f := range create.Flags {
		flags[f.Name] = f
	}
	require.Equal(t, describedFlag{Name: "timeout", Value: "duration", Default: "10m0s", Usage: "how long to wait; 0: for ever"}, flags["timeout"])
	require.Equal(t, "BERTH_SERVER", root.Commands[indexOf(root, "berth pods")].Flags[indexOfFlag(root.Commands[indexOf(root, "berth pods")], "server")].Variable)
	require.Contains(t, call(t.Context(), "", "help", "pods", "ls").out, "List the pods")
}

func indexOf(in described, name string) int {
	for i, cmd := range in.Commands {
		if cmd.Name == name {
			return i
		}
	}
	return -1
}

func indexOfFlag(in described, name string) int {
	for i, f := range in.Flags {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// TestCompletion_OfEveryShell: each script is of its shell, and offers what berth __complete gives.
func TestCompletion_OfEveryShell(t *testing.T) {
	t.Parallel()
	for shell, has := range map[string]string{"bash": "complete -o default", "zsh": "#compdef berth", "fish": "complete -c berth", "powershell": "Register-ArgumentCompleter -CommandName 'berth'"} {
		r := call(t.Context(), "", "completion", shell)
		require.Zero(t, r.code, r.err)
		require.Contains(t, r.out, has, shell)
		require.Contains(t, r.out, "__complete", shell)
		require.Contains(t, call(t.Context(), "", "completion", shell, "--help").out, "berth completion "+shell)
	}
}
