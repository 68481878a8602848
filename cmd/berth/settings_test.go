package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

// configured writes a configuration file.
func configured(t *testing.T, text string) (path string) {
	path = filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// shown gives what berth config show shows, by setting.
func shown(t *testing.T, args ...string) map[string]shownSetting {
	t.Helper()
	r := call(t.Context(), "", append([]string{"config", "show", "--json"}, args...)...)
	require.Zero(t, r.code, r.err)
	var document struct{ Settings []shownSetting }
	require.NoError(t, json.Unmarshal([]byte(r.out), &document))
	byName := map[string]shownSetting{}
	for _, s := range document.Settings {
		byName[s.Name] = s
	}
	return byName
}

func TestSettings_FlagBeforeEnvironmentBeforeFileBeforeDefault(t *testing.T) {
	path := configured(t, "listen: file:1\ndrain: 1s\nqueue-listen: file:2\nquota-day: 7\ntest-controls: true\n")
	t.Setenv("BERTH_LISTEN", "env:1")
	t.Setenv("BERTH_DRAIN", "2s")
	t.Setenv("BERTH_QUEUE_LISTEN", "") // an empty one is none
	got := shown(t, "--config", path, "--listen", "flag:1")
	require.Equal(t, shownSetting{"listen", "flag:1", "--listen"}, got["listen"])
	require.Equal(t, shownSetting{"drain", "2s", "BERTH_DRAIN"}, got["drain"])
	require.Equal(t, shownSetting{"queue-listen", "file:2", path + ":3"}, got["queue-listen"])
	require.Equal(t, shownSetting{"quota-day", "7", path + ":4"}, got["quota-day"])
	require.Equal(t, shownSetting{"test-controls", "true", path + ":5"}, got["test-controls"])
	require.Equal(t, shownSetting{"runtime", "sim", "default"}, got["runtime"])
}

func TestSettings_FileIsOfFlagElseEnvironmentElseUser(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("BERTH_CONFIG", "")
	require.Equal(t, "default", shown(t)["listen"].Source) // it need not be there

	dir, err := os.UserConfigDir()
	require.NoError(t, err)
	user := filepath.Join(dir, "berth", "config.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(user), 0o700))
	require.NoError(t, os.WriteFile(user, []byte("listen: user:1\n"), 0o600))
	require.Equal(t, shownSetting{"listen", "user:1", user + ":1"}, shown(t)["listen"])

	t.Setenv("BERTH_CONFIG", configured(t, "listen: env:1"))
	require.Equal(t, "env:1", shown(t)["listen"].Value)
	require.Equal(t, "flag:1", shown(t, "--config", configured(t, "listen: flag:1"))["listen"].Value)
	r := call(t.Context(), "", "config", "show", "--config", filepath.Join(home, "none.yaml"))
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "none.yaml: no such file or directory")
}

func TestSettings_ListIsLinesInTheEnvironment(t *testing.T) {
	path := configured(t, "endpoint:\n  - a=one, two\n  - b=\n")
	require.Equal(t, []any{"a=one, two", "b="}, shown(t, "--config", path)["endpoint"].Value)
	t.Setenv("BERTH_ENDPOINT", "c=x y,z\nd=\n")
	require.Equal(t, []any{"c=x y,z", "d="}, shown(t, "--config", path)["endpoint"].Value)
	require.Equal(t, []any{"e="}, shown(t, "--config", path, "--endpoint", "e=")["endpoint"].Value)
}

func TestSettings_NameThePlaceOfWhatMakesNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"listen: a:1\nlisten-to: b":     `%s:2: there is no setting "listen-to"`,
		"drain: soon":                   `%s:1: drain: it must be a duration such as 90s`,
		"quota-day: [1, 2]":             `%s:1: quota-day: it must be one value, not a list`,
		"listen:":                       `%s:1: listen must be a value, or a list of values`,
		"listen: {host: a}":             `%s:1: listen must be a value, or a list of values`,
		"listen: a\nlisten: b":          `%s:2: listen is set twice`,
		"listen: a:1\n---\nnonsense: 1": `%s:2: a second document begins: the settings are one`,
		"- listen":                      `%s:1: it must be lines of SETTING: VALUE`,
		"json: true":                    `%s:1: there is no setting "json"`,
		"a: b: c":                       `%s: yaml: mapping values are not allowed in this context`,
	} {
		path := configured(t, text)
		for _, command := range [][]string{{"config", "show"}, {"serve"}, {"pods", "list"}, {"keys", "list"}} {
			r := call(t.Context(), "", append(command, "--config", path)...)
			require.Equal(t, exitUsage, r.code, "%s: %s", text, r.err)
			require.Equal(t, "berth: "+fmt.Sprintf(want, path), strings.Split(r.err, "\n")[0])
			if command[0] == "pods" && strings.HasPrefix(text, "drain") {
				t.Fatal("the settings of others are not read")
			}
			if strings.HasPrefix(text, "drain") || strings.HasPrefix(text, "quota") {
				break // only who has the setting reads its value
			}
		}
	}

	t.Setenv("BERTH_DRAIN", "later")
	r := call(t.Context(), "", "serve")
	require.Equal(t, "berth: BERTH_DRAIN: drain: it must be a duration such as 90s\n", r.err)
	require.Equal(t, exitUsage, r.code)

	t.Setenv("BERTH_CONFIG", configured(t, "nonsense: 1"))
	require.Zero(t, call(t.Context(), "", "version").code) // a command without settings needs none
}

func TestSettings_NeverShowAKey(t *testing.T) {
	const secret = "brt_secretsecret"
	path := configured(t, "key: "+secret+"\nserver: http://user:"+secret+"@host:1\n")
	for _, args := range [][]string{{"config", "show"}, {"config", "show", "--json"}, {"config", "show", "--key", secret}, {"config", "show", "--help"}} {
		r := call(t.Context(), "", append(args, "--config", path)...)
		require.Zero(t, r.code)
		require.NotContains(t, r.out+r.err, secret)
	}

	require.Equal(t, shownSetting{"key", "set", path + ":1"}, shown(t, "--config", path)["key"])
	require.Equal(t, shownSetting{"server", "http://user:xxxxx@host:1", path + ":2"}, shown(t, "--config", path)["server"])
	require.Equal(t, shownSetting{"server", "https://h.example/v1?api_key=***&x=1", "--server"}, shown(t, "--server", "https://h.example/v1?api_key="+secret+"&x=1")["server"])
	require.NotContains(t, call(t.Context(), "", "config", "show", "--server", "https://h.example/?token="+secret).out, secret)
	t.Setenv("BERTH_KEY", secret)
	require.Equal(t, shownSetting{"key", "set", "BERTH_KEY"}, shown(t)["key"])

	t.Setenv("BERTH_KEY", "")
	require.Equal(t, shownSetting{"key", "not set", "default"}, shown(t)["key"])
}

func TestSettings_GiveCommandsServerAndKey(t *testing.T) {
	s := serving(t, app.Config{})
	t.Setenv("BERTH_KEY", s.server.FirstKey())
	r := call(t.Context(), "", "pods", "list", "--config", configured(t, "server: "+s.server.URL()))
	require.Zero(t, r.code, r.err)
	t.Setenv("BERTH_SERVER", s.server.URL())
	require.Zero(t, call(t.Context(), "", "pods", "list").code)
	t.Setenv("BERTH_SERVER", "localhost:1")
	r = call(t.Context(), "", "pods", "list")
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, "berth: --server: \"localhost:1\" is not an http or https URL\n", r.err)
}

func TestSettings_ServeTakesThemFromTheFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	path := configured(t, "listen: 127.0.0.1:0\ndata: "+dir+"\nendpoint: [one=, two=]\n")
	runServer(t, func(line []byte) {
		var ready struct{ Endpoints map[string]string }
		require.NoError(t, json.Unmarshal(line, &ready))
		require.Len(t, ready.Endpoints, 2)
	}, "serve", "--json", "--config", path)
	require.DirExists(t, dir)
	r := call(t.Context(), "", "keys", "list", "--config", path)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, "first key")
}

func TestSettings_FlagsAndHelpAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	table := map[string]setting.Setting{}
	for _, s := range app.Settings() {
		table[s.Name] = s
	}
	of := map[string]string{} // a command that has the setting

	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if marked(f, settingMark) {
					s, known := table[f.Name]
					require.True(t, known, "%s has a setting %s that is not in the table", cmd.CommandPath(), f.Name)
					require.Equal(t, s.Secret(), marked(f, secretMark), f.Name)
					of[f.Name] = cmd.CommandPath()
				}
			})
		}

		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}

	walk(newCommand())
	help := strings.Join(strings.Fields(call(t.Context(), "", "serve", "--help").out), " ")
	for name, s := range table {
		require.NotEmpty(t, of[name], "no command has the setting %s", name)
		if s.Use != setting.Client {
			require.Contains(t, help, "--"+name+" ")
			require.Contains(t, help, strings.Join(strings.Fields(s.Help), " "))
		}
	}

	serve, _, err := newCommand().Find([]string{"serve"})
	require.NoError(t, err)
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "demo" && f.Name != "json" {
			require.True(t, marked(f, settingMark), "%s of serve is no setting", f.Name)
		}
	})
}

func TestSettings_DefaultsOfServeAndDev(t *testing.T) {
	t.Parallel()
	config := func(command string) app.Config {
		cmd, _, err := newCommand().Find([]string{command})
		require.NoError(t, err)
		c, err := app.NewConfig(valuesOf(cmd))
		require.NoError(t, err)
		return c
	}

	bare, err := app.NewConfig(nil)
	require.NoError(t, err)
	serve, dev := config("serve"), config("dev")
	for _, c := range []*app.Config{&bare, &serve, &dev} { // no value and an empty list are the same
		c.AllowedHosts, c.TrustedProxies, c.ACMEHosts = nil, nil, nil
		for name, values := range c.RuntimeSettings {
			if len(strings.Join(values, "")) == 0 || values[0] == "false" {
				delete(c.RuntimeSettings, name)
			}
		}
	}

	require.Equal(t, bare, serve)
	require.True(t, dev.PrivateWebhooks)
	require.True(t, dev.GraphQL.Introspection)
	dev.PrivateWebhooks, dev.GraphQL.Introspection = false, false
	require.Equal(t, serve, dev)
}

func TestSettings_NameWhereAWrongValueIsFrom(t *testing.T) {
	path := configured(t, "pull: often")
	r := call(t.Context(), "", "serve", "--config", path)
	require.Equal(t, exitUsage, r.code)
	require.Equal(t, "berth: "+path+":1: pull \"often\": it must be if-absent, always or never\n", r.err)
	t.Setenv("BERTH_LEASE", "1s")
	r = call(t.Context(), "", "serve")
	require.Equal(t, "berth: BERTH_LEASE: lease \"1s\": it must be at least 3s\n", r.err)
}
