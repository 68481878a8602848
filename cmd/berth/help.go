package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/impl/setting"
)

const helpName = "help"

// checkHelp makes help refuse what is no command; cobra's own shows the help of berth then, as if all were well. With --json it gives what the
// help says as a document, from which docs/commands.md and the man pages are made.
func checkHelp(root *cobra.Command) {
	root.SetHelpCommandGroupID("server")
	root.InitDefaultHelpCmd()
	for _, help := range root.Commands() {
		if help.Name() != helpName {
			continue
		}
		help.Short = "Show the help of a command"
		help.Long = "Show the help of a command, which its --help shows, too. With --json it is a document with the commands below it and all flags."
		help.Example = "  berth help pods list\n  berth help --json | jq -r '.. | .use? // empty'"
		help.Run, help.Args = nil, cobra.ArbitraryArgs

		help.RunE = func(cmd *cobra.Command, args []string) error {
			at := root
			for _, name := range args {
				i := slices.IndexFunc(at.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name || sub.HasAlias(name) })
				if i < 0 {
					return miscall(at, fmt.Errorf("there is no command %s %s", at.CommandPath(), name), nearCommands(at, name))
				}
				at = at.Commands()[i]
			}

			if asJSON(cmd) {
				return printJSON(cmd, describe(at))
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		}
	}
}

// described is what the help says of a command.
type described struct {
	Name     string          `json:"name"` // as it is called, such as berth pods list
	Use      string          `json:"use"`  // with its arguments
	Aliases  []string        `json:"aliases,omitempty"`
	Group    string          `json:"group,omitempty"` // the title of the group of the help that it is in
	Short    string          `json:"short"`
	Long     string          `json:"long"`
	Example  string          `json:"example,omitempty"`
	Flags    []describedFlag `json:"flags,omitempty"` // its own, and those of the commands below it
	Commands []described     `json:"commands,omitempty"`
}

// describedFlag is what the help says of a flag.
type describedFlag struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	Value     string `json:"value,omitempty"` // what its value is; empty: it takes none
	Default   string `json:"default,omitempty"`
	Usage     string `json:"usage"`
	Variable  string `json:"variable,omitempty"` // of the environment, which sets it, too
}

// describe gives what the help says of a command and those below it.
func describe(cmd *cobra.Command) described {
	d := described{
		Name: cmd.CommandPath(), Use: strings.TrimSuffix(cmd.UseLine(), " [flags]"), Aliases: cmd.Aliases, Short: cmd.Short, Long: cmd.Long, Example: cmd.Example,
	}
	if parent := cmd.Parent(); parent != nil {
		for _, group := range parent.Groups() {
			if group.ID == cmd.GroupID {
				d.Group = strings.TrimSuffix(group.Title, ":")
			}
		}
	}

	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || cmd.HasParent() && cmd.InheritedFlags().Lookup(f.Name) != nil {
			return
		}
		d.Flags = append(d.Flags, describeFlag(f))
	})
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == helpName {
			d.Commands = append(d.Commands, describe(sub))
		}
	}
	return d
}

func describeFlag(f *pflag.Flag) describedFlag {
	d := describedFlag{Name: f.Name, Shorthand: f.Shorthand, Default: f.DefValue}
	d.Value, d.Usage = pflag.UnquoteUsage(f)
	if slices.Contains([]string{"", "false", "[]", "0", "0s"}, d.Default) {
		d.Default = ""
	}
	if marked(f, settingMark) {
		d.Variable = setting.Setting{Name: f.Name}.Variable()
	}
	return d
}
