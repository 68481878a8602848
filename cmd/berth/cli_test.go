package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// asProgram makes the test binary the program itself.
const asProgram = "BERTH_TEST_PROGRAM"

// TestMain keeps the settings of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "BERTH_") && !strings.HasPrefix(name, "BERTH_TEST") && name != "BERTH_GOLDEN" {
			_ = os.Unsetenv(name)
		}
	}
	_ = os.Setenv("BERTH_CONFIG", os.DevNull) // and not that of the user
	os.Exit(m.Run())
}

// ran is how a command ended.
type ran struct {
	out, err string
	code     int
}

// call runs a command of berth in this process.
func call(ctx context.Context, stdin string, args ...string) ran {
	var out, errs bytes.Buffer
	cmd := newCommandFor(args)
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	code := conclude(ctx, &errs, cmd.ExecuteContext(ctx))
	return ran{out.String(), errs.String(), code}
}

// served is a server and what it is to be called with.
type served struct {
	*testing.T
	server *app.Server
	flags  []string
}

// serving starts a server with an endpoint for each handler of berth worker.
func serving(t *testing.T, c app.Config, handlers ...string) *served {
	t.Helper()
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	c.Listen = "127.0.0.1:0"
	for _, handler := range handlers {
		c.Endpoints = append(c.Endpoints, app.Endpoint{Name: handler, Command: []string{"env", asProgram + "=1", os.Args[0], "worker", "--handler", handler}})
	}
	s, err := app.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &served{T: t, server: s, flags: []string{"--server", s.URL(), "--key", s.FirstKey()}}
}

// run runs a command against the server.
func (s *served) run(args ...string) ran { return s.feed("", args...) }

func (s *served) feed(stdin string, args ...string) ran {
	return call(s.Context(), stdin, append(args, s.flags...)...)
}

// done runs a command that must succeed without a word on the standard error, and gives what it printed.
func (s *served) done(args ...string) string {
	s.Helper()
	r := s.run(args...)
	require.Zero(s, r.code, r.err)
	require.Empty(s, r.err)
	return r.out
}

// document is done for a command with --json.
func (s *served) document(args ...string) (document map[string]any) {
	s.Helper()
	out := s.done(append(args, "--json")...)
	require.NoError(s, json.Unmarshal([]byte(out), &document), out)
	require.Equal(s, 1, strings.Count(out, "\n"), "one line: %s", out)
	return document
}

// refuses runs a command that must fail with the code, and print nothing else than that text to the standard error.
func (s *served) refuses(code int, text string, args ...string) {
	s.Helper()
	r := s.run(args...)
	require.Equal(s, text, r.err)
	require.Equal(s, code, r.code)
}

var moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// still replaces times, and ids by names of their length, so that output can be compared. Names come in pairs of name and id.
func still(out string, named ...string) string {
	out = moments.ReplaceAllStringFunc(out, func(m string) string { return (strings.Repeat("T", 20))[:min(20, len(m))] })
	for i := 0; i < len(named); i += 2 {
		name := named[i] + strings.Repeat("_", max(0, len(named[i+1])-len(named[i])))
		out = strings.ReplaceAll(out, named[i+1], name)
	}
	return out
}
