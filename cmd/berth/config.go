package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

func newConfigCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show which settings there are and what they are set to",
		Long: `Show which settings there are and what they are set to.

A setting has one name: --queue-listen on the command line is BERTH_QUEUE_LISTEN in the environment and queue-listen in the
configuration file. The flag comes first, then the environment, where an empty variable does not count, then the file, then the
default. A list, like endpoint, has one value per line in the environment and is a list in the file.

The file is that of --config, otherwise that of BERTH_CONFIG, otherwise berth/config.yaml in your configuration directory
($XDG_CONFIG_HOME or ~/.config on Linux). Only one file is read. It is YAML, and an unknown setting is an error:

  server: http://gpu-1:8765
  key: brt_...
  listen: 0.0.0.0:8765
  endpoint:
    - echo=berth worker --handler echo

No file is read from the working directory: a file that somebody else put there must not get your key.`,
	}

	cmd.AddCommand(newConfigShowCommand())
	return cmd
}

// shownSetting is a setting as it is shown.
type shownSetting struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`  // a string, or a list of strings
	Source string `json:"source"` // default, a flag, a variable, or a file and line
}

func newConfigShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show every setting, its value and where it comes from",
		Long: `Show every setting, its value and where it comes from, as berth serve and the commands for a server have it. A key is never
shown, only whether it is set. Give other flags to see what they change.`,
		Example: `  berth config show
  berth config show --json
  berth config show --config ./berth.yaml --listen :9000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var settings []shownSetting
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if marked(f, settingMark) {
					settings = append(settings, show(f))
				}
			})

			path, _ := configPath(cmd)
			if _, err := os.Stat(path); err != nil {
				path = ""
			}

			if asJSON(cmd) {
				return printJSON(cmd, map[string]any{"file": path, "settings": settings})
			}
			return printTable(cmd, []column[shownSetting]{
				{head: "SETTING", value: func(s shownSetting) string { return s.Name }},
				{head: "VALUE", value: func(s shownSetting) string { return orDash(textOf(s.Value)) }},
				{head: "SOURCE", value: func(s shownSetting) string { return s.Source }},
			}, settings)
		},
	}

	addSettings(cmd, cmd.Flags(), app.Settings())
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	return cmd
}

// masked gives a value as it may be shown: an address without a password and keys that it has.
func masked(text string) string {
	if isBase(text) {
		return withoutPassword(text)
	}
	return setting.Redacted(text)
}

// show gives a setting without its secret.
func show(f *pflag.Flag) shownSetting {
	s := shownSetting{Name: f.Name, Value: f.Value.String(), Source: "default"}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		s.Value = append([]string{}, list.GetSlice()...)
	}

	if source := f.Annotations[sourceMark]; len(source) > 0 {
		s.Source = source[0]
	} else if f.Changed {
		s.Source = "--" + f.Name
	}

	if text, is := s.Value.(string); is {
		s.Value = masked(text)
	}
	if marked(f, secretMark) {
		s.Value = "not set"
		if f.Value.String() != "" {
			s.Value = "set"
		}
	}

	return s
}
