package main

import (
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
	require.Contains(t, s.run("users", "create", "bob", "--role", "chief").err, `--role: "chief" is not admin, member, reader`)
	require.Contains(t, s.run("users", "set-role", "ada", "chief").err, `ROLE: "chief" is not admin, member or reader`)
	require.Contains(t, s.run("users", "disable", "nobody").err, `user "nobody" does not exist`)
	require.Contains(t, s.run("keys", "create", "--user", "ada", "--scope", "admin").err, "the role member of the user ada does not allow the scope admin")
	require.Equal(t, "deleted eve\n", s.done("users", "delete", "eve"))

	offered := call(t.Context(), "", append([]string{"__complete", "users", "set-role"}, append(flags, "")...)...)
	require.Contains(t, offered.out, "ada\tmember\n")
	offered = call(t.Context(), "", append([]string{"__complete", "users", "set-role", "ada"}, append(flags, "")...)...)
	require.Contains(t, offered.out, "admin\nmember\nreader\n")
}
