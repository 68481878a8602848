package app_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// sshUser is somebody with the programs of OpenSSH and a key that a pod lets in.
type sshUser struct {
	*testing.T
	dir, at string
	options []string
}

func sshUserOf(t *testing.T, s *app.Server, id string, private []byte) *sshUser {
	_, port, err := net.SplitHostPort(s.SSHAddress())
	require.NoError(t, err)
	u := &sshUser{T: t, dir: t.TempDir(), at: id + "@127.0.0.1"}
	require.NoError(t, os.WriteFile(u.file("key"), private, 0o600))
	u.options = []string{
		"-F", "none", "-i", u.file("key"), "-o", "Port=" + port, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile=" + u.file("known"),
	}
	return u
}

// file gives the path of a file of the user.
func (u *sshUser) file(name string) string { return filepath.Join(u.dir, name) }

// command makes a command of one of the programs.
func (u *sshUser) command(program string, args ...string) *exec.Cmd {
	return exec.CommandContext(u.Context(), program, append(u.options[:len(u.options):len(u.options)], args...)...)
}

// run runs a program to its end, and gives what it printed.
func (u *sshUser) run(stdin, program string, args ...string) string {
	u.Helper()
	cmd := u.command(program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(u, err, "%s %q: %s", program, args, out)
	return string(out)
}

// keep runs ssh until the test ends, or until end is called, which waits for it.
func (u *sshUser) keep(args ...string) (end func()) {
	cmd := u.command("ssh", args...)
	require.NoError(u, cmd.Start())
	end = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	u.Cleanup(end)
	return end
}

// answers waits until the web server in the pod answers below an address.
func (u *sshUser) answers(client *http.Client, base string) {
	u.Helper()
	require.Eventually(u, func() bool {
		text, err := fetch(client, base+"/stuck")
		return err == nil && text == "0"
	}, time.Minute, 20*time.Millisecond)
}

// fetch gets what is at an address.
func fetch(client *http.Client, address string) (string, error) {
	res, err := client.Get(address)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

// TestSSH_ToolsInAContainer has OpenSSH's programs, rsync and what editors do by them work in a container.
func TestSSH_ToolsInAContainer(t *testing.T) {
	t.Parallel()
	needSSH(t)
	_, owner := dockertest.Need(t)
	image := dockertest.Tools(t, "sh", "bash", "cat", "ls", "mkdir", "mv", "rm", "chmod", "tar", "nohup", "sleep", "uname", "rsync")
	data := t.TempDir()
	own(t, data, owner)
	s := start(t, app.Config{Data: data, Runtime: "docker", SSHListen: "127.0.0.1:0"})
	key := s.FirstKey()
	_, made := call(t, "POST", s.URL()+"/v2/pods", key, fmt.Sprintf(`{"name":"a","image":%q,"cpu":{"id":"cpu3g","vcpuCount":2}}`, image))
	id, _ := made["id"].(string)
	require.Eventually(t, func() bool {
		_, pod := call(t, "GET", s.URL()+"/v2/pods/"+id, key, "")
		return pod["status"] == "RUNNING"
	}, 5*time.Minute, 50*time.Millisecond)
	_, line, private := sshKey(t)
	setKeys(t, s, key, line)

	u := sshUserOf(t, s, id, private)
	u.synchronises("/data")
	port := u.editor("/data/editor")
	u.forwards(port)
	u.sharesAConnection(port)
	out, err := u.command("ssh", "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1", u.at, "true").CombinedOutput()
	require.Error(t, err, "nothing leads from a pod to its user")
	require.Contains(t, string(out), "remote port forwarding failed")
	require.NoError(t, s.Close())
}

// synchronises has rsync bring a tree to a folder of the pod and back, and what has changed of it.
func (u *sshUser) synchronises(there string) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MB
	require.NoError(u, os.MkdirAll(u.file("tree/deep"), 0o755))
	require.NoError(u, os.WriteFile(u.file("tree/deep/long"), long, 0o640))
	require.NoError(u, os.WriteFile(u.file("tree/short"), []byte("short"), 0o755))
	require.NoError(u, os.Symlink("short", u.file("tree/link")))
	rsync := func(args ...string) string {
		u.Helper()
		out, err := exec.CommandContext(u.Context(), "rsync", append([]string{"-a", "--stats", "-e", "ssh " + strings.Join(u.options, " ")}, args...)...).CombinedOutput()
		require.NoError(u, err, "%s", out)
		return string(out)
	}
	rsync(u.file("tree")+"/", u.at+":"+there+"/tree/")
	long = append([]byte("more"), long...)
	require.NoError(u, os.WriteFile(u.file("tree/deep/long"), long, 0o640))
	require.NoError(u, os.Remove(u.file("tree/short")))
	said := rsync("--delete", u.file("tree")+"/", u.at+":"+there+"/tree/")
	require.Contains(u, said, "Number of deleted files: 1")
	require.Regexp(u, `Literal data: [1-9]\d?,?\d{0,3} bytes`, said, "only the part that has changed is sent")

	rsync(u.at+":"+there+"/tree/", u.file("back"))
	got, err := os.ReadFile(u.file("back/deep/long"))
	require.NoError(u, err)
	require.True(u, bytes.Equal(long, got), "%d bytes came back", len(got))
	target, err := os.Readlink(u.file("back/link"))
	require.NoError(u, err)
	require.Equal(u, "short", target)
}

// editor does what editors do that work in a pod from afar: it asks a shell what the machine is, sends a server as an archive by its stdin,
// has a script start that, which stays, and reaches the port that the script names through the same connection. It gives that port.
func (u *sshUser) editor(there string) (port string) {
	require.Equal(u, "Linux\n", u.run("uname -s\nexit\n", "ssh", "-T", u.at, "sh"))
	itself, err := os.Executable()
	require.NoError(u, err)
	upload := u.command("ssh", "-T", u.at, "mkdir -p "+there+" && tar -x -C "+there)
	in, err := upload.StdinPipe()
	require.NoError(u, err)
	require.NoError(u, upload.Start())
	require.NoError(u, archived(in, itself, "server"))
	require.NoError(u, in.Close())
	require.NoError(u, upload.Wait())

	socks := app.FreePort(u.T)
	shell := u.command("ssh", "-T", "-D", "127.0.0.1:"+socks, u.at, "sh")
	script, err := shell.StdinPipe()
	require.NoError(u, err)
	out, err := shell.StdoutPipe()
	require.NoError(u, err)
	require.NoError(u, shell.Start())
	_, err = io.WriteString(script, asWeb+"=127.0.0.1:8123 nohup "+there+"/server </dev/null >"+there+"/log 2>&1 &\necho listeningOn==8123==\n")
	require.NoError(u, err)
	told, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(u, err)
	require.Equal(u, "listeningOn==8123==\n", told)
	port = "8123"

	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "socks5h", Host: "127.0.0.1:" + socks})}
	u.Cleanup(transport.CloseIdleConnections)
	u.answers(&http.Client{Transport: transport}, "http://127.0.0.1:"+port)
	refused := &http.Client{Transport: &http.Transport{Proxy: transport.Proxy, DisableKeepAlives: true}}
	_, err = fetch(refused, "http://169.254.169.254/")
	require.Error(u, err, "only the pod is reached")
	transport.CloseIdleConnections() // for which ssh would wait
	require.NoError(u, script.Close())
	require.NoError(u, shell.Wait(), "the shell ends, and the server stays")
	return port
}

// archived writes a program as an archive of one file.
func archived(w io.Writer, path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		return err
	}
	if _, err := archive.Write(text); err != nil {
		return err
	}
	return archive.Close()
}

// forwards has a port of the pod be one of the user's machine.
func (u *sshUser) forwards(port string) {
	local := app.FreePort(u.T)
	end := u.keep("-N", "-L", "127.0.0.1:"+local+":localhost:"+port, u.at)
	base := "http://127.0.0.1:" + local
	client := &http.Client{Transport: &http.Transport{}}
	u.answers(client, base)

	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			res, err := client.Get(base + "/down?bytes=1000000")
			if err != nil {
				u.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			want, _ := digest(noise(1000000))
			if got, err := digest(res.Body); err != nil || got != want {
				u.Error("something else came", err)
			}
		})
	}
	all.Wait()

	conn, _, err := websocket.Dial(u.Context(), base+"/echo", nil) //nolint:bodyclose // the connection has it
	require.NoError(u, err)
	require.NoError(u, conn.Write(u.Context(), websocket.MessageText, []byte("a keystroke")))
	_, got, err := conn.Read(u.Context())
	require.NoError(u, err)
	require.Equal(u, "a keystroke", string(got))
	require.NoError(u, conn.CloseNow())
	client.CloseIdleConnections()
	end()
}

// sharesAConnection has many programs go by one connection (ControlMaster), which forwards too.
func (u *sshUser) sharesAConnection(port string) {
	socket := u.file("master")
	end := u.keep("-N", "-M", "-S", socket, u.at)
	require.Eventually(u, func() bool { return u.command("ssh", "-S", socket, "-O", "check", u.at).Run() == nil }, time.Minute, 20*time.Millisecond)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			out, err := u.command("ssh", "-S", socket, u.at, fmt.Sprint("echo number ", i)).Output()
			if err != nil || string(out) != fmt.Sprintf("number %d\n", i) {
				u.Errorf("%q %v", out, err)
			}
		})
	}
	all.Wait()

	local := app.FreePort(u.T)
	u.run("", "ssh", "-S", socket, "-O", "forward", "-L", "127.0.0.1:"+local+":127.0.0.1:"+port, u.at)
	transport := &http.Transport{}
	u.answers(&http.Client{Transport: transport}, "http://127.0.0.1:"+local)
	transport.CloseIdleConnections()
	u.run("", "ssh", "-S", socket, "-O", "exit", u.at)
	end()
}
