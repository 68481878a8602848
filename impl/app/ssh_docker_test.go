package app_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// TestSSH_IntoAContainer logs in to a container whose image has no server of SSH or of files.
func TestSSH_IntoAContainer(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	image := dockertest.Tools(t, "sh", "bash", "cat", "ls", "mkdir", "rmdir", "rm", "mv", "ln", "stat", "find", "tail", "chmod", "touch", "env", "readlink", "truncate", "tar", "dirname",
		"sleep", "stty", "grep", "pwd", "test", "echo")

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
	signer, line, private := sshKey(t)
	setKeys(t, s, key, line)

	code, text := inPod(t, s, key, id, runtime.Exec{Command: []string{"sh", "-c", "echo in $RUNPOD_POD_ID; exit 7"}})
	require.Equal(t, 7, code)
	require.Equal(t, "in "+id+"\n", text)
	code, text = inPod(t, s, key, id, runtime.Exec{Command: []string{"sh", "-c", `until [ "$(stty size)" = "33 101" ]; do sleep 0.01; done; stty size`}, TTY: &runtime.TTY{Size: runtime.Size{Width: 101, Height: 33}}})
	require.Zero(t, code)
	require.Equal(t, "33 101\r\n", text)

	client, err := loginTo(s, id, signer)
	require.NoError(t, err)
	files, err := sftp.NewClient(client)
	require.NoError(t, err)
	_, err = files.Stat("/usr/lib/openssh/sftp-server")
	require.Error(t, err, "berth is the server")
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	file, err := files.Create("/data/long")
	require.NoError(t, err)
	_, err = file.ReadFrom(bytes.NewReader(long))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	file, err = files.Open("/data/long")
	require.NoError(t, err)
	got, err := io.ReadAll(file)
	require.NoError(t, err)
	require.True(t, bytes.Equal(long, got), "%d bytes", len(got))
	require.NoError(t, file.Close())

	inside, err := client.Dial("tcp", "localhost:9") // nothing listens in the pod
	require.NoError(t, err)
	n, err := inside.Read(make([]byte, 1))
	require.Zero(t, n)
	require.Error(t, err)
	require.NoError(t, client.Close())

	needSSH(t)
	systemClients(t, s, id, private, "/data")
}
