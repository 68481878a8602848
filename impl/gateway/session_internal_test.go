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
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRelay_TakesWhatClosesOneDirectionBeforeWhatCannot: bash and nc are for images that have nothing better.
func TestRelay_TakesWhatClosesOneDirectionBeforeWhatCannot(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	dir := t.TempDir()
	for _, name := range []string{"nc", "bash", "python3", "socat"} { // each is better than those before it
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!"+sh+"\necho "+name+"\n"), 0o700))
		cmd := exec.CommandContext(t.Context(), sh, "-c", relay, "sh", "127.0.0.1", "1")
		cmd.Env = []string{"PATH=" + dir}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, name+"\n", string(out))
	}
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
