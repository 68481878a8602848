//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/store/pgtest"
)

// startCluster starts a PostgreSQL that is stopped at the end of the test.
func startCluster(t *testing.T) *pgtest.Cluster {
	t.Helper()
	c, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	return c
}

// newSchema gives the URL of an empty database.
func newSchema(t *testing.T, c *pgtest.Cluster) string {
	t.Helper()
	url, err := c.Schema(t.Context())
	require.NoError(t, err)
	return url
}

// migrated runs berth migrate, which must succeed, and gives its summary.
func migrated(t *testing.T, from, to string) (summary struct {
	Tables    []app.CopiedTable
	Rows      int64
	SecretKey string
},
) {
	t.Helper()
	r := call(t.Context(), "", "migrate", "--from", from, "--to", to, "--json")
	require.Zero(t, r.code, r.err)
	require.NoError(t, json.Unmarshal([]byte(r.out), &summary))
	return summary
}

// refusesToMigrate runs berth migrate, which must fail with that message.
func refusesToMigrate(t *testing.T, from, to, message string) {
	t.Helper()
	r := call(t.Context(), "", "migrate", "--from", from, "--to", to)
	require.Equal(t, exitFailed, r.code, r.err)
	require.Contains(t, r.err, message)
	require.Empty(t, r.out)
}

func TestMigrate_ServerGoesOnThereAndBack(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	url, dir, back := newSchema(t, cluster), filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "back")
	s := serving(t, app.Config{Data: dir}, "echo")
	pod := s.document("pods", "create", "--name", "first", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2")["id"].(string)
	job := s.document("jobs", "run", "echo", "--input", `{"a":"\u0000\ud83d\ude00"}`, "--wait")["id"].(string)
	value := filepath.Join(t.TempDir(), "value")
	require.NoError(t, os.WriteFile(value, []byte("sealed"), 0o600))
	s.done("secrets", "create", "--name", "t", "--value-file", value)
	refusesToMigrate(t, dir, url, "--from: another berth is serving from "+dir)
	require.NoError(t, s.server.Close())

	there := migrated(t, dir, url)
	require.Equal(t, filepath.Join(dir, "secret.key"), there.SecretKey)
	refusesToMigrate(t, dir, url, "it is not empty: ")
	refusesToMigrate(t, url, url, "source and target are the same database")
	refusesToMigrate(t, url, url+"&application_name=x", "source and target are the same database")
	refusesToMigrate(t, dir, filepath.Join(dir, "berth.db"), "source and target are the same database")
	refusesToMigrate(t, url, dir, "--to: "+filepath.Join(dir, "berth.db")+": it is not empty: ")

	// The same key, pod and job, and what is sealed is opened: the start fails otherwise.
	flags := s.flags[2:]
	goesOn := func(c app.Config, pods ...string) *served {
		s := serving(t, c)
		s.flags = append([]string{"--server", s.server.URL()}, flags...)
		for _, id := range pods {
			require.Equal(t, id, s.document("pods", "get", id)["id"])
		}
		require.Equal(t, "COMPLETED", s.document("jobs", "status", "echo", job)["status"])
		return s
	}
	s = goesOn(app.Config{Data: dir, Store: url, Endpoints: []app.Endpoint{{Name: "echo", Command: []string{"sleep", "1000"}}}}, pod)
	second := s.document("pods", "create", "--name", "second", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2")["id"].(string)
	refusesToMigrate(t, url, back, "a server uses it, replica ")
	require.NoError(t, s.server.Close())

	require.Empty(t, migrated(t, url, back).SecretKey)
	text, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(back, "secret.key"), text, 0o600))
	goesOn(app.Config{Data: back, Endpoints: []app.Endpoint{{Name: "echo", Command: []string{"sleep", "1000"}}}}, pod, second)
}

func TestMigrate_ShowsWhatItCopied(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())
	before := contentOf(t, dir)
	copied := filepath.Join(t.TempDir(), "copy.db")
	r := call(t.Context(), "", "migrate", "--from", dir, "--to", copied)
	require.Zero(t, r.code, r.err)
	require.Empty(t, r.err)
	lines := strings.Split(r.out, "\n")
	require.Regexp(t, `^TABLE +ROWS +CHECKSUM$`, lines[0])
	require.Regexp(t, `^keys +1 +[0-9a-f]{16}$`, lines[slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "keys") })])
	require.Contains(t, r.out, "rows in 40 tables were copied from "+filepath.Join(dir, "berth.db")+" to "+copied+", read back and compared.\nCopy "+filepath.Join(dir, "secret.key"))
	after := contentOf(t, dir)
	for file := range after {
		require.True(t, before[file] == after[file], "%s is as it was", file) //nolint:testifylint // too long to be shown
	}
	require.Len(t, after, len(before))
	info, err := os.Stat(copied)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

// What a server that was killed has in the log comes over, and neither the file nor the log is changed.
func TestMigrate_CopiesWhatIsInTheLog(t *testing.T) {
	t.Parallel()
	dir, killed := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "killed")
	s := serving(t, app.Config{Data: dir})
	s.done("volumes", "create", "--name", "v", "--size", "10", "--data-center", "EU-RO-1")
	require.NoError(t, os.Mkdir(killed, 0o700))
	for _, name := range []string{"berth.db", "berth.db-wal"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NotEmpty(t, text, name)
		require.NoError(t, os.WriteFile(filepath.Join(killed, name), text, 0o600))
	}

	before := contentOf(t, killed)
	summary := migrated(t, killed, filepath.Join(t.TempDir(), "copy.db"))
	require.True(t, slices.ContainsFunc(summary.Tables, func(c app.CopiedTable) bool { return c.Table == "volumes" && c.Rows == 1 }))
	after := contentOf(t, killed)
	for file := range before {
		require.True(t, before[file] == after[file], "%s is as it was", file) //nolint:testifylint // too long to be shown
	}

	// A damaged one is left to the start of a server, which says what is lost.
	log := filepath.Join(killed, "berth.db-wal")
	text := []byte(before[log])
	text[100] ^= 1
	require.NoError(t, os.WriteFile(log, text, 0o600))
	refusesToMigrate(t, killed, filepath.Join(t.TempDir(), "copy.db"), "the log of the database is damaged")
}

// contentOf gives the content of the files of a data directory, but for the one that says who has it.
func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	all := map[string]string{}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && filepath.Base(file) != "lock" {
			all[file] = string(text)
		}
	}
	return all
}

func TestMigrate_RefusesALocationThatMakesNoSense(t *testing.T) {
	t.Parallel()
	const password = "a password on the command line is seen by everybody on the machine"
	for from, message := range map[string]string{
		"":                                      "--from: it must be a data directory",
		"mysql://host/db":                       "--from: it must be the URL of a PostgreSQL database",
		"postgres://host:port/db":               "--from: it must be the URL of a PostgreSQL database",
		"postgres://u:hidden@host/db":           password,
		"postgres://host/db?password=hidden":    password,
		"postgres://host/db?sslpassword=hidden": password,
		"postgres://u:hid/den@host/db":          password,
	} {
		r := call(t.Context(), "", "migrate", "--from", from, "--to", "x.db")
		require.Equal(t, exitUsage, r.code, from)
		require.Contains(t, r.err, message)
		require.NotContains(t, r.err, "hid", "the password")
	}
	require.Equal(t, exitUsage, call(t.Context(), "", "migrate", "--from", "x").code)
	none := filepath.Join(t.TempDir(), "nothing")
	refusesToMigrate(t, none, filepath.Join(t.TempDir(), "x.db"), "--from: there is no database at "+filepath.Join(none, "berth.db"))
}

// stalling stands before the socket of a PostgreSQL and lets so many bytes through, up or down. It gives the URL, and a channel that gets a
// value when they have passed. Nothing follows until it is cut.
func stalling(t *testing.T, c *pgtest.Cluster, direct string, up, down int64) (through string, reached <-chan struct{}, cut func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "berth-") // a short path: it is that of a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, filepath.Base(c.Socket())))
	require.NoError(t, err)

	full, over := make(chan struct{}, 2), make(chan struct{})
	cut = sync.OnceFunc(func() { close(over) })
	t.Cleanup(func() {
		cut()
		_ = l.Close()
	})
	pass := func(to, from net.Conn, most int64) {
		if n, _ := io.CopyN(to, from, most); n == most {
			full <- struct{}{}
			<-over
		}
		_, _ = to.Close(), from.Close()
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", c.Socket())
			if err != nil {
				_ = client.Close()
				return
			}
			go pass(server, client, up)
			go pass(client, server, down)
		}
	}()
	through = strings.Replace(direct, url.QueryEscape(filepath.Dir(c.Socket())), url.QueryEscape(dir), 1)
	require.NotEqual(t, direct, through)
	return through, full, cut
}

func TestMigrate_KilledOneLeavesAnEmptyTarget(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	dir, url := filepath.Join(t.TempDir(), "data"), newSchema(t, cluster)
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "berth.db"))
	require.NoError(t, err)
	for i := range 8 {
		_, err = db.Exec("INSERT INTO system_lines VALUES ('x', ?, hex(randomblob(524288)))", i) // a megabyte
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())

	// killed runs a migration until so much has passed.
	killed := func(from, to string, reached <-chan struct{}, cut func()) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "migrate", "--from", from, "--to", to)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		require.NoError(t, cmd.Start())
		<-reached
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		cut()
	}

	const part = 4 << 20
	through, reached, cut := stalling(t, cluster, url, part, 1<<40)
	killed(dir, through, reached, cut)
	there := migrated(t, dir, url)

	back := filepath.Join(t.TempDir(), "back")
	through, reached, cut = stalling(t, cluster, url, 1<<40, part)
	killed(through, back, reached, cut)
	require.FileExists(t, filepath.Join(back, "berth.db.unfinished"))
	require.NoFileExists(t, filepath.Join(back, "berth.db"))
	require.Equal(t, there.Tables, migrated(t, url, back).Tables)
	left, err := filepath.Glob(filepath.Join(back, "berth.db*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(back, "berth.db")}, left)
}

// The password of a database comes from where PostgreSQL's own programs have it, or with the setting from the environment or the file,
// and nothing that is printed has it.
func TestMigrate_PasswordIsNeverOnTheCommandLine(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	c, err := pgx.Connect(t.Context(), cluster.URL(""))
	require.NoError(t, err)
	var rules string
	require.NoError(t, c.QueryRow(t.Context(), "SHOW hba_file").Scan(&rules))
	require.NoError(t, os.WriteFile(rules, []byte("local all guarded scram-sha-256\nlocal all all trust\n"), 0o600))
	for _, s := range []string{"CREATE ROLE guarded LOGIN PASSWORD 'hidden' SUPERUSER", "SELECT pg_reload_conf()"} {
		_, err = c.Exec(t.Context(), s)
		require.NoError(t, err)
	}
	require.NoError(t, c.Close(t.Context()))

	url := strings.Replace(newSchema(t, cluster), "user=berth", "user=guarded", 1)
	with := func(password string) string {
		return strings.Replace(url, "postgres://", "postgres://guarded:"+password+"@", 1)
	}
	program := func(environment []string, args ...string) ran {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(append(os.Environ(), asProgram+"=1"), environment...)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // the exit code says how it ended
		return ran{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}

	passfile := filepath.Join(t.TempDir(), "pgpass")
	require.NoError(t, os.WriteFile(passfile, []byte("*:*:*:guarded:hidden\n"), 0o600))
	for i, environment := range [][]string{{"PGPASSWORD=hidden"}, {"PGPASSFILE=" + passfile}, {"BERTH_STORE=" + with("hidden")}, {"BERTH_CONFIG=" + configured(t, "store: "+with("hidden")+"\n")}} {
		args := []string{"keys", "list"}
		if i < 2 {
			args = append(args, "--store", url)
		}
		r := program(environment, args...)
		require.Zero(t, r.code, r.err)

		r = program(environment, "config", "show")
		require.Zero(t, r.code, r.err)
		require.NotContains(t, r.out+r.err, "hidden")
	}

	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())
	r := program(nil, "migrate", "--from", dir, "--to", url)
	require.Equal(t, exitFailed, r.code)
	r = program([]string{"PGPASSWORD=hiddenwrong"}, "migrate", "--from", dir, "--to", url)
	require.Equal(t, exitFailed, r.code)
	require.NotContains(t, r.out+r.err, "hidden")
	r = program([]string{"BERTH_STORE=" + with("hiddenwrong")}, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	require.Equal(t, exitFailed, r.code, r.err)
	require.NotContains(t, r.out+r.err, "hidden")
	r = program([]string{"BERTH_STORE=mysql://u@h/d?password=hidden"}, "keys", "list")
	require.NotZero(t, r.code)
	require.NotContains(t, r.out+r.err, "hidden")
	r = program([]string{"PGPASSWORD=hidden"}, "migrate", "--from", dir, "--to", url)
	require.Zero(t, r.code, r.err)

	for _, args := range [][]string{{"keys", "list"}, {"config", "show"}, {"serve"}} {
		for _, value := range []string{with("hidden"), url + "&password=hidden"} {
			r := program(nil, append(args, "--store", value)...)
			require.Equal(t, exitUsage, r.code, fmt.Sprint(args, r.err))
			require.Contains(t, r.err, "PGPASSWORD, PGPASSFILE or ~/.pgpass, or have the whole URL in BERTH_STORE or as store in the configuration file")
			require.NotContains(t, r.out+r.err, "hidden")
		}
	}
}
