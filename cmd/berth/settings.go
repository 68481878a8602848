package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

// A setting is a flag that may be set elsewhere too: by the environment, or in the configuration file, under the same name. The table
// of them is in package app. Flags that say what one call is to do are no settings. The file and the environment are read by hand, over
// pflag and yaml, since libraries for it (viper, koanf) neither say where a value came from nor refuse a name that means nothing.

// Annotations of flags.
const (
	settingMark = "berth_setting" // a setting
	secretMark  = "berth_secret"  // a setting that is never shown
	sourceMark  = "berth_source"  // where the value came from, if not from the flag
)

// settingsFor gives the settings of the uses.
func settingsFor(uses ...setting.Use) []setting.Setting {
	return slices.DeleteFunc(app.Settings(), func(s setting.Setting) bool { return !slices.Contains(uses, s.Use) })
}

// settingsNamed gives the settings of those names.
func settingsNamed(names ...string) []setting.Setting {
	return slices.DeleteFunc(app.Settings(), func(s setting.Setting) bool { return !slices.Contains(names, s.Name) })
}

// addSettings adds the flags of settings, with what a shell offers for them.
func addSettings(cmd *cobra.Command, flags *pflag.FlagSet, settings []setting.Setting) {
	for _, s := range settings {
		switch s.Kind {
		case setting.Text:
			flags.StringP(s.Name, s.Short, s.Default, s.Help)
		case setting.List:
			flags.StringArrayP(s.Name, s.Short, nil, s.Help)
		case setting.Switch:
			flags.BoolP(s.Name, s.Short, s.Default == "true", s.Help)
		case setting.Number:
			n, _ := strconv.ParseInt(s.Default, 10, 64)
			flags.Int64P(s.Name, s.Short, n, s.Help)
		case setting.Duration:
			d, _ := time.ParseDuration(s.Default)
			flags.DurationP(s.Name, s.Short, d, s.Help)
		}

		asSetting(flags, s)
		if s.Choices != nil {
			_ = cmd.RegisterFlagCompletionFunc(s.Name, cobra.FixedCompletions(s.Choices, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// asSettings has flags be the settings of their names.
func asSettings(flags *pflag.FlagSet, names ...string) {
	for _, s := range settingsNamed(names...) {
		asSetting(flags, s)
	}
}

func asSetting(flags *pflag.FlagSet, s setting.Setting) {
	f := flags.Lookup(s.Name)
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[settingMark] = nil
	if s.Secret() {
		f.Annotations[secretMark] = nil
	}
}

// valuesOf gives what the settings of a command are set to.
func valuesOf(cmd *cobra.Command) setting.Values {
	values := setting.Values{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !marked(f, settingMark) {
			return
		}
		values[f.Name] = []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values[f.Name] = list.GetSlice()
		}
	})
	return values
}

// wrongValue is the misuse of a setting whose value makes no sense. It says where the value is from.
func wrongValue(cmd *cobra.Command, err error) error {
	var wrong *setting.Error
	if !errors.As(err, &wrong) {
		return err
	}
	from := "--" + wrong.Name
	if f := cmd.Flags().Lookup(wrong.Name); f != nil && len(f.Annotations[sourceMark]) > 0 {
		from = f.Annotations[sourceMark][0] + ": " + wrong.Name
	}
	var near []string
	for _, s := range settingsNamed(wrong.Name) {
		near = nearest(wrong.Value, s.Choices)
	}
	return misuse(fmt.Errorf("%s %q: %w", from, wrong.Value, wrong.Cause), didYouMean(near))
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
			if err := checkFlag(f); err != nil {
				return misuse(err, "")
			}
			continue
		}

		source, values := setting.Setting{Name: f.Name}.Variable(), []string(nil)
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
			for _, s := range settingsNamed(f.Name) {
				if wrong, is := errors.AsType[*setting.Error](s.Validate(values)); is {
					err = wrong.Cause // which is words, and not of the library of flags
				}
			}
			if marked(f, secretMark) {
				err = errors.New("the value makes no sense")
			}
			return misuse(fmt.Errorf("%s: %s: %w", source, f.Name, err), "")
		}

		f.Annotations[sourceMark] = []string{source}
	}

	return nil
}

// checkFlag refuses a value that a setting must not have on the command line. It says nothing of the value.
func checkFlag(f *pflag.Flag) error {
	for _, s := range settingsNamed(f.Name) {
		if s.CheckFlag == nil {
			continue
		}
		if err := s.CheckFlag(f.Value.String()); err != nil {
			return fmt.Errorf("--%s: %w", f.Name, err)
		}
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
		return nil, fmt.Errorf("the configuration file: %w", err)
	}

	var document, second yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if documents.Decode(&second) == nil {
		return nil, fmt.Errorf("%s:%d: a second document begins: the settings are one", path, second.Line)
	}
	if len(document.Content) == 0 {
		return nil, nil // empty
	}

	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s:%d: it must be lines of SETTING: VALUE", path, root.Line)
	}
	known := app.Settings()

	entries := map[string]configEntry{}
	for i := 0; i < len(root.Content); i += 2 {
		name, value := root.Content[i].Value, root.Content[i+1]
		entry := configEntry{at: fmt.Sprintf("%s:%d", path, root.Content[i].Line)}
		if !slices.ContainsFunc(known, func(s setting.Setting) bool { return s.Name == name }) {
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
