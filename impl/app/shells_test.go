package app_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controlsclient"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/impl/shell"
	"github.com/berthdev/berth/impl/shell/wire"
)

// accepting are the settings of a server that runs commands beside processes of its machine.
var accepting = setting.Values{"process-accept": {"commands"}}

// running makes a pod of processes and gives its id once it runs.
func running(t *testing.T, s *app.Server, key string) string {
	t.Helper()
	_, made := call(t, "POST", s.URL()+"/v2/pods", key, printingPod)
	id, _ := made["id"].(string)
	require.Eventually(t, func() bool {
		_, pod := call(t, "GET", s.URL()+"/v2/pods/"+id, key, "")
		return pod["status"] == "RUNNING"
	}, time.Minute, 10*time.Millisecond)
	return id
}

func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// runAt runs a command by the address of what it runs in.
func runAt(ctx context.Context, address string, header http.Header, e runtime.Exec) (int, error) {
	request, err := controlsclient.NewExecPodRequest("http://x", "x", new(wire.Params(e)))
	if err != nil {
		return 0, err
	}
	at, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	if more := request.URL.RawQuery; at.RawQuery == "" {
		at.RawQuery = more
	}
	request.URL, request.Header = at, header
	return wire.Run(ctx, request, e)
}

// inPod runs a command in a pod by the key, and gives its exit code and what it wrote.
func inPod(t *testing.T, s *app.Server, key, id string, e runtime.Exec) (int, string) {
	t.Helper()
	var out, errs bytes.Buffer
	e.Stdout, e.Stderr = &out, &errs
	code, err := runAt(t.Context(), s.URL()+"/_berth/pods/"+id+"/exec", bearer(key), e)
	require.NoError(t, err)
	return code, out.String() + errs.String()
}

// refusedExec asserts the status with which a command is refused.
func refusedExec(t *testing.T, want int, address string, header http.Header) {
	t.Helper()
	_, err := runAt(t.Context(), address, header, runtime.Exec{Command: []string{"true"}})
	refused, is := errors.AsType[*wire.Refused](err)
	require.True(t, is, "%v", err)
	require.Equal(t, want, refused.Code, "%s", refused.Body)
}

func TestShells_CommandsRunInPods(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", RuntimeSettings: accepting, Endpoints: []app.Endpoint{printing}})
	key := s.FirstKey()
	id := running(t, s, key)

	code, text := inPod(t, s, key, id, runtime.Exec{Command: []string{"sh", "-c", "echo in $RUNPOD_POD_ID; echo on the other >&2; exit 7"}})
	require.Equal(t, 7, code)
	require.Equal(t, "in "+id+"\non the other\n", text)

	long := strings.Repeat("0123456789abcdef\n", 1<<16)
	code, text = inPod(t, s, key, id, runtime.Exec{Command: []string{"cat"}, Stdin: strings.NewReader(long)})
	require.Zero(t, code)
	require.True(t, long == text, "%d bytes came back of %d", len(text), len(long))

	code, text = inPod(t, s, key, id, runtime.Exec{Stdin: strings.NewReader("echo a shell; exit 3\n")}) // no command
	require.Equal(t, 3, code)
	require.Equal(t, "a shell\n", text)

	code, text = inPod(t, s, key, id, runtime.Exec{Command: []string{"stty", "size"}, Stdin: strings.NewReader(""), TTY: &runtime.TTY{Size: runtime.Size{Width: 101, Height: 33}}})
	require.Zero(t, code)
	require.Equal(t, "33 101\r\n", text)
}

func TestShells_EndWithTheConnectionThePodAndTheServer(t *testing.T) {
	t.Parallel()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // or who runs the tests under nohup has the shells ignore them
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", RuntimeSettings: accepting, Endpoints: []app.Endpoint{printing}})
	key := s.FirstKey()
	id := running(t, s, key)
	file := t.TempDir() + "/hung-up"
	begin := func(ctx context.Context, script string) chan error {
		out, lines := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			code, err := runAt(ctx, s.URL()+"/_berth/pods/"+id+"/exec", bearer(key), runtime.Exec{
				Command: []string{"sh", "-c", script + "; echo up; while true; do sleep 0.05; done"}, Stdout: lines,
			})
			if err == nil && code < 128 {
				err = errors.New("it ended by itself")
			}
			ended <- err
		}()
		_, err := io.ReadFull(out, make([]byte, 3))
		require.NoError(t, err)
		return ended
	}

	ctx, leave := context.WithCancel(t.Context())
	ended := begin(ctx, "trap 'echo yes > "+file+"; exit' HUP")
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(file) // the pod's files are this machine's
		return err == nil && string(text) == "yes\n"
	}, time.Minute, 10*time.Millisecond, "the command is told")

	ended = begin(t.Context(), "true")
	status, _ := call(t, "POST", s.URL()+"/v2/pods/"+id+"/action", key, `{"action":"stop"}`)
	require.Equal(t, 200, status)
	if err := <-ended; err != nil { // or by the signal
		require.EqualError(t, err, shell.NotUp.Error())
	}
	refusedExec(t, 409, s.URL()+"/_berth/pods/"+id+"/exec", bearer(key))

	id = running(t, s, key)
	ended = begin(t.Context(), "true")
	require.NoError(t, s.Close())
	require.EqualError(t, <-ended, shell.Ending.Error())
}

// TestShells_WhoDoesNotReadHoldsNoEndUp: the server gives up on what such a client does not take.
func TestShells_WhoDoesNotReadHoldsNoEndUp(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", RuntimeSettings: accepting, Endpoints: []app.Endpoint{printing}, StallTimeout: time.Hour})
	key := s.FirstKey()
	id, file := running(t, s, key), t.TempDir()+"/pieces"
	words := url.Values{"command": {"sh", "-c", "while head -c 100000 /dev/zero; do echo >> " + file + "; done"}}
	ws, _, err := websocket.Dial(t.Context(), s.URL()+"/_berth/pods/"+id+"/exec?"+words.Encode(), &websocket.DialOptions{HTTPHeader: bearer(key), Subprotocols: []string{wire.Protocol}}) //nolint:bodyclose // the library closes it
	require.NoError(t, err)
	defer func() { _ = ws.CloseNow() }()

	var size int64
	same := 0
	require.Eventually(t, func() bool { // what is between the two is full
		if is, err := os.Stat(file); err != nil || is.Size() != size {
			same = 0
			if err == nil {
				size = is.Size()
			}
			return false
		}
		same++
		return same > 10
	}, time.Minute, 50*time.Millisecond)
	begin := time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(begin), 30*time.Second)
}

func TestShells_AreForWhoMayChangeThePod(t *testing.T) {
	t.Parallel()
	var log lines
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", RuntimeSettings: accepting, Endpoints: []app.Endpoint{printing}, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	all := s.FirstKey()
	id := running(t, s, all)
	at := s.URL() + "/_berth/pods/" + id + "/exec"
	key := func(user compute.UserID, scopes ...compute.Scope) string {
		_, token, err := s.CreateKey(t.Context(), control.NewKey{UserID: user, Name: "k", Scopes: scopes})
		require.NoError(t, err)
		return token
	}
	const mine = compute.UserID("owner")
	reader, ofPod := key(mine, compute.ScopeRESTRead), key(mine, compute.ScopePod(compute.PodID(id)))
	other, stranger := key(mine, compute.ScopePod("aaaaaaaaaaaaaa")), key("stranger", compute.ScopeAll)

	refusedExec(t, 401, at, nil)
	refusedExec(t, 401, at+"?key="+all+"&api_key="+all+"&x=", nil)
	refusedExec(t, 403, at, bearer(reader))
	refusedExec(t, 404, at, bearer(other))
	refusedExec(t, 404, at, bearer(stranger))
	refusedExec(t, 404, strings.Replace(at, id, "aaaaaaaaaaaaaa", 1), bearer(all))
	code, _ := inPod(t, s, ofPod, id, runtime.Exec{Command: []string{"true"}})
	require.Zero(t, code)
	code, said := inPod(t, s, ofPod, id, runtime.Exec{Command: []string{""}, Stdin: strings.NewReader("echo hello; exit 7\n")})
	require.Equal(t, 7, code, "an empty command is none: the shell")
	require.Contains(t, said, "hello\n")

	with := func(origin string) http.Header {
		h := bearer(all)
		h.Set("Origin", origin)
		return h
	}
	for _, origin := range []string{"http://example.com", "null", s.URL() + ".example.com", "file://", ""} {
		refusedExec(t, 403, at, with(origin))
	}
	_, err := runAt(t.Context(), at, with(s.URL()), runtime.Exec{Command: []string{"true"}})
	require.NoError(t, err)

	secret := "berth.key." + base64.RawURLEncoding.EncodeToString([]byte(all))
	ws, answer, err := websocket.Dial(t.Context(), at+"?command=echo&command=hello", &websocket.DialOptions{Subprotocols: []string{wire.Protocol, secret}}) //nolint:bodyclose // the library closes it
	require.NoError(t, err)
	require.Equal(t, []string{wire.Protocol}, answer.Header.Values("Sec-WebSocket-Protocol"), "the key is not answered back")
	_, text, err := ws.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "\x01hello\n", string(text))
	_, text, err = ws.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "\x03"+`{"exitCode":0}`, string(text))
	_, _, err = ws.Read(t.Context())
	require.Equal(t, websocket.StatusNormalClosure, websocket.CloseStatus(err))

	require.NoError(t, s.Close())
	log.mu.Lock()
	defer log.mu.Unlock()
	noted := log.text.String()
	require.Contains(t, noted, "a session ended")
	require.NotContains(t, noted, "hello", "nothing of what is said is noted")
	require.NotContains(t, noted, strings.TrimPrefix(secret, "berth.key."))
	require.NotContains(t, noted, all)
}

func TestShells_CommandsRunInWorkers(t *testing.T) {
	t.Parallel()
	stays := printing
	stays.WorkersMin, stays.WorkersMax = 1, 1
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", RuntimeSettings: accepting, Endpoints: []app.Endpoint{stays}})
	key, endpoint := s.FirstKey(), string(s.Endpoints()["printing"])
	var worker string
	require.Eventually(t, func() bool {
		_, all := call(t, "GET", s.URL()+"/v2/serverless/"+endpoint+"/workers", key, "")
		if workers, _ := all["workers"].([]any); len(workers) > 0 {
			worker, _ = workers[0].(map[string]any)["id"].(string)
		}
		return worker != ""
	}, time.Minute, 10*time.Millisecond)

	at := s.URL() + "/_berth/endpoints/" + endpoint + "/workers/" + worker + "/exec"
	require.Eventually(t, func() bool { // it may be on its way up
		var out bytes.Buffer
		code, err := runAt(t.Context(), at, bearer(key), runtime.Exec{Command: []string{"sh", "-c", "echo $RUNPOD_POD_ID"}, Stdout: &out})
		return err == nil && code == 0 && out.String() == worker+"\n"
	}, time.Minute, 10*time.Millisecond)
	refusedExec(t, 404, strings.Replace(at, worker, "nosuchworker", 1), bearer(key))
	refusedExec(t, 404, strings.Replace(at, endpoint, "aaaaaaaaaaaaaa", 1), bearer(key))
}

func TestShells_ProcessesTakeNoneUnlessTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{printing}})
	key := s.FirstKey()
	id := running(t, s, key)
	_, err := runAt(t.Context(), s.URL()+"/_berth/pods/"+id+"/exec", bearer(key), runtime.Exec{Command: []string{"true"}})
	require.EqualError(t, err, shell.NotTaken.Error())
}

func TestShells_SimulatedPodsSaySo(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir()})
	key := s.FirstKey()
	_, made := call(t, "POST", s.URL()+"/v2/pods", key, printingPod)
	id, _ := made["id"].(string)
	require.Eventually(t, func() bool {
		_, err := runAt(t.Context(), s.URL()+"/_berth/pods/"+id+"/exec", bearer(key), runtime.Exec{Command: []string{"true"}})
		return err != nil && err.Error() == shell.Simulated.Error()
	}, time.Minute, 10*time.Millisecond)
}
