package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	stdlog "log"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServe_SplitsACommandAtSpacesOutsideQuotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                           nil,
		"a":                          {"a"},
		"  python -u  handler.py ":   {"python", "-u", "handler.py"},
		`sh -c 'echo "a b"' x""y`:    {"sh", "-c", `echo "a b"`, "xy"},
		`a "" b`:                     {"a", "", "b"},
		`"/path with/space" --x='1'`: {"/path with/space", "--x=1"},
	} {
		argv, err := splitCommand(text)
		require.NoError(t, err)
		require.Equal(t, want, argv, text)
	}

	_, err := parseEndpoint(`a=sh -c 'x`)
	require.EqualError(t, err, "--endpoint a: the quote ' is not closed")
	_, err = parseEndpoint("noequals")
	require.ErrorContains(t, err, "NAME=COMMAND")
}

// runServer runs a command with a server in it until ready has read its first line, then stops it.
func runServer(t *testing.T, ready func(line []byte), args ...string) {
	runServerTo(t, io.Discard, ready, args...)
}

// runServerTo is runServer whose log goes somewhere.
func runServerTo(t *testing.T, log io.Writer, ready func(line []byte), args ...string) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r, w := io.Pipe()
	cmd := newCommand()
	cmd.SetArgs(args)
	cmd.SetOut(w)
	cmd.SetErr(log)

	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		_ = w.CloseWithError(io.EOF)
		done <- err
	}()

	line := make([]byte, 64<<10)
	n, err := r.Read(line)
	require.NoError(t, err)
	ready(line[:n])
	go func() { _, _ = io.Copy(io.Discard, r) }()
	stop()
	require.NoError(t, <-done)
}

func TestServe_PrintsOneLineOfJSONForScripts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "here")
	var first, second struct {
		URL, QueueURL, Key string
		Endpoints          map[string]string
	}
	args := []string{"serve", "--json", "--listen", "127.0.0.1:0", "--data", dir, "--endpoint", "one="}
	runServer(t, func(line []byte) { require.NoError(t, json.Unmarshal(line, &first)) }, args...)
	require.NotEmpty(t, first.Key)
	require.NotEmpty(t, first.URL)
	require.NotEmpty(t, first.Endpoints["one"])

	runServer(t, func(line []byte) { require.NoError(t, json.Unmarshal(line, &second)) }, args...)
	require.Empty(t, second.Key)
	require.Equal(t, first.Endpoints, second.Endpoints)
}

func TestServe_GreetsAPerson(t *testing.T) {
	t.Parallel()
	runServer(t, func(text []byte) {
		require.True(t, bytes.HasPrefix(text, []byte("berth serves at http://127.0.0.1:")), "%s", text)
	}, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
}

// The standard logger is that of the whole process: it is not for a test beside others.
//
//nolint:paralleltest // see above
func TestServe_NothingIsWrittenPastTheLog(t *testing.T) {
	var quiet, verbose workerLog
	for lines, level := range map[*workerLog]string{&quiet: "info", &verbose: "debug"} {
		runServerTo(t, lines, func([]byte) { stdlog.Print("Unsolicited response received") },
			"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", level)
	}
	line := regexp.MustCompile(`(?m)^time=\S+ level=DEBUG msg="Unsolicited response received"$`)
	require.Eventually(t, func() bool { return line.MatchString(verbose.String()) }, time.Minute, 10*time.Millisecond, "%s", &verbose)
	require.NotContains(t, quiet.String(), "Unsolicited")
}

func TestNewVersionCommand(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cmd := newCommand()
	cmd.SetArgs([]string{"version"})
	cmd.SetOut(&out)
	require.NoError(t, cmd.Execute())
	require.Equal(t, "berth dev\n", out.String())
}

// What a start finds out about settings is as wrong as what their values say by themselves.
func TestServe_SettingsThatAStartRefusesAreMisuses(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none")
	ofAuthority := `--acme-hosts "a.example": `
	for says, args := range map[string][]string{
		`--runtime "process": the test controls need a runtime that simulates: it must be sim`:        {"--test-controls", "--runtime", "process"},
		`--seed "` + none + `": stat ` + none + `: no such file or directory`:                         {"--seed", none},
		`--catalog "` + none + `": open ` + none + `: no such file or directory`:                      {"--catalog", none},
		`--fleet "` + none + `": open ` + none + `: no such file or directory`:                        {"--fleet", none},
		ofAuthority + `there is a certificate of an authority, or one in files, --tls-cert: not both`: {"--acme-hosts", "a.example", "--tls-cert", none, "--tls-key", none},
		`--acme-listen "127.0.0.1:0": it is for the proofs of --acme-hosts, of which there are none`:  {"--acme-listen", "127.0.0.1:0"},
		ofAuthority + `an authority is asked by one server`:                                           {"--acme-hosts", "a.example", "--store", "postgres://nobody@127.0.0.1:1/none", "--data", t.TempDir(), "--ephemeral=false"},
	} {
		r := call(t.Context(), "", append([]string{"serve", "--ephemeral", "--listen", "127.0.0.1:0"}, args...)...)
		require.Equal(t, exitUsage, r.code, r.err)
		require.Contains(t, r.err, "berth: "+says)
	}
	r := call(t.Context(), "", "dev", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--seed", none, "--", "true")
	require.Equal(t, exitUsage, r.code, r.err)
}

func TestServe_TracesThatCannotBeSentAreMisuses(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	for _, args := range [][]string{{"serve"}, {"dev", "--", "true"}} {
		r := call(t.Context(), "", append(args[:1:1], append([]string{"--data", t.TempDir(), "--listen", "127.0.0.1:0"}, args[1:]...)...)...)
		require.Equal(t, exitUsage, r.code, r.err)
		require.Equal(t, "berth: OTEL_EXPORTER_OTLP_PROTOCOL=grpc: traces are sent by http/protobuf only\n", r.err)
	}
}
