package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestClusters_WholeLife(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	made := s.document("clusters", "create", "--name", "training", "--type", "TRAINING", "--image", "i", "--gpu", "NVIDIA L4", "--gpu-count", "2", "--pods", "2", "--wait")
	id := made["id"].(string)
	require.EqualValues(t, 2, made["pods"].(map[string]any)["byStatus"].(map[string]any)["RUNNING"])

	require.Equal(t, strings.TrimLeft(`
ID              NAME      TYPE      PODS       MACHINE        DATA CENTER  CREATED
CLUSTER_______  training  TRAINING  2 RUNNING  2 × NVIDIA L4  EU-RO-1      TTTTTTTTTTTTTTTTTTTT
`, "\n"), still(s.done("clusters", "list"), "CLUSTER", id))
	require.Len(t, s.document("clusters", "pods", "training")["pods"], 2)
	require.Equal(t, 3, strings.Count(s.done("clusters", "pods", "training"), "\n"))
	require.Contains(t, s.done("clusters", "update", "training", "--name", "inference"), "primary      ")
	require.Equal(t, "deleted "+id+"\n", s.done("clusters", "delete", "inference"))

	r := s.run("clusters", "create", "--name", "x", "--type", "TRANING", "--image", "i", "--gpu", "NVIDIA L4", "--gpu-count", "1", "--pods", "2")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.err, "\nhint: did you mean TRAINING?\n")
}

func TestRegistries_WholeLife(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("word\n"), 0o600))
	id := s.document("registries", "create", "--name", "private", "--username", "robot", "--password-file", file)["id"].(string)
	require.Equal(t, "ID              NAME\nREGISTRY______  private\n", still(s.done("registries", "list"), "REGISTRY", id))
	require.Equal(t, "id    "+id+"\nname  private\n", s.done("registries", "get", "private"))
	require.Equal(t, "deleted "+id+"\n", s.done("registries", "delete", "private"))

	granted := s.document("registries", "delegations", "create", "--name", "ours", "--resource", "arn:aws:ecr:eu-west-1:123456789012:repository/team/image:1.0")["id"].(string)
	require.Contains(t, s.done("registries", "delegations", "list"), granted+"  ours  team/image")
	s.refuses(exitUsage, "berth: there is no delegation \"theirs\"\nhint: berth registries delegations list shows those that there are\n", "registries", "delegations", "delete", "theirs")
	require.Equal(t, "deleted "+granted+"\n", s.done("registries", "delegations", "revoke", "ours"))
}

const (
	oneKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti user@example"
	otherKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7Tn0VRXEZ8fdF8mcm7iRRWYLTW8wzPt9gXrvPMX0eA other@example"
)

func TestSSHKeys_WholeLife(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	file := filepath.Join(t.TempDir(), "keys")
	write := func(lines ...string) {
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	}

	write("# mine", "", oneKey)
	require.Regexp(t, `^FINGERPRINT +TYPE +COMMENT\nSHA256:\S+ +ssh-ed25519 +user@example\n$`, s.done("ssh-keys", "add", file))
	write(oneKey, otherKey)
	require.Equal(t, []any{oneKey, otherKey}, s.document("ssh-keys", "add", file)["keys"], "a key that there is is not added again")
	prints := strings.Fields(s.done("ssh-keys", "list", "-q"))
	require.Len(t, prints, 2)
	require.Equal(t, []any{otherKey}, s.document("ssh-keys", "remove", "user@example")["keys"])
	require.Empty(t, s.document("ssh-keys", "remove", prints[1])["keys"])
	s.refuses(exitUsage, "berth: there is no SSH key \"nobody\"\nhint: berth ssh-keys list shows those that there are\n", "ssh-keys", "remove", "nobody")
	require.Equal(t, []any{oneKey, otherKey}, s.document("ssh-keys", "replace", file)["keys"])

	write("-----BEGIN OPENSSH PRIVATE KEY-----")
	s.refuses(exitUsage, "berth: "+file+": it is a private key, which stays with you\nhint: the public one is in the file whose name ends in .pub\n", "ssh-keys", "add", file)
	write(oneKey, "nonsense")
	s.refuses(exitUsage, "berth: "+file+": line 2 is no public key\nhint: such as ~/.ssh/id_ed25519.pub\n", "ssh-keys", "add", file)
}

func TestBilling_OfEveryKind(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	volume := s.document("volumes", "create", "--name", "kept", "--size", "100", "--data-center", "EU-RO-1")["id"].(string)
	pod := s.document("pods", "create", "--name", "p", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	require.Zero(t, call(t.Context(), "", "clock", "advance", "49h", "--server", s.server.URL(), "--key", s.server.ControlsKey()).code)

	require.Regexp(t, `^FROM +ID +FOR +USD\n(\S+T00:00:00Z +`+volume+` +storage 0\.\d+ +0\.\d+\n)+total: 0\.\d+ USD\n$`, s.done("billing", "volumes", "--volume", "kept"))
	require.Regexp(t, `^FROM.*\n\S+ +`+pod+` +CPUs \d+\.\d+ +\d+\.\d+\n`, s.done("billing", "pods", "--pod", "p", "--by", "hour", "--last", "3"))
	require.Regexp(t, `^FROM.*\n\S+-01T00:00:00Z +- +pods' CPUs \S+, storage \S+ +\S+\n`, s.done("billing", "all", "--by", "month"))
	for _, kind := range []string{"endpoints", "public-endpoints", "clusters"} {
		require.Regexp(t, `^FROM +ID +FOR +USD\n(.*\n)*total: 0 USD\n$`, s.done("billing", kind, "--since", "2026-01-01", "--until", "2026-01-03T00:00:00Z"))
		require.Contains(t, s.document("billing", kind), "records")
	}

	s.refuses(exitUsage, "berth: --by: \"days\" is not hour, day, week, month or year\nhint: did you mean day?\n", "billing", "pods", "--by", "days")
	s.refuses(exitUsage, "berth: --since: \"soon\" is not a time such as 2026-11-23T08:00:00Z\n", "billing", "all", "--since", "soon")
	s.refuses(exitUsage, "berth: --last: 0 is less than 1\n", "billing", "all", "--last", "0")
	require.Equal(t, exitUsage, s.run("billing", "all", "--last", "1", "--since", "2026-01-01").code)
}

func TestControls_SetWhatTheServerIs(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	require.Contains(t, s.run("controls", "reset").err, "hint: the test controls take the key of the test controls")
	s.document("pods", "create", "--name", "p", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")
	user := s.flags
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	require.Empty(t, s.done("controls", "quotas", "--minute", "1000", "--hour", "1000", "--day", "1000", "--queue", "published"))
	require.Empty(t, s.done("controls", "fleet", "--boot", "1ms", "--interrupt-after", "1h"))
	require.Equal(t, "interrupted 0 pods and 0 workers\n", s.done("controls", "interrupt"))
	require.Empty(t, s.done("controls", "interrupt", "-q"))
	require.Equal(t, exitUsage, s.run("controls", "interrupt", "--pod", "a", "--worker", "b").code)
	s.refuses(exitUsage, "berth: the state: \"ful\" is not writable, full, failing or locked\nhint: did you mean full?\n", "controls", "storage", "ful")
	require.Empty(t, s.done("controls", "storage", "full"))
	s.flags = user
	require.Equal(t, exitRefused, s.run("pods", "delete", "p").code)
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}
	require.Empty(t, s.done("controls", "storage", "writable"))
	require.Empty(t, s.done("controls", "reset"))
	require.Contains(t, s.done("clock", "step", "1h"), "NOW")
	require.Contains(t, s.done("clock", "step", "1h", "--back"), "NOW")
	s.flags = user
	require.Empty(t, s.done("pods", "list", "-q"))
}

func TestHistory_AndWhoami(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Endpoints: []app.Endpoint{{Name: "e"}}})
	require.Contains(t, s.document("history"), "samples")
	require.Contains(t, s.done("history"), "AT")
	require.Contains(t, s.document("endpoints", "history", "e"), "samples")
	require.Contains(t, s.done("jobs", "metrics", "e"), "ready workers")
	require.Contains(t, s.document("jobs", "metrics", "e"), "readyWorkers")

	who := s.document("whoami")
	require.Equal(t, "owner", who["key"].(map[string]any)["user"])
	require.Regexp(t, `(?m)^user +owner$`, s.done("whoami"))
	require.NotContains(t, s.done("whoami"), s.server.FirstKey())
	require.Equal(t, who["key"].(map[string]any)["id"].(string)+"\n", s.done("whoami", "-q"))
}

func TestCatalog_ShowsOne(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	require.Equal(t, "NVIDIA L4", s.document("catalog", "gpus", "NVIDIA L4")["id"])
	require.Equal(t, "cpu3g", s.document("catalog", "cpus", "cpu3g")["id"])
	require.Contains(t, s.done("catalog", "datacenters", "EU-RO-1"), "EU-RO-1")
	require.Contains(t, s.run("catalog", "gpus", "none").err, "\nhint: berth catalog gpus shows those that there are\n")
	require.Contains(t, s.document("templates", "public"), "templates")
	s.refuses(exitUsage, "berth: --source: \"verifiedd\" is not official, verified or community\nhint: did you mean verified?\n", "templates", "public", "--source", "verifiedd")
}

func TestKeys_OfAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{TestControls: true, Data: dir})
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}
	made := s.document("keys", "create", "--name", "ci", "--user", "somebody", "--scope", "rest:read", "--expires-in", "1h", "--spend-limit", "2")
	var found map[string]any
	for _, key := range s.document("keys", "list")["keys"].([]any) {
		if key := key.(map[string]any); key["id"] == made["id"] {
			found = key
		}
	}
	require.Equal(t, "somebody", found["user"])
	require.EqualValues(t, 2, found["spendLimit"])
	require.Contains(t, strings.Fields(s.done("keys", "list", "-q")), made["id"])
	require.Equal(t, "revoked "+made["id"].(string)+"\n", s.done("keys", "revoke", "ci"))
	s.refuses(exitUsage, "berth: there is no key \"ci\"\nhint: berth keys list shows those that there are\n", "keys", "revoke", "ci")
	s.refuses(exitUsage, "berth: --server is for the keys of a server, --data and --store for those of a database here\nhint: leave out one of them\n", "keys", "list", "--data", dir)

	s.flags = []string{"--server", s.server.URL(), "--key", s.server.FirstKey()}
	require.Contains(t, s.run("keys", "create").err, "hint: making and revoking keys of a server take the key of the test controls")

	local := call(t.Context(), "", "keys", "create", "--data", dir, "--name", "here")
	require.Zero(t, local.code, local.err)
	require.Regexp(t, `^revoked \S+\n$`, call(t.Context(), "", "keys", "revoke", "here", "--data", dir).out)
}

func TestSecrets_SayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	value := filepath.Join(t.TempDir(), "value")
	require.NoError(t, os.WriteFile(value, []byte("v"), 0o600))
	require.Contains(t, s.done("secrets", "create", "--name", "told", "--value-file", value, "--description", "for the trainer"), "description  for the trainer\n")
	require.Contains(t, s.done("secrets", "create", "--name", "untold", "--value-file", value), "description  -\n")
	require.NotContains(t, s.done("secrets", "list"), "[")
}

func TestControls_SayThatAServerHasNone(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	for _, line := range []string{"clock show", "states list", "journal list", "faults list", "controls reset"} {
		s.refuses(exitRefused, "berth: 404 Not Found: the server has no test controls, which this is one of: berth serve --test-controls has them\n", strings.Fields(line)...)
	}
}
