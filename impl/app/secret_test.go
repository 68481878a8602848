package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestSecretKey_EncryptsRegistryCredentials(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir()}
	s := start(t, c)
	status, made := call(t, "POST", s.URL()+"/v2/registries", s.FirstKey(), `{"name":"n","username":"special-user","password":"special-password"}`)
	require.Equal(t, 201, status)
	require.NoError(t, s.Close())

	files, err := filepath.Glob(filepath.Join(c.Data, "*"))
	require.NoError(t, err)
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil { // a directory is no file
			require.False(t, bytes.Contains(text, []byte("special-user")), name)
			require.False(t, bytes.Contains(text, []byte("special-password")), name)
		}
	}

	key := filepath.Join(c.Data, "secret.key")
	info, err := os.Stat(key)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
	first, err := os.ReadFile(key)
	require.NoError(t, err)

	again := start(t, c)
	status, _ = call(t, "GET", again.URL()+"/v2/registries/"+made["id"].(string), s.FirstKey(), "")
	require.Equal(t, 200, status)
	require.NoError(t, again.Close())

	second, err := os.ReadFile(key)
	require.NoError(t, err)
	require.Equal(t, first, second)
}

func TestSecretKey_MustOpenWhatIsStored(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0"}
	s := start(t, c)
	status, _ := call(t, "POST", s.URL()+"/v2/registries", s.FirstKey(), `{"name":"n","username":"u","password":"p"}`)
	require.Equal(t, 201, status)
	require.NoError(t, s.Close())

	key := filepath.Join(c.Data, "secret.key")
	for _, wrong := range []string{"short", "another key of thirty-two bytes."} {
		require.NoError(t, os.WriteFile(key, []byte(wrong), 0o600))
		_, err := app.Start(t.Context(), c)
		require.ErrorContains(t, err, "key")
	}
	require.NoError(t, os.Remove(key))

	_, err := app.Start(t.Context(), c)
	require.ErrorContains(t, err, "secret key")
}

func TestStart_FailureCostsNoFirstKey(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0"}
	for name, broken := range map[string]app.Config{
		"its fleet":   {Fleet: "no such file"},
		"its runtime": {Runtime: "nosuch"},
		"its rates":   {QueueRates: "nosuch"},
	} {
		broken.Data, broken.Listen = c.Data, c.Listen
		_, err := app.Start(t.Context(), broken)
		require.Error(t, err, name)
	}

	s := start(t, c)
	require.NotEmpty(t, s.FirstKey(), "nobody has seen it")
	require.NoError(t, s.Close())
}

func TestSecretKey_OutsideTheDirectoryIsNeverMade(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	c := app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", SecretKey: key}
	_, err := app.Start(t.Context(), c)
	require.ErrorContains(t, err, key, "it is missing")
	require.NoFileExists(t, key)

	require.NoError(t, os.WriteFile(key, []byte("thirty-two bytes of a secret key"), 0o600))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(key, 0o644))
		_, err = app.Start(t.Context(), c)
		require.ErrorContains(t, err, "chmod 600")
		require.NoError(t, os.Chmod(key, 0o440))
	}
	s := start(t, c)
	require.NoFileExists(t, filepath.Join(c.Data, "secret.key"))
	require.NoError(t, s.Close())
}

func TestSecretKey_EncryptsTheStorageOfJobs(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "one"}}}
	s := start(t, c)
	key, base := s.FirstKey(), "/v2/"+string(s.Endpoints()["one"])
	const job = `{"input":{},"s3Config":{"accessId":"special-id","accessSecret":"special-secret","bucketName":"b","endpointUrl":"https://s3.example.com"}}`
	submit := func() string {
		status, made := call(t, "POST", s.QueueURL()+base+"/run", key, job)
		require.Equal(t, 200, status)
		return made["id"].(string)
	}
	take := func() map[string]any {
		status, taken := call(t, "GET", s.QueueURL()+base+"/job-take/w?job_in_progress=1", key, "")
		require.Contains(t, []int{200, 204}, status)
		return taken
	}

	first, second := submit(), submit()
	require.NoError(t, s.Close())
	for _, name := range []string{"berth.db", "berth.db-wal"} {
		text, err := os.ReadFile(filepath.Join(c.Data, name))
		if name == "berth.db" {
			require.NoError(t, err)
		}
		require.False(t, bytes.Contains(text, []byte("special-")), name)
	}

	s = start(t, c)
	taken := take()
	require.Equal(t, first, taken["id"])
	require.Equal(t, "special-secret", taken["s3Config"].(map[string]any)["accessSecret"])
	require.NoError(t, s.Close())

	require.NoError(t, os.WriteFile(filepath.Join(c.Data, "secret.key"), []byte("another key of thirty-two bytes."), 0o600))
	s = start(t, c)
	require.Empty(t, take())
	_, ended := call(t, "GET", s.QueueURL()+base+"/status/"+second, key, "")
	require.Equal(t, "FAILED", ended["status"])
	require.Contains(t, ended["error"], "s3Config cannot be decrypted")
	require.NoError(t, s.Close())
}
