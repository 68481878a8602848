package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// upAt runs a command that serves until the test ends it, and gives the address that it prints and what ends it.
func upAt(t *testing.T, args ...string) (address string, stop func() ran) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	cmd := newCommandFor(args)
	cmd.SetArgs(append(args, "--json", "--listen", "127.0.0.1:0"))
	cmd.SetOut(in)
	var errs strings.Builder
	cmd.SetErr(&errs)
	ended := make(chan ran, 1)
	go func() {
		code := conclude(ctx, &errs, cmd.ExecuteContext(ctx))
		_ = in.Close()
		ended <- ran{"", errs.String(), code}
	}()

	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(<-ended)
	}
	var ready struct{ URL string }
	require.NoError(t, json.Unmarshal([]byte(line), &ready))
	stop = func() ran {
		cancel()
		return <-ended
	}
	return ready.URL, stop
}

func TestRecord_PlayAndCompare(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	file := filepath.Join(t.TempDir(), "session.jsonl")
	proxy, stop := upAt(t, "record", "--upstream", s.server.URL(), file)
	through := &served{T: t, server: s.server, flags: []string{"--server", proxy, "--key", s.server.FirstKey()}}
	made := through.document("templates", "create", "--name", "mine", "--image", "i")
	through.done("templates", "get", made["id"].(string))
	require.Equal(t, exitRefused, through.run("catalog", "gpus", "none").code)
	require.Equal(t, ran{}, stop())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), "\n"))
	require.NotContains(t, string(text), s.server.FirstKey())

	player, stop := upAt(t, "play", file)
	played := &served{T: t, server: s.server, flags: []string{"--server", player, "--key", "any"}}
	require.Equal(t, made, played.document("templates", "create", "--name", "mine", "--image", "i"))
	other := played.run("templates", "create", "--name", "other", "--image", "i")
	require.Equal(t, exitRefused, other.code)
	require.Contains(t, other.err, `the nearest is exchange 1, POST /v2/templates; body /name is "other", recorded is "mine"`)
	require.Equal(t, ran{}, stop())

	right := serving(t, app.Config{})
	same := call(t.Context(), "", "compare", file, "--left", s.server.URL(), "--key-left", s.server.FirstKey(), "--right", right.server.URL(), "--key-right", right.server.FirstKey())
	require.Equal(t, ran{out: "3 exchanges compared, 0 not (--json says why): 0 differences\n"}, same)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), `\"name\":\"mine\"`, `\"name\":\"theirs\"`, 1)), 0o600))
	against := []string{"compare", file, "--against", right.server.URL(), "--key", right.server.FirstKey()}
	found := call(t.Context(), "", against...)
	require.Equal(t, exitFailed, found.code, found.err)
	require.Regexp(t, `1 +createTemplate +value +body /name +"mine" +"theirs" +2.0.0 +templates\.`, found.out)
	found = call(t.Context(), "", append(against, "--json")...)
	var report struct{ Differences []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(found.out), &report))
	require.Equal(t, "/name", strings.TrimPrefix(report.Differences[0]["place"].(string), "body "))
	require.Zero(t, call(t.Context(), "", append(against, "--ignore", "/name")...).code)
}

// The query of the upstream is added to those of the client: it is where a key may stand.
func TestRecord_KeepsAndPrintsNoKeyOfTheUpstream(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	file := filepath.Join(t.TempDir(), "session.jsonl")
	secrets := strings.Replace(s.server.URL(), "http://", "http://u:hush4@", 1) + "/?api_key=hush5&x=1&token=hush6"
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	cmd := newCommand()
	cmd.SetArgs([]string{"record", file, "--upstream", secrets, "--listen", "127.0.0.1:0"})
	cmd.SetOut(in)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
	text, err := os.ReadFile(file)
	require.NoError(t, err)

	shown := strings.Replace(s.server.URL(), "http://", "http://u:xxxxx@", 1) + "/?api_key=***&x=1&token=***"
	require.Contains(t, line, "records what goes to "+shown+" in ")
	var first struct{ Upstream string }
	require.NoError(t, json.Unmarshal(text, &first))
	require.Equal(t, shown, first.Upstream)

	require.NoError(t, os.WriteFile(file, []byte(`{"recording":1}`+"\n"+`{"number":1,"method":"GET","path":"/v2/pods","status":200,"key":1}`+"\n"), 0o600))
	require.Contains(t, call(t.Context(), "", "compare", file, "--against", "http://u:hush4@a/?api_key=hush5").err, "there is none for http://u:xxxxx@a/?api_key=***\n")
}

func TestRecord_KeepsStreamsThatAreCutAsFarAsTheyWere(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	pod := s.document("pods", "create", "--name", "p", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	file := filepath.Join(t.TempDir(), "session.jsonl")
	proxy, stop := upAt(t, "record", "--upstream", s.server.URL(), file)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy+"/v2/pods/"+pod+"/logs", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.server.FirstKey())
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)

	require.Zero(t, stop().code)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "/v2/pods/"+pod+"/logs")
	require.Contains(t, string(text), strings.TrimSpace(line))
}

func TestRecord_RefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.jsonl")
	require.NoError(t, os.WriteFile(broken, []byte(`{"recording":1}`+"\n"+`{"number":1`), 0o600))
	empty := filepath.Join(dir, "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, []byte(`{"recording":1}`+"\n"+`{"number":1,"method":"GET","path":"/v2/pods","status":200}`+"\n"), 0o600))

	keyed := filepath.Join(dir, "keyed.jsonl")
	require.NoError(t, os.WriteFile(keyed, []byte(`{"recording":1}`+"\n"+`{"number":1,"method":"GET","path":"/v2/pods","status":200,"key":1}`+"\n"), 0o600))

	for _, wrong := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"record", "new.jsonl"}, exitUsage, "upstream"},
		{[]string{"record", "new.jsonl", "--upstream", "nothing"}, exitUsage, "--upstream"},
		{[]string{"record", "new.jsonl", "--upstream", "http://a", "--queue-upstream", "b"}, exitUsage, "--queue-upstream"},
		{[]string{"record", "new.jsonl", "--upstream", "http://a", "--most", "0"}, exitUsage, "--most"},
		{[]string{"record", broken, "--upstream", "http://a", "--listen", "127.0.0.1:0"}, exitUsage, "never overwritten"},
		{[]string{"play", broken}, exitUsage, "line 2: the line ends before the exchange does"},
		{[]string{"play", filepath.Join(dir, "none")}, exitUsage, "none"},
		{[]string{"compare", empty}, exitUsage, "against"},
		{[]string{"compare", empty, "--left", "http://a"}, exitUsage, "right"},
		{[]string{"compare", empty, "--left", "http://a", "--right", "http://b", "--against", "http://c"}, exitUsage, "against"},
		{[]string{"compare", empty, "--against", "http://a", "--contract", "1"}, exitUsage, "there is no edition"},
		{[]string{"compare", empty, "--against", "http://a", "--ignore", "name"}, exitUsage, "--ignore"},
		{[]string{"compare", keyed, "--against", "http://a"}, exitUsage, "there is none for http://a"},
		{[]string{"compare", empty, "--against", "http://127.0.0.1:1"}, exitUnreached, "does not answer"},
	} {
		got := call(t.Context(), "", wrong.args...)
		require.Equal(t, wrong.code, got.code, "%v: %s", wrong.args, got.err)
		require.Contains(t, got.err, wrong.says, "%v", wrong.args)
	}
}
