package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/impl/app"
)

// A setting is a flag that may be set elsewhere too: by the environment, or in the configuration file, under the same name.
// Flags that say what one call is to do are no settings. This is by hand over pflag and yaml, since libraries for it (viper,
// koanf) neither say where a value came from nor refuse a name that means nothing.

// Annotations of flags.
const (
	settingMark = "berth_setting" // a setting
	secretMark  = "berth_secret"  // a setting that is never shown
	sourceMark  = "berth_source"  // where the value came from, if not from the flag
)

// choices are what a shell offers for settings that are one of few words.
var choices = map[string][]string{
	"runtime":     {app.RuntimeSim, app.RuntimeProcess, app.RuntimeDocker},
	"pull":        {"if-absent", "always", "never"},
	"queue-rates": {"none", "published"},
}

// addServerFlags adds the flags of the server, which are settings all, with what a shell offers for them.
func addServerFlags(cmd *cobra.Command, flags *serverFlags) {
	flags.add(cmd)
	asSettings(cmd.Flags(), namesOf(cmd.Flags())...)
	for name, all := range choices {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
	}
}

// secret tells by its name whether a setting is never shown.
func secret(name string) bool {
	last := name[strings.LastIndexByte(name, '-')+1:]
	return slices.Contains([]string{"key", "token", "secret", "password"}, last)
}

// asSettings makes settings of flags.
func asSettings(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		f := flags.Lookup(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[settingMark] = nil
		if secret(name) {
			f.Annotations[secretMark] = nil
		}
	}
}

// namesOf gives the names of all flags.
func namesOf(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func marked(f *pflag.Flag, mark string) bool {
	_, is := f.Annotations[mark]
	return is
}

// variable is what a setting is called in the environment.
func variable(name string) string {
	return "BERTH_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// resolve gives the settings of a command that no flag set their values from the environment, else from the file.
func resolve(cmd *cobra.Command) error {
	var settings []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if marked(f, settingMark) {
			settings = append(settings, f)
		}
	})
	if len(settings) == 0 {
		return nil
	}
	file, err := loadConfig(configPath(cmd))
	if err != nil {
		return misuse(err, "berth config show lists the settings")
	}
	for _, f := range settings {
		if f.Changed {
			continue
		}
		source, values := variable(f.Name), []string(nil)
		if text := os.Getenv(source); text != "" {
			values = []string{text}
			if _, list := f.Value.(pflag.SliceValue); list {
				values = strings.Split(strings.TrimSpace(text), "\n")
			}
		} else if entry, ok := file[f.Name]; ok {
			source, values = entry.at, entry.values
		} else {
			continue
		}
		if err := setFlag(f, values); err != nil {
			if marked(f, secretMark) {
				err = errors.New("the value makes no sense")
			}
			return misuse(fmt.Errorf("%s: %s: %w", source, f.Name, err), "")
		}
		f.Annotations[sourceMark] = []string{source}
	}
	return nil
}

func setFlag(f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(values)
	}
	if len(values) != 1 {
		return errors.New("it must be one value, not a list")
	}
	return f.Value.Set(values[0])
}

// configPath gives the file of the settings, and whether it must be there.
func configPath(cmd *cobra.Command) (path string, must bool) {
	if path, _ := cmd.Flags().GetString("config"); path != "" {
		return path, true
	}
	if path := os.Getenv("BERTH_CONFIG"); path != "" {
		return path, true
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", false // there is no home: of a service, for example
	}
	return filepath.Join(dir, "berth", "config.yaml"), false
}

// configEntry is a setting in the file: its values, more than one for a list, and the file and line.
type configEntry struct {
	values []string
	at     string
}

// loadConfig reads the settings of a file by name.
func loadConfig(path string, must bool) (map[string]configEntry, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(document.Content) == 0 {
		return nil, nil // empty
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: it must be lines of SETTING: VALUE", path, root.Line)
	}
	known := namesOf(allSettings())
	entries := map[string]configEntry{}
	for i := 0; i < len(root.Content); i += 2 {
		name, value := root.Content[i].Value, root.Content[i+1]
		entry := configEntry{at: fmt.Sprintf("%s:%d", path, root.Content[i].Line)}
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("%s: there is no setting %q", entry.at, name)
		}
		if _, twice := entries[name]; twice {
			return nil, fmt.Errorf("%s: %s is set twice", entry.at, name)
		}
		nodes := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			nodes = value.Content
		}
		for _, n := range nodes {
			if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
				return nil, fmt.Errorf("%s: %s must be a value, or a list of values", entry.at, name)
			}
			entry.values = append(entry.values, n.Value)
		}
		entries[name] = entry
	}
	return entries, nil
}

// allSettings are the settings of all commands, as flags that nothing has set.
func allSettings() *pflag.FlagSet {
	cmd := &cobra.Command{}
	addConnection(cmd)
	addServerSettings(cmd)
	cmd.Flags().AddFlagSet(cmd.PersistentFlags())
	return cmd.Flags()
}

// addServerSettings adds the settings of berth serve.
func addServerSettings(cmd *cobra.Command) {
	var flags serverFlags
	addServerFlags(cmd, &flags)
	var endpoints []string
	addEndpoints(cmd, &endpoints)
}
