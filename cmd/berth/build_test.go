package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// writeFiles makes a folder of files.
func writeFiles(t *testing.T, files map[string]string) (dir string) {
	dir = t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

func TestBuild_BuildsTheImageOfAnEndpoint(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	s.document("endpoints", "create", "--name", "words", "--image", "i", "--cpu", "cpu3g:2")
	dir := writeFiles(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY . /\n", "handler.py": "x"})

	printed := s.done("build", "words", dir)
	require.Contains(t, printed, "[system] build is BUILDING\nStep 1/2 : FROM scratch\nStep 2/2 : COPY . /\n")
	require.Contains(t, printed, "[system] build is COMPLETED\n")
	image := s.document("endpoints", "get", "words")["image"].(string)
	require.Contains(t, []any{"PENDING", "BUILDING"}, s.document("build", "words", dir, "--detach")["status"])
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.Contains(t, s.done("build", "words", link), "Step 2/2 : COPY . /\n")
	require.True(t, strings.HasSuffix(printed, "is COMPLETED: the endpoint's image is "+image+"\n"), printed)
}

func TestBuild_FailsWithItsBuild(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	s.document("endpoints", "create", "--name", "words", "--image", "i", "--cpu", "cpu3g:2")
	r := s.run("build", "words", writeFiles(t, map[string]string{"Dockerfile": "FROM scratch\nRUN exit 3\n"}))
	require.Equal(t, exitEnded, r.code)
	require.Contains(t, r.out, "Step 2/2 : RUN exit 3\n")
	require.Contains(t, r.err, "is FAILED: the command '/bin/sh -c exit 3' returned a non-zero code: 3")
	builds := s.document("endpoints", "builds", "words")["builds"].([]any)
	require.Len(t, builds, 1)
	require.Contains(t, s.done("endpoints", "builds", "words"), "FAILED")
	require.Contains(t, s.done("endpoints", "build-logs", "words", builds[0].(map[string]any)["id"].(string)), "[system] build is PENDING\n")
	require.Equal(t, exitUsage, s.run("build", "words", "nosuchfolder").code)
}

func TestBuild_IgnoresWhatDockerignoreNames(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{".dockerignore": "# big\nnode_modules\n**/*.pyc\n/data/*\n!data/kept\nDockerfile\n"})
	ignored, err := readIgnored(filepath.Join(dir, ".dockerignore"))
	require.NoError(t, err)
	for name, want := range map[string]bool{
		"node_modules": true, "node_modules/a/b": true, "a/node_modules": false, "a.pyc": true, "a/b/c.pyc": true, "data": false, "data/x": true,
		"data/x/y": true, "data/kept": false, "data/kept/z": false, "Dockerfile": false, "handler.py": false, ".dockerignore": false,
	} {
		require.Equal(t, want, ignored.match(name), name)
	}
}

// TestBuild_FileThatCannotBeReadIsNoFaultOfTheServer: here it is gone when its turn comes.
func TestBuild_FileThatCannotBeReadIsNoFaultOfTheServer(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"Dockerfile": "FROM scratch\n", "long": "", "next": "x"})
	require.NoError(t, os.Truncate(filepath.Join(dir, "long"), 64<<20)) // more than a connection holds, so that the client is here still
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1))
		_ = os.Remove(filepath.Join(dir, "next"))
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer s.Close()

	r := call(t.Context(), "", "build", "f08vqgrv1p2xkd", dir, "--server", s.URL)
	require.Equal(t, exitFailed, r.code, r.err)
	require.Equal(t, "berth: the folder cannot be packed: lstat "+filepath.Join(dir, "next")+": no such file or directory\n", r.err)
}

// TestBuild_BearsAnOutage: the build goes on meanwhile.
func TestBuild_BearsAnOutage(t *testing.T) {
	t.Parallel()
	const build = `{"id":"b","endpointId":"f08vqgrv1p2xkd","status":"%s","createdAt":"2026-01-31T12:00:00Z"}`
	for name, c := range map[string]struct {
		status, code int
	}{"one that passes": {http.StatusServiceUnavailable, 0}, "one that does not": {http.StatusForbidden, exitRefused}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch asked++; {
				case r.Method == http.MethodPost:
					fmt.Fprintf(w, build, "PENDING")
				case asked == 2:
					w.WriteHeader(c.status)
				default:
					fmt.Fprintf(w, build, "COMPLETED")
				}
			}))
			defer s.Close()
			r := call(t.Context(), "", "build", "f08vqgrv1p2xkd", writeFiles(t, map[string]string{"Dockerfile": "FROM scratch\n"}), "--server", s.URL, "--json")
			require.Equal(t, c.code, r.code, r.err)
			require.Equal(t, c.code != 0, strings.Contains(r.err, "\n  the build goes on: berth endpoints build-logs f08vqgrv1p2xkd b --follow"), r.err)
		})
	}
}

// TestHeaderOf_FilesOfWindowsCanBeRun: nothing there says which, and in an image or a pod they could not be otherwise.
func TestHeaderOf_FilesOfWindowsCanBeRun(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"run": "x"})
	require.NoError(t, os.Chmod(filepath.Join(dir, "run"), 0o666)) // as files are there
	require.NoError(t, os.Symlink(`bin\run`, filepath.Join(dir, "link")))

	for goos, want := range map[string]struct {
		mode int64
		link string
	}{"windows": {0o755, "bin/run"}, "linux": {0o666, `bin\run`}} {
		info, err := os.Lstat(filepath.Join(dir, "run"))
		require.NoError(t, err)
		header, err := headerOf(info, "", "a/run", goos)
		require.NoError(t, err)
		require.Equal(t, want.mode, header.Mode, goos)
		require.Equal(t, "a/run", header.Name)

		info, err = os.Lstat(filepath.Join(dir, "link"))
		require.NoError(t, err)
		header, err = headerOf(info, `bin\run`, "link", goos)
		require.NoError(t, err)
		require.Equal(t, want.link, header.Linkname, goos)
	}
}
