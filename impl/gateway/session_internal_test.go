//go:build unix

package gateway

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRelay_TakesWhatClosesOneDirectionBeforeWhatCannot: bash and nc are for images that have nothing better.
func TestRelay_TakesWhatClosesOneDirectionBeforeWhatCannot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"nc", "bash", "python3", "socat"} { // each is better than those before it
		says(t, dir, name, "echo "+name)
		require.Equal(t, name, relayed(t, dir, "127.0.0.1", 1))
	}
}

// says makes a program of a folder that does no more than a line of a shell.
func says(t *testing.T, dir, name, line string) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	syscall.ForkLock.RLock() // a process begun meanwhile would have the file open to write, and a file so open is not run
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!"+sh+"\n"+line+"\n"), 0o700))
}

// relayed gives what the relay to a port says, where the programs of a folder are all that there are.
func relayed(t *testing.T, dir, host string, port int) string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), sh, "-c", relay, "sh", host, strconv.Itoa(port))
	cmd.Env = []string{"PATH=" + dir}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

// TestRelay_GivesAddressesAsEachProgramTakesThem: socat has the colons of one in brackets, and nobody else does.
func TestRelay_GivesAddressesAsEachProgramTakesThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	says(t, dir, "nc", `echo "$*"`)
	require.Equal(t, "::1 8888", relayed(t, dir, "::1", 8888))
	require.Equal(t, "127.0.0.1 8888", relayed(t, dir, "localhost", 8888), "and nothing says who listens")
	says(t, dir, "socat", `echo "$*"`)
	require.Equal(t, "-t 600 - TCP:[::1]:8888", relayed(t, dir, "::1", 8888))
	require.Equal(t, "-t 600 - TCP:127.0.0.1:8888", relayed(t, dir, "127.0.0.1", 8888))
}

// TestRelay_LocalhostIsWhereAServerListens: some listen on ::1 alone.
func TestRelay_LocalhostIsWhereAServerListens(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/net/tcp6"); err != nil {
		t.Skip("SKIPPED:", err)
	}
	grep, err := exec.LookPath("grep")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(grep, filepath.Join(dir, "grep")))
	says(t, dir, "nc", `echo "$1"`)

	listen := func(host string, port int) (net.Listener, error) {
		return (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	}
	own, err := listen("127.0.0.1", 0) // the port is nobody else's
	require.NoError(t, err)
	port := own.Addr().(*net.TCPAddr).Port
	six, err := listen("::1", port)
	_ = own.Close()
	if err != nil {
		t.Skip("SKIPPED:", err)
	}
	defer func() { _ = six.Close() }()
	require.Equal(t, "::1", relayed(t, dir, "localhost", port))
	require.Equal(t, "127.0.0.1", relayed(t, dir, "127.0.0.1", port), "who names an address means it")

	four, err := listen("127.0.0.1", port)
	if err != nil {
		t.Skip("SKIPPED: the port is another one's: ", err)
	}
	defer func() { _ = four.Close() }()
	require.Equal(t, "127.0.0.1", relayed(t, dir, "localhost", port))
}

// TestRelay_AnswersMayComeAfterTheEndOfWhatWasSent: the Python closes one direction alone.
func TestRelay_AnswersMayComeAfterTheEndOfWhatWasSent(t *testing.T) {
	t.Parallel()
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable, end='')").Output() // the command may be a script
	if err != nil {
		t.Skip("SKIPPED: there is no python3")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		got, _ := io.ReadAll(conn) // to the end of what is sent
		_, _ = conn.Write(append([]byte("got "), got...))
	}()
	defer func() { _ = l.Close() }()

	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	dir, sent := t.TempDir(), strings.Repeat("0123456789", 100_000)
	require.NoError(t, os.Symlink(string(python), filepath.Join(dir, "python3")))
	cmd := exec.CommandContext(t.Context(), sh, "-c", relay, "sh", "127.0.0.1", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	cmd.Env, cmd.Stdin = []string{"PATH=" + dir}, strings.NewReader(sent)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "got "+sent, string(out))
}
