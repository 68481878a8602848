package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/controls"
)

func newScriptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "script", Aliases: []string{"scripts"}, Short: "Script what the workers of an endpoint do, without a handler",
		Long: `Script what the simulated workers of an endpoint do on a server with test controls (berth serve --test-controls): answers by input, delays,
progress, chunks, errors, crashes and cold starts. The key is that of the controls, which the server prints when it starts. It does not list
endpoints, so that an endpoint is named by its id, not by its name; berth endpoints list, with a key of its user, shows the ids.`,
	}
	cmd.AddCommand(newScriptShowCommand(), newScriptSetCommand(), newScriptDeleteCommand())
	return cmd
}

// byID says of an endpoint that there is not, and that looks like a name, that the id is wanted.
func byID(err error, id string) error {
	if isStatus(err, http.StatusNotFound) && !looksLikeID(id) {
		return hinted(err, "with the key of the test controls an endpoint is named by its id: berth endpoints list, with a key of its user, shows it")
	}
	return err
}

// scriptedAnswer is an answer of a script, with its place and how often it was used.
type scriptedAnswer struct {
	place int
	used  int64
	controls.ScriptAnswer
}

var answerColumns = []column[scriptedAnswer]{
	{head: "ANSWER", value: func(a scriptedAnswer) string { return strconv.Itoa(a.place) }},
	{head: "MATCH", value: func(a scriptedAnswer) string {
		var words []string
		for _, m := range a.Match {
			words = append(words, m.Pointer+"="+string(m.Equals))
		}
		return strings.Join(words, " ")
	}},
	{head: "GIVES", value: func(a scriptedAnswer) string { return strings.Join(gives(a.ScriptAnswer), ", ") }},
	{head: "TIMES", value: func(a scriptedAnswer) string {
		if a.Times == nil {
			return "always"
		}
		return textOf(*a.Times)
	}},
	{head: "USED", value: func(a scriptedAnswer) string { return textOf(a.used) }},
}

// gives names what an answer gives.
func gives(a controls.ScriptAnswer) (words []string) {
	for _, part := range []struct {
		there bool
		word  string
	}{
		{a.Delay != nil, "delay"}, {a.Progress != nil, "progress"}, {a.Chunks != nil, "chunks"}, {a.Output != nil, "output"},
		{a.Error != nil, "error"}, {a.Crash != nil, "crash"}, {a.RefreshWorker != nil, "refreshWorker"},
	} {
		if part.there {
			words = append(words, part.word)
		}
	}
	return words
}

func newScriptShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ENDPOINT-ID", Aliases: []string{"get"}, Short: "Show the script of an endpoint, with how often its answers were used", Args: cobra.ExactArgs(1),
		Example: "  berth script show crynabc123 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return controlled(cmd, "a script takes", func(c *connection) error {
				id, err := endpoints().kind().withControls(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				shown, document, err := fetch[controls.ShownScript](cmd.Context(), c, func(ctx context.Context) (*http.Response, error) {
					return c.controls.GetScript(ctx, id)
				})
				if err != nil || asJSON(cmd) {
					return orPrint(cmd, document, byID(err, id))
				}

				var all []scriptedAnswer
				for i, a := range shown.Script.Answers {
					all = append(all, scriptedAnswer{i, shown.Used[i], a})
				}
				return printTable(cmd, answerColumns, all)
			})
		},
	}
}

func newScriptSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set ENDPOINT-ID FILE", Short: "Set the script of an endpoint from a file", Args: cobra.ExactArgs(2),
		Long: `Set the script of an endpoint from a JSON file, or from the standard input if it is -: a list of answers, or an object with the member answers.
The members are those of spec/controls.yaml.`,
		Example: `  berth script set crynabc123 script.json
  echo '[{"delay": {"fixed": 2000}, "output": {"text": "{{/prompt}}"}}]' | berth script set crynabc123 -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readDocument(cmd, args[1])
			if err != nil {
				return misuse(err, "")
			}
			if strings.HasPrefix(strings.TrimSpace(text), "[") {
				text = `{"answers":` + text + `}`
			}

			return controlled(cmd, "a script takes", func(c *connection) error {
				id, err := endpoints().kind().withControls(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				_, err = c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) {
					return c.controls.SetScriptWithBody(ctx, id, "application/json", strings.NewReader(text))
				})
				return byID(err, id)
			})
		},
	}
}

func newScriptDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete ENDPOINT-ID", Aliases: []string{"rm"}, Short: "Remove the script of an endpoint", Args: cobra.ExactArgs(1),
		Example: "  berth script delete crynabc123",
		RunE: func(cmd *cobra.Command, args []string) error {
			return controlled(cmd, "a script takes", func(c *connection) error {
				id, err := endpoints().kind().withControls(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				_, err = c.ask(cmd.Context(), func(ctx context.Context) (*http.Response, error) { return c.controls.DeleteScript(ctx, id) })
				return byID(err, id)
			})
		},
	}
}
