package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/spec"
)

func TestNewCommand_RefusesAWrongCallWithAHint(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"pods creat":                        "berth: there is no command berth pods creat\nhint: did you mean create?\n",
		"pods lst":                          "berth: there is no command berth pods lst\nhint: did you mean list?\n",
		"completion bsh":                    "berth: there is no command berth completion bsh\nhint: did you mean bash or zsh?\n",
		"help srve":                         "berth: there is no command berth srve\nhint: did you mean serve?\n",
		"help pods crate":                   "berth: there is no command berth pods crate\nhint: did you mean create?\n",
		"serve --lisen x":                   "berth: unknown flag: --lisen\nusage: berth serve [flags]\nhint: did you mean --listen?\n",
		"serve --runtime dokcer":            "berth: --runtime \"dokcer\": it must be sim, docker, kubernetes or process\nhint: did you mean docker?\n",
		"serve --listen 8765":               "berth: --listen \"8765\": missing port in address: it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one\n",
		"serve --queue-listen x:99999":      "berth: --queue-listen \"x:99999\": invalid port: it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one\n",
		"serve --lease 1s":                  "berth: --lease \"1s\": it must be at least 3s\n",
		"nonsense":                          "berth: there is no command berth nonsense\nhint: see berth --help\n",
		"pods create --foo":                 "berth: unknown flag: --foo\nusage: berth pods create [flags]\nhint: see berth pods create --help\n",
		"pods get":                          "berth: POD is missing\nusage: berth pods get POD [flags]\nhint: see berth pods get --help\n",
		"jobs status e":                     "berth: JOB is missing\nusage: berth jobs status ENDPOINT JOB [flags]\nhint: see berth jobs status --help\n",
		"pods get a b":                      "berth: \"b\" is one argument too many\nusage: berth pods get POD [flags]\nhint: see berth pods get --help\n",
		"serve --lease x":                   "berth: --lease \"x\": it must be a duration such as 90s, 10m or 24h\nusage: berth serve [flags]\nhint: see berth serve --help\n",
		"pods list x":                       "berth: berth pods list takes no arguments, but there is \"x\"\nusage: berth pods list [flags]\nhint: see berth pods list --help\n",
		"pods list --server x":              "berth: --server: \"x\" is not an http or https URL\n",
		"pods create --disk x":              "berth: --disk \"x\": it must be a whole number\nusage: berth pods create [flags]\nhint: see berth pods create --help\n",
		"spec show x":                       "berth: invalid argument \"x\" for \"berth spec show\"\nusage: berth spec show rest|queue|worker|controls [flags]\nhint: see berth spec show --help\n",
		"keys create --scope x":             "berth: --scope \"x\": it must be one of " + app.ScopeWords + "\n",
		"keys create --user=":               "berth: --user must name a user\n",
		"serve --endpoint x":                "berth: --endpoint \"x\": it must be NAME=COMMAND, or ID:NAME=COMMAND\n",
		"serve --first-key short":           "berth: --first-key: a token has from 16 to 200 characters\n",
		"serve --first-key ./none":          "berth: --first-key: open ./none: no such file or directory\n",
		"serve --endpoint short:x=":         "berth: --endpoint short:x: the id must have 14 lower-case letters and digits\n",
		"serve --endpoint f08vqgrv1p2xkd:=": "",
		"serve --pod-retention 0":           "berth: --pod-retention \"0s\": it must be longer than 0\n",
		"dev":                               "berth: name a handler file, or a command after --\nhint: see berth dev --help\n",
		"conformance --target x --key y":    "berth: --target: \"x\" is not an http or https URL\n",
		"conformance --target http://x":     "berth: --target needs --key\n",
		"conformance --only no.such":        "berth: --only: there is no rule \"no.such\"\nhint: RULES.md lists the rules\n",
		"conformance --area pods.get":       "berth: --area: there is no rule \"pods.get\"\nhint: RULES.md lists the rules\n",
		"conformance --skip pod":            "berth: --skip: there is no rule \"pod\"\nhint: RULES.md lists the rules\n",

		"conformance --area pods --only queue":                       "berth: no rule is left to be checked\nhint: RULES.md lists the rules\n",
		"conformance --target http://x --key ключ":                   "berth: --key: a key has no spaces, and only characters that a header can have\n",
		"conformance --target http://x --key y --endpoint a/b":       "berth: --endpoint: \"a/b\" is not the id of an endpoint\n",
		"conformance --target http://x --key y --controls-key z":     "",
		"conformance --target http://x --key y --queue-target q:tcp": "",
		"jobs run e --wait --follow":                                 "",
		"jobs run e --file /nonexistent":                             "berth: --file: open /nonexistent: no such file or directory\n",
		"jobs run e --input @/nonexistent":                           "berth: --input: open /nonexistent: no such file or directory\n",
		"jobs run e --timeout -1s":                                   "berth: --timeout \"-1s\": it must not be negative\nusage: berth jobs run ENDPOINT [flags]\nhint: see berth jobs run --help\n",
		"events --count -1":                                          "berth: --count: -1 is less than 0\n",
		"journal list --limit -1":                                    "berth: --limit: -1 is less than 0\n",
		"docs --listen 8765":                                         "berth: --listen \"8765\": missing port in address: it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one\n",
		"record f --upstream http://x --listen x:99999":              "berth: --listen \"x:99999\": invalid port: it must be HOST:PORT, such as 127.0.0.1:8765; port 0 picks one\n",
		"pods logs x --since -10m":                                   "berth: --since: \"-10m\" is neither a time like 2026-01-31T12:00:00Z nor a duration like 10m\n",
		"pods logs x --since soon":                                   "berth: --since: \"soon\" is neither a time like 2026-01-31T12:00:00Z nor a duration like 10m\n",
	} {
		r := call(t.Context(), "", strings.Fields(line)...)
		require.Equal(t, exitUsage, r.code, "%s: %s", line, r.err)
		require.Empty(t, r.out, line)
		if want != "" {
			require.Equal(t, want, r.err, line)
		}
	}
}

func TestConnection_SaysWhyAServerDoesNotServe(t *testing.T) {
	t.Parallel()
	r := call(t.Context(), "", "pods", "list", "--server", "http://127.0.0.1:1")
	require.Equal(t, exitUnreached, r.code)
	require.Equal(t, "berth: http://127.0.0.1:1 was not reached: dial tcp 127.0.0.1:1: connect: connection refused\n"+
		"hint: start a server with berth serve, or name another with --server or BERTH_SERVER\n", r.err)

	s := serving(t, app.Config{})
	r = call(t.Context(), "", "pods", "list", "--server", s.server.URL())
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.err, "berth: 401 Unauthorized: ")
	require.Contains(t, r.err, "\nhint: no key is set: make one with berth keys create")

	r = call(t.Context(), "", "pods", "list", "--server", s.server.URL(), "--key", "brt_wrongwrong_wrong")
	require.Contains(t, r.err, "\nhint: make another key with berth keys create")
	require.NotContains(t, r.err, "wrongwrong")

	for answer, want := range map[int]string{
		http.StatusTooManyRequests:     "berth: 429 Too Many Requests: x\nhint: try again in 7 seconds\n",
		http.StatusForbidden:           "berth: 403 Forbidden: x\nhint: the key lacks a scope: berth keys create --scope gives one to a new key\n",
		http.StatusInternalServerError: "berth: 500 Internal Server Error: x\nhint: the log of the server says more; the request's id is r1\n",
	} {
		r := refusing(t, answer, `{"title":"t","detail":"x"}`)
		require.Equal(t, exitRefused, r.code)
		require.Equal(t, want, r.err)
	}

	r = refusing(t, http.StatusTeapot, "<html>")
	require.Contains(t, r.err, "berth: 418 I'm a teapot\nhint: this is not how a berth answers: is one at http://127.0.0.1:")
	r = refusing(t, http.StatusOK, "<html>")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.err, "answered with something else than the document")
}

// refusing calls a server that answers so.
func refusing(t *testing.T, status int, body string) ran {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Request-Id", "r1")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer other.Close()
	return call(t.Context(), "", "pods", "list", "--server", other.URL)
}

// TestConnection_NoRedirectMakesAGETOfAChange: it would do nothing, and look as if all was done.
func TestConnection_NoRedirectMakesAGETOfAChange(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path
		if !strings.HasPrefix(r.URL.Path, "/moved") {
			http.Redirect(w, r, "http://"+r.Host+"/moved"+r.URL.Path, http.StatusMovedPermanently)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	}))
	defer moved.Close()

	for line, path := range map[string]string{
		"pods delete k3v9x2m1q8w7rt":          "DELETE /v2/pods/k3v9x2m1q8w7rt",
		"pods update k3v9x2m1q8w7rt --name a": "PATCH /v2/pods/k3v9x2m1q8w7rt",
		"jobs cancel f08vqgrv1p2xkd j1":       "POST /v2/f08vqgrv1p2xkd/cancel/j1",
		"controls reset":                      "POST /_berth/reset",
	} {
		r := call(t.Context(), "", append(strings.Fields(line), "--server", moved.URL)...)
		require.Equal(t, exitRefused, r.code, line)
		require.Equal(t, path, <-asked)
		require.Empty(t, asked)
		_, path, _ = strings.Cut(path, " ")
		require.Equal(t, "berth: 301 Moved Permanently\nhint: it leads to "+moved.URL+"/moved"+path+": --server should name that address, "+moved.URL+"\n", r.err)
	}

	r := call(t.Context(), "", "volumes", "list", "--json", "--server", moved.URL)
	require.Equal(t, ran{out: "{}\n"}, r, "a GET stays one")
	require.Equal(t, "GET /v2/network-volumes", <-asked)
	require.Equal(t, "GET /moved/v2/network-volumes", <-asked)
}

func TestConnection_ServerCannotMoveTheCursor(t *testing.T) {
	t.Parallel()
	r := refusing(t, http.StatusBadRequest, `{"title":"t","detail":"a\u001b[2Jb\nc"}`)
	require.Equal(t, "berth: 400 Bad Request: a [2Jb c\n", r.err)
}

func TestExit_ProgramEndsWithItsCode(t *testing.T) {
	t.Parallel()
	program := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		return cmd
	}
	require.NoError(t, program("version").Run())

	for code, args := range map[int][]string{exitUsage: {"nonsense"}, exitUnreached: {"pods", "list", "--server", "http://127.0.0.1:1"}} {
		cmd := program(args...)
		require.Error(t, cmd.Run())
		require.Equal(t, code, cmd.ProcessState.ExitCode())
	}

	s := serving(t, app.Config{Endpoints: []app.Endpoint{{Name: "nobody"}}})
	id := s.document("jobs", "run", "nobody", "--input", "{}")["id"].(string)
	cmd := program(append([]string{"jobs", "stream", "nobody", id}, s.flags...)...)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	output := bufio.NewReader(stderr)
	line, err := output.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "job "+id+" is IN_QUEUE\n", line) // it follows
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))

	rest, err := io.ReadAll(output)
	require.NoError(t, err)
	require.Equal(t, "berth: interrupted\nhint: it goes on: berth jobs stream nobody "+id+"\n", string(rest))
	require.Error(t, cmd.Wait())
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
}

// all calls f with every command.
func all(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		all(sub, f)
	}
}

func TestNewCommand_EveryCommandHasHelpExampleAndJSON(t *testing.T) {
	t.Parallel()
	root := newCommand()
	all(root, func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.NotNil(t, root.PersistentFlags().Lookup("json"))
		if !cmd.HasSubCommands() && cmd.Name() != "worker" {
			require.NotEmpty(t, cmd.Example, "%s has no example", cmd.CommandPath())
		}
	})

	r := call(t.Context(), "", "pods")
	require.Zero(t, r.code)
	require.Contains(t, r.out, "Create a pod")
}

// TestNewCommandFor_MakesTheSameCommandAlone: what it says of itself is the same, and so what it refuses.
func TestNewCommandFor_MakesTheSameCommandAlone(t *testing.T) {
	t.Parallel()
	for _, e := range slices.Concat(serverCommands, clientCommands) {
		require.Len(t, newCommandFor([]string{e.name}).Commands(), 1)
	}

	all(newCommand(), func(cmd *cobra.Command) {
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		root := newCommand()
		root.SetArgs(args)
		var help bytes.Buffer
		root.SetOut(&help)
		require.NoError(t, root.Execute())
		require.Equal(t, help.String(), call(t.Context(), "", args...).out)
	})
}

// TestBody_EveryFlagNamesAMemberOfTheDocument holds the flags to spec/rest.yaml, spec/queue.yaml and spec/controls.yaml.
func TestBody_EveryFlagNamesAMemberOfTheDocument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, schema string
		fields           []field
	}{
		{"rest", "CreatePodRequest", pods().create.fields}, {"rest", "UpdatePodRequest", pods().update.fields},
		{"rest", "CreateEndpointRequest", endpoints().create.fields}, {"rest", "UpdateEndpointRequest", endpoints().update.fields},
		{"rest", "CreateTemplateRequest", templates().create.fields}, {"rest", "UpdateTemplateRequest", templates().update.fields},
		{"rest", "CreateNetworkVolumeRequest", volumes().create.fields}, {"rest", "UpdateNetworkVolumeRequest", volumes().update.fields},
		{"rest", "CreateClusterRequest", clusters().create.fields}, {"rest", "UpdateClusterRequest", clusters().update.fields},
		{"rest", "CreateRegistryRequest", registries().create.fields}, {"rest", "CreateDelegationRequest", delegations().create.fields},
		{"rest", "CreateSecretRequest", secrets().create.fields}, {"rest", "UpdateSecretRequest", secrets().update.fields},
		{"rest", "CreateGlobalVolumeRequest", globalVolumes().create.fields}, {"rest", "UpdateGlobalVolumeRequest", globalVolumes().update.fields},
		{"controls", "Quotas", quotaFields()}, {"controls", "FleetSettings", fleetFields()},
		{"queue", "Submission", jobFields()},
	} {
		text, err := spec.JSON(c.document, "")
		require.NoError(t, err)
		var document struct {
			Components struct {
				Schemas map[string]map[string]any
			}
		}
		require.NoError(t, json.Unmarshal(text, &document))

		for _, f := range c.fields {
			schema := document.Components.Schemas[c.schema]
			for name := range strings.SplitSeq(f.at[1:], "/") {
				if ref, ok := schema["$ref"].(string); ok {
					schema = document.Components.Schemas[filepath.Base(ref)]
				}
				properties, _ := schema["properties"].(map[string]any)
				require.Contains(t, properties, name, "%s: --%s", c.schema, f.flag)
				schema = properties[name].(map[string]any)
			}
		}
	}
}

func TestCompletion_OffersWhatTheServerHas(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Endpoints: []app.Endpoint{{Name: "one"}}})
	id := s.document("pods", "create", "--name", "first", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	endpoint := string(s.server.Endpoints()["one"])
	offered := func(args ...string) string { // the flags of the server stand before the word that is completed
		return call(t.Context(), "", append([]string{"__complete"}, args...)...).out
	}
	for _, action := range []string{"get", "delete", "stop", "logs"} {
		require.Equal(t, id+"\tfirst, RUNNING\n:4\n", offered("pods", action, "--server", s.server.URL(), "--key", s.server.FirstKey(), ""))
	}
	require.Equal(t, ":4\n", offered("pods", "get", "--server", s.server.URL(), "--key", s.server.FirstKey(), id, ""))
	require.Equal(t, endpoint+"\tone\n:4\n", offered("jobs", "run", "--server", s.server.URL(), "--key", s.server.FirstKey(), ""))
	require.Contains(t, offered("pods", "create", "--server", s.server.URL(), "--key", s.server.FirstKey(), "--gpu", ""), "NVIDIA L4\t24 GB\n")
	require.Equal(t, "sim\ndocker\nkubernetes\nprocess\n:4\n", offered("serve", "--runtime", ""))
	require.Equal(t, "yaml\nyml\n:8\n", offered("pods", "list", "--config", ""))
	require.Equal(t, "SECURE\nCOMMUNITY\n:4\n", offered("pods", "create", "--cloud", ""))
	require.Equal(t, ":4\n", offered("pods", "get", "--server", "http://127.0.0.1:1", ""))
	require.Contains(t, call(t.Context(), "", "completion", "bash").out, "berth")
}

func TestNewCommand_ToolsPrintJSONToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serving(t, app.Config{Data: dir})
	document := func(args ...string) (d map[string]any) {
		r := call(t.Context(), "", append(args, "--json")...)
		require.Zero(t, r.code, r.err)
		require.NoError(t, json.Unmarshal([]byte(r.out), &d), r.out)
		return d
	}

	require.Equal(t, "dev", document("version")["version"])
	made := document("keys", "create", "--data", dir, "--name", "ci")
	require.True(t, strings.HasPrefix(made["key"].(string), "brt_"))
	require.Equal(t, map[string]any{"id": made["id"], "revoked": true}, document("keys", "revoke", made["id"].(string), "--data", dir))

	for _, key := range document("keys", "list", "--data", dir)["keys"].([]any) {
		require.NotContains(t, key, "key")
		require.Equal(t, key.(map[string]any)["id"] == made["id"], key.(map[string]any)["revokedAt"] != nil)
	}
	document("keys", "create", "--data", dir, "--user", "somebody", "--name", "theirs")
	users := map[any]any{}
	for _, key := range document("keys", "list", "--data", dir)["keys"].([]any) {
		users[key.(map[string]any)["name"]] = key.(map[string]any)["user"]
	}
	require.Equal(t, map[any]any{"first key": "owner", "ci": "owner", "theirs": "somebody"}, users)
	require.Contains(t, document("spec", "show", "queue"), "paths")

	file := filepath.Join(dir, "a.json")
	require.NoError(t, os.WriteFile(file, []byte(call(t.Context(), "", "spec", "show", "queue").out), 0o600))
	require.Equal(t, map[string]any{"found": 0.0, "unlisted": []any{}, "stale": []any{}}, document("spec", "diff", file, file))
}

func TestConformance_OutcomesAsJSONSayWhy(t *testing.T) {
	t.Parallel()
	require.Equal(t, []shownOutcome{{Rule: "a.b", Outcome: "PASS", Milliseconds: 2}, {Rule: "a.c", Outcome: "FAIL", Detail: "x"}, {Rule: "d", Outcome: "SKIPPED", Detail: "y"}},
		shownOutcomes([]conformance.Outcome{{ID: "a.b", Took: 2 * time.Millisecond}, {ID: "a.c", Failure: "x"}, {ID: "d", Skipped: "y"}}))
}

func TestProgress_IsOneLineThatGoesAtTheEnd(t *testing.T) {
	t.Parallel()
	var seen bytes.Buffer
	p := &progress{out: &seen, begun: time.Now().Add(-61 * time.Second)}
	p.say("pod x is\nSTARTING")
	p.clear()
	require.Regexp(t, `^\r\x1b\[Kpod x is STARTING, 1m\ds\r\x1b\[K$`, seen.String())
	cmd := newCommand()
	cmd.SetErr(&seen)
	seen.Reset()
	newProgress(cmd).say("nobody looks")
	require.Empty(t, seen.String())
}
