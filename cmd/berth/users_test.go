package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestUsers_OfAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{TestControls: true, Data: dir})
	usersFrom(t, s, "--server", s.server.URL(), "--key", s.server.ControlsKey())

	s.flags = []string{"--server", s.server.URL(), "--key", s.server.FirstKey()}
	require.Contains(t, s.done("users", "list"), "owner")
	s.refuses(exitUsage, "berth: --server is for the users of a server, --data and --store for those of a database here\nhint: leave out one of them\n", "users", "list", "--data", dir)
	require.Contains(t, s.run("audit", "--kind", "user").out, "createUser")
}

func TestUsers_OfADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{Data: dir})
	key := s.server.FirstKey()
	usersFrom(t, s, "--data", dir)

	s.flags = []string{"--data", dir}
	made := s.document("keys", "create", "--user", "ada")
	s.flags = []string{"--server", s.server.URL(), "--key", made["key"].(string)}
	require.Zero(t, s.run("pods", "list").code)
	s.flags = []string{"--data", dir}
	s.done("users", "disable", "ada")
	s.flags = []string{"--server", s.server.URL(), "--key", made["key"].(string)}
	require.Eventually(t, func() bool { return s.run("pods", "list").code != 0 }, 10*time.Second, 10*time.Millisecond, "the server learns of it within a second")
	s.flags = []string{"--server", s.server.URL(), "--key", key}
	require.Contains(t, s.done("audit", "--kind", "user"), "berth users")
}

// usersFrom makes, changes and deletes users with the flags.
func usersFrom(t *testing.T, s *served, flags ...string) {
	s.flags = flags
	require.Regexp(t, `^NAME +ROLE +DISABLED +CREATED\nada +member +false +\S+\n$`, s.done("users", "create", "ada"))
	require.Equal(t, "reader", s.document("users", "create", "eve", "--role", "reader")["role"])
	require.Equal(t, []string{"owner", "ada", "eve"}, strings.Fields(s.done("users", "list", "-q")))
	require.Equal(t, "owner", s.document("users", "list")["users"].([]any)[0].(map[string]any)["name"])
	require.Equal(t, "admin", s.document("users", "set-role", "eve", "admin")["role"])
	require.Equal(t, true, s.document("users", "disable", "eve")["disabled"])
	require.Contains(t, s.run("users", "set-role", "owner", "member").err, "owner is the last admin: make another user an admin first\n")
	require.Contains(t, s.run("users", "delete", "owner", "--keep-resources").err, "last admin")
	require.Equal(t, false, s.document("users", "enable", "eve")["disabled"])

	require.Equal(t, "member", s.document("users", "set-role", "owner", "member")["role"])
	require.Equal(t, "admin", s.document("users", "set-role", "owner", "admin")["role"])
	require.Contains(t, s.run("users", "create", "ada").err, "there is a user ada already")
	require.Contains(t, s.run("users", "create", "a b").err, "letters, digits")
	require.Contains(t, s.run("users", "create", "bob", "--role", "chief").err, `--role: "chief" is not admin, member or reader`)
	require.Contains(t, s.run("users", "set-role", "ada", "chief").err, `ROLE: "chief" is not admin, member or reader`)
	require.Contains(t, s.run("users", "disable", "nobody").err, `user "nobody" does not exist`)
	require.Contains(t, s.run("keys", "create", "--user", "ada", "--scope", "admin").err, "the role member of the user ada does not allow the scope admin")
	require.Equal(t, "deleted eve\n", s.done("users", "delete", "eve"))

	offered := call(t.Context(), "", append([]string{"__complete", "users", "set-role"}, append(flags, "")...)...)
	require.Contains(t, offered.out, "ada\tmember\n")
	offered = call(t.Context(), "", append([]string{"__complete", "users", "set-role", "ada"}, append(flags, "")...)...)
	require.Contains(t, offered.out, "admin\nmember\nreader\n")
}

func TestUsers_SaysWhichArgumentOrFlagIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{Data: dir})
	require.NoError(t, s.server.Close())
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"users create a,b":                                  {exitUsage, "berth: NAME: \"a,b\": the name of a user has letters, digits and ._@+- alone\n"},
		"users create ada --role chief":                     {exitUsage, "berth: --role: \"chief\" is not admin, member or reader\n"},
		"users set-role ada":                                {exitUsage, "berth: ROLE is missing\nusage: berth users set-role NAME ROLE [flags]\nhint: see berth users set-role --help\n"},
		"users set-role ada reader":                         {exitFailed, "berth: user \"ada\" does not exist\nhint: berth users list shows those that there are\n"},
		"users disable owner":                               {exitFailed, "berth: owner is the last admin: make another user an admin first\n"},
		"keys create --user a,b":                            {exitUsage, "berth: --user: the name of a user has letters, digits and ._@+- alone\n"},
		"users list --store postgres://127.0.0.1:1/nowhere": {exitFailed, ""},
	} {
		r := call(t.Context(), "", append(strings.Fields(line), "--data", dir)...)
		require.Equal(t, want.code, r.code, "%s: %s", line, r.err)
		if require.NotContains(t, r.err, "the log of the server", line); want.says != "" {
			require.Equal(t, want.says, r.err, line)
		}
	}

	missing := filepath.Join(dir, "none")
	for _, line := range []string{"users list", "keys list", "check", "backup b.db"} {
		r := call(t.Context(), "", append(strings.Fields(line), "--data", missing)...)
		require.Equal(t, exitUsage, r.code, line)
		require.Contains(t, r.err, "berth: --data: "+missing+": it is no data directory of berth", line)
	}
	refused(t, "there is no folder "+missing, "backup", "list", missing)
	refused(t, "there is no "+missing, "restore", missing, "--data", filepath.Join(dir, "other"))
}
