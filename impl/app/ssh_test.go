package app_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// sshKey makes a key, and gives what signs with it, its line for the account, and its private part as a file has it.
func sshKey(t *testing.T) (ssh.Signer, string, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	return signer, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), pem.EncodeToMemory(block)
}

// setKeys replaces the SSH keys of the account of an API key.
func setKeys(t *testing.T, s *app.Server, key string, lines ...string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"keys": append([]string{}, lines...)})
	require.NoError(t, err)
	status, answer := call(t, "PUT", s.URL()+"/v2/account/ssh-keys", key, string(body))
	require.Equal(t, 200, status, "%v", answer)
}

// loginTo logs in by ssh.
func loginTo(s *app.Server, user string, signers ...ssh.Signer) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.SSHAddress(), &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signers...)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: time.Minute,
	})
}

// gate starts a server with a pod that lets the key in.
func gate(t *testing.T) (s *app.Server, key, id string, signer ssh.Signer, private []byte) {
	t.Helper()
	s = start(t, app.Config{Data: t.TempDir(), Runtime: "process", RuntimeSettings: accepting, Endpoints: []app.Endpoint{printing}, SSHListen: "127.0.0.1:0"})
	key = s.FirstKey()
	id = running(t, s, key)
	signer, line, private := sshKey(t)
	setKeys(t, s, key, line)
	return s, key, id, signer, private
}

func TestSSH_CommandsShellsAndTerminals(t *testing.T) {
	t.Parallel()
	s, _, id, signer, _ := gate(t)
	for _, user := range []string{id, id + "-64411d3b"} { // the public service appends something
		client, err := loginTo(s, user, signer)
		require.NoError(t, err)
		session, err := client.NewSession()
		require.NoError(t, err)
		var errs bytes.Buffer
		session.Stderr = &errs
		require.NoError(t, session.Setenv("LANG", "C"))
		require.Error(t, session.Setenv("LD_PRELOAD", "/x"))
		out, err := session.Output("echo in $RUNPOD_POD_ID; echo other >&2; exit 7")
		ended, is := errors.AsType[*ssh.ExitError](err)
		require.True(t, is, "%v", err)
		require.Equal(t, 7, ended.ExitStatus())
		require.Equal(t, "in "+id+"\n", string(out))
		require.Equal(t, "other\n", errs.String())
		require.NoError(t, client.Close())
	}

	client, err := loginTo(s, id, signer)
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	session, err := client.NewSession()
	require.NoError(t, err)
	require.NoError(t, session.RequestPty("vt100", 40, 120, nil))
	in, err := session.StdinPipe()
	require.NoError(t, err)
	out, err := session.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, session.Shell())
	read := func(until string) {
		var text strings.Builder
		for b := make([]byte, 1); !strings.Contains(text.String(), until); {
			_, err := out.Read(b)
			require.NoError(t, err, text.String())
			text.Write(b)
		}
	}
	_, err = io.WriteString(in, "stty size; echo term=$TERM\n")
	require.NoError(t, err)
	read("40 120")
	read("term=vt100")
	require.NoError(t, session.WindowChange(50, 132))
	_, err = io.WriteString(in, "until [ \"$(stty size)\" = '50 132' ]; do sleep 0.01; done; echo it is $((6*7))\n") // the echo of this has no 42
	require.NoError(t, err)
	read("it is 42")
	_, err = io.WriteString(in, "exit 5\n")
	require.NoError(t, err)
	ended, is := errors.AsType[*ssh.ExitError](session.Wait())
	require.True(t, is)
	require.Equal(t, 5, ended.ExitStatus())
}

func TestSSH_FilesComeAndGo(t *testing.T) {
	t.Parallel()
	s, _, id, signer, _ := gate(t)
	client, err := loginTo(s, id, signer)
	require.NoError(t, err)
	defer func() { _ = client.Close() }()
	files, err := sftp.NewClient(client)
	require.NoError(t, err)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }

	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MB
	file, err := files.Create(at("a b"))
	require.NoError(t, err)
	_, err = file.ReadFrom(bytes.NewReader(long))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	got, err := os.ReadFile(at("a b"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(long, got), "%d bytes came", len(got))

	file, err = files.Open(at("a b"))
	require.NoError(t, err)
	got, err = io.ReadAll(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(long, got), "%d bytes went", len(got))
	piece := make([]byte, 16)
	_, err = file.ReadAt(piece, 1<<20+1)
	require.NoError(t, err)
	require.Equal(t, long[1<<20+1:1<<20+17], piece)
	require.NoError(t, file.Close())

	require.NoError(t, files.Mkdir(at("folder")))
	require.NoError(t, files.Symlink("a b", at("link")))
	require.NoError(t, files.Chmod(at("a b"), 0o751))
	require.NoError(t, files.Chtimes(at("a b"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	found := map[string]string{}
	all, err := files.ReadDir(dir)
	require.NoError(t, err)
	for _, one := range all {
		found[one.Name()] = one.Mode().String()
	}
	require.Equal(t, "-rwxr-x--x", found["a b"])
	require.Equal(t, "Lrwxrwxrwx", found["link"])
	require.Equal(t, byte('d'), found["folder"][0])
	info, err := files.Stat(at("link"))
	require.NoError(t, err)
	require.Equal(t, time.Unix(1e9, 0), info.ModTime())
	target, err := files.ReadLink(at("link"))
	require.NoError(t, err)
	require.Equal(t, "a b", target)

	require.NoError(t, files.Rename(at("a b"), at("c")))
	require.Error(t, files.Rename(at("c"), at("link")), "it is there")
	require.NoError(t, files.PosixRename(at("c"), at("link")))
	require.Error(t, files.Remove(at("c")))
	require.NoError(t, files.Remove(at("link")))
	require.NoError(t, files.RemoveDirectory(at("folder")))
	_, err = files.Stat(at("link"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = files.Open(at("none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = files.Create("/proc/none/x")
	require.Error(t, err)
}

func TestSSH_NobodyElseIsLetIn(t *testing.T) {
	t.Parallel()
	s, key, id, signer, _ := gate(t)
	other, otherLine, _ := sshKey(t)
	unknown, _, _ := sshKey(t)
	_, stranger, err := s.CreateKey(t.Context(), control.NewKey{UserID: "stranger", Name: "k", Scopes: []compute.Scope{compute.ScopeAll}})
	require.NoError(t, err)
	setKeys(t, s, stranger, otherLine)

	var words []string
	for _, try := range []struct {
		user   string
		signer ssh.Signer
	}{{id, unknown}, {id, other}, {"aaaaaaaaaaaaaa", signer}, {"root", signer}, {"", signer}, {id + "x", signer}, {"-" + id, signer}} {
		_, err := loginTo(s, try.user, try.signer)
		require.Error(t, err, try.user)
		words = append(words, err.Error())
	}
	for _, one := range words {
		require.Equal(t, words[0], one, "who tries learns nothing")
	}
	_, err = ssh.Dial("tcp", s.SSHAddress(), &ssh.ClientConfig{
		User: id, Auth: []ssh.AuthMethod{ssh.Password(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(),
	})
	require.Error(t, err, "an API key is no password")

	var many []ssh.Signer
	for range 8 {
		one, _, _ := sshKey(t)
		many = append(many, one)
	}
	_, err = loginTo(s, id, append(many, signer)...)
	require.Error(t, err, "there are too many tries")
	client, err := loginTo(s, id, append(many[:3], signer)...)
	require.NoError(t, err)
	require.NoError(t, client.Close())

	status, _ := call(t, "DELETE", s.URL()+"/v2/pods/"+id, key, "")
	require.Equal(t, 204, status)
	_, err = loginTo(s, id, signer)
	require.Error(t, err)
}

func TestSSH_ForwardsToThePodAlone(t *testing.T) {
	t.Parallel()
	s, _, id, signer, _ := gate(t)
	inPod := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in the pod") }))
	t.Cleanup(inPod.Close)
	port := inPod.Listener.Addr().(*net.TCPAddr).Port
	client, err := loginTo(s, id, signer)
	require.NoError(t, err)
	defer func() { _ = client.Close() }()

	through := &http.Client{Transport: &http.Transport{Dial: client.Dial, DisableKeepAlives: true}}
	for _, host := range []string{"localhost", "127.0.0.1"} {
		res, err := through.Get(fmt.Sprintf("http://%s:%d/", host, port))
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, "in the pod", string(text))
	}

	for _, address := range []string{
		"aaaaaaaaaaaaaa:80", "aaaaaaaaaaaaaa.pod.berth.internal:80", "metadata.google.internal:80", "[fd00:ec2::254]:80", "2852039166:80", "0xa9fea9fe:80",
		"2130706433:80", "LOCALHOST:80", "localhost%00:80", "localhost\x00.example:80", "localhost;id:80", "$(id):80", "-e:80", "/var/run/docker.sock:80",
		"[::1%lo]:80", "127.0.0.1\n:80", "169.254.169.254:80", "10.0.0.1:22", "0.0.0.0:80", "[::]:80", "127.0.0.2:80", "[::ffff:127.0.0.1]:80", "example.com:80", "host.docker.internal:80", "localhost:0", "localhost.:80", "127.1:80",
	} {
		_, err := client.Dial("tcp", address)
		opening, is := errors.AsType[*ssh.OpenChannelError](err)
		require.True(t, is, "%s: %v", address, err)
		require.Equal(t, ssh.Prohibited, opening.Reason, address)
	}
	_, err = client.Listen("tcp", "127.0.0.1:0")
	require.Error(t, err, "nothing leads to the client")
	for _, kind := range []string{"tcpip-forward", "streamlocal-forward@openssh.com", "no-such-thing"} {
		ok, _, err := client.SendRequest(kind, true, ssh.Marshal(struct {
			A string
			B uint32
		}{"/var/run/docker.sock", 0}))
		require.NoError(t, err)
		require.False(t, ok, kind)
	}
	for _, kind := range []string{"forwarded-tcpip", "forwarded-streamlocal@openssh.com", "tun@openssh.com", "x11", "auth-agent@openssh.com"} {
		_, _, err := client.OpenChannel(kind, nil)
		require.Error(t, err, kind)
	}
	_, _, err = client.OpenChannel("direct-streamlocal@openssh.com", ssh.Marshal(struct{ A, B, C string }{"/var/run/docker.sock", "", ""}))
	require.Error(t, err)
	session, err := client.NewSession()
	require.NoError(t, err)
	for _, refused := range []string{"auth-agent-req@openssh.com", "x11-req"} {
		ok, err := session.SendRequest(refused, true, nil)
		require.NoError(t, err)
		require.False(t, ok, refused)
	}
	require.Error(t, session.RequestSubsystem("netconf"))
}

func TestSSH_HostKeyStays(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), SSHListen: "127.0.0.1:0"}
	shown := func() (line string) {
		s := start(t, c)
		_, err := ssh.Dial("tcp", s.SSHAddress(), &ssh.ClientConfig{User: "x", HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			line = string(ssh.MarshalAuthorizedKey(key))
			return nil
		}})
		require.Error(t, err)
		require.NoError(t, s.Close())
		return line
	}
	first := shown()
	require.Contains(t, first, "ssh-ed25519 ")
	require.Equal(t, first, shown())
	c.Data = t.TempDir()
	require.NotEqual(t, first, shown())
}

func TestSSH_SystemsClientsWork(t *testing.T) {
	t.Parallel()
	needSSH(t)
	s, _, id, _, private := gate(t)
	systemClients(t, s, id, private, t.TempDir())
}

// needSSH skips the rest of a test where the system has no clients of OpenSSH.
func needSSH(t *testing.T) {
	t.Helper()
	for _, program := range []string{"ssh", "scp", "sftp"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("SKIPPED:", err)
		}
	}
}

// systemClients has the clients of OpenSSH do what people do with them. there is a folder of the pod.
func systemClients(t *testing.T, s *app.Server, id string, private []byte, there string) {
	t.Helper()
	u := sshUserOf(t, s, id, private)
	run, at, file := u.run, u.at, u.file
	require.Contains(t, run("", "ssh", at, "echo", "hello"), "hello\n")
	require.Equal(t, "handed\n", run("handed\n", "ssh", at, "cat"))
	require.Contains(t, run("", "ssh", "-tt", at, "test -t 0 && echo a terminal"), "a terminal")
	require.Contains(t, run("echo of a shell\n", "ssh", at), "of a shell\n")

	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<17) // 2 MB
	require.NoError(t, os.MkdirAll(file("tree/deep"), 0o755))
	require.NoError(t, os.WriteFile(file("tree/deep/long"), long, 0o640))
	require.NoError(t, os.WriteFile(file("tree/short"), []byte("short"), 0o755))
	run("", "scp", "-r", file("tree"), at+":"+there+"/")
	require.Equal(t, "short", run("", "ssh", at, "cat "+there+"/tree/short"))
	run("", "scp", "-r", at+":"+there+"/tree", file("back"))
	got, err := os.ReadFile(file("back/deep/long"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(long, got), "%d bytes came back", len(got))

	listed := run("cd "+there+"/tree\nls -l\nget short "+file("got")+"\nrename short shorter\nls\nquit\n", "sftp", "-b", "-", at)
	require.Contains(t, listed, "deep")
	require.Contains(t, listed, "shorter")
	got, err = os.ReadFile(file("got"))
	require.NoError(t, err)
	require.Equal(t, "short", string(got))
}
