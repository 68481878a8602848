package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/nullable"
	"github.com/berthdev/berth/impl/setting"
)

// processPod makes a pod that is a process of this machine, and gives its id.
func (s *served) processPod() string {
	s.Helper()
	return s.document("pods", "create", "--name", "a", "--image", "stays", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
}

// exec runs a command line with the connection of the server, which cannot come after --.
func (s *served) exec(stdin string, args ...string) ran {
	return call(s.Context(), stdin, slices.Concat(args[:2], s.flags, args[2:])...)
}

func TestExec_RunsCommandsInPodsAndWorkers(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Runtime: "process", RuntimeSettings: setting.Values{"process-accept": {"commands"}}, Endpoints: []app.Endpoint{{Name: "stays", Command: []string{"sleep", "1000"}, WorkersMin: 1, WorkersMax: 1}}})
	id := s.processPod()
	r := s.exec("", "pods", "exec", id, "--", "sh", "-c", "echo one; echo two >&2; exit 7")
	require.Equal(t, ran{code: 7, out: "one\n", err: "two\n"}, r)
	require.Equal(t, ran{out: "handed\n"}, s.exec("handed\n", "pods", "exec", "-i", id, "--", "cat"))
	require.Equal(t, ran{}, s.exec("handed\n", "pods", "exec", id, "--", "cat"), "without -i there is no input")
	require.Equal(t, ran{code: 3, out: "of a shell\n"}, s.exec("echo of a shell; exit 3", "pods", "exec", id))

	r = s.exec("", "pods", "exec", "-t", id, "--", "true")
	require.Equal(t, ran{code: exitUsage, err: "berth: the standard input is no terminal\nhint: leave out -t, or call berth from a terminal\n"}, r)
	s.refuses(exitRefused, "berth: 404 Not Found: pod \"aaaaaaaaaaaaaa\" does not exist\nhint: berth pods list shows those that there are\n", "pods", "exec", "aaaaaaaaaaaaaa")
	r = s.exec("", "endpoints", "exec", "stays", "--", "sh", "-c", "echo $RUNPOD_ENDPOINT_ID")
	require.Equal(t, ran{out: string(s.server.Endpoints()["stays"]) + "\n"}, r)

	s.document("pods", "stop", id, "--wait")
	s.refuses(exitRefused, "berth: 409 Conflict: the pod is EXITED: commands run in it once it is RUNNING\n", "pods", "exec", id)
}

func TestExec_WithoutANameIsInTheNewestWorkerThatIsUp(t *testing.T) {
	t.Parallel()
	none, at := nullable.NewNullNullable[time.Time](), nullable.NewNullableWithValue(time.Now())
	begins := rest.Worker{ID: "begins", Status: rest.WorkerStatusINITIALIZING, StartedAt: none}
	full := rest.Worker{ID: "full", Status: rest.WorkerStatusTHROTTLED, StartedAt: none}
	failing := rest.Worker{ID: "failing", Status: rest.WorkerStatusUNHEALTHY, StartedAt: at}
	idle := rest.Worker{ID: "idle", Status: rest.WorkerStatusIDLE, StartedAt: at}
	for want, workers := range map[string][]rest.Worker{
		"idle": {begins, full, idle, failing}, "failing": {full, failing, idle}, "begins": {begins, full},
	} {
		require.Equal(t, want, newestUp(workers))
	}
}

func TestCopy_BringsFilesAndFoldersBothWays(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Runtime: "process", RuntimeSettings: setting.Values{"process-accept": {"commands"}}, Endpoints: []app.Endpoint{{Name: "stays", Command: []string{"sleep", "1000"}}}})
	id := s.processPod()
	here, there := t.TempDir(), t.TempDir() // the pod has the files of this machine
	write := func(path, text string, mode os.FileMode) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		require.NoError(t, os.Chmod(path, mode))
	}
	has := func(path, text string, mode os.FileMode) {
		t.Helper()
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
	}
	copied := func(from, to string) {
		t.Helper()
		require.Equal(t, ran{}, s.run("pods", "cp", from, to))
	}
	write(here+"/tree/a b.txt", "one", 0o640)
	write(here+"/tree/deep/run", "two", 0o755)
	require.NoError(t, os.Symlink("deep/run", here+"/tree/link"))

	copied(here+"/tree/a b.txt", id+":"+there)
	has(there+"/a b.txt", "one", 0o640)
	copied(here+"/tree/a b.txt", id+":"+there+"/new/folder/name")
	has(there+"/new/folder/name", "one", 0o640)
	copied(here+"/tree", id+":"+there)
	has(there+"/tree/deep/run", "two", 0o755)
	copied(here+"/tree", id+":"+there+"/other")
	has(there+"/other/link", "two", 0o755)

	copied(id+":"+there+"/tree", here+"/back")
	has(here+"/back/deep/run", "two", 0o755)
	link, err := os.Readlink(here + "/back/link")
	require.NoError(t, err)
	require.Equal(t, "deep/run", link)
	copied(id+":"+there+"/a b.txt", here)
	has(here+"/a b.txt", "one", 0o640)
	copied(id+":"+there+"/tree/", here+"/a b.folder")
	has(here+"/a b.folder/a b.txt", "one", 0o640)
	copied(here+"/tree", id+":"+there+"/slash/")
	has(there+"/slash/deep/run", "two", 0o755)
	copied(id+":"+there+"/tree", here+"/slash/")
	has(here+"/slash/deep/run", "two", 0o755)

	require.NotZero(t, s.run("pods", "cp", id+":"+there+"/none", here).code)
	s.refuses(exitUsage, "berth: one of the two is POD:PATH, and the other a path here\nhint: see berth pods cp --help\n", "pods", "cp", "a", "b")
}

// TestCopy_LinkThatIsNamedIsWhatItLeadsTo: both ways, to a file and to a folder, whose own links stay links.
func TestCopy_LinkThatIsNamedIsWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Runtime: "process", RuntimeSettings: setting.Values{"process-accept": {"commands"}}, Endpoints: []app.Endpoint{{Name: "stays", Command: []string{"sleep", "1000"}}}})
	id, at := s.processPod(), t.TempDir() // the pod has the files of this machine
	require.NoError(t, os.MkdirAll(at+"/folder/tree", 0o750))
	require.NoError(t, os.WriteFile(at+"/folder/file", []byte("text"), 0o600))
	require.NoError(t, os.WriteFile(at+"/folder/to-folder", []byte("has the name of the link"), 0o600))
	for name, to := range map[string]string{"to-folder": "folder", "to-file": "folder/file", "folder/within": "file", "nowhere": "none"} {
		require.NoError(t, os.Symlink(to, at+"/"+name))
	}

	for to, way := range map[string][2]string{"/in": {"", id + ":"}, "/out": {id + ":", ""}} {
		there := at + to
		copied := func(from, to string) {
			t.Helper()
			require.Equal(t, ran{}, s.run("pods", "cp", way[0]+from, way[1]+to))
		}
		copied(at+"/to-file", there+"-file")
		info, err := os.Lstat(there + "-file")
		require.NoError(t, err)
		require.True(t, info.Mode().IsRegular(), info.Mode())

		require.NoError(t, os.Mkdir(there+"-all", 0o700))
		copied(at+"/to-folder", there)
		copied(at+"/to-folder", there+"-all")
		for _, folder := range []string{there, there + "-all/to-folder"} {
			text, err := os.ReadFile(folder + "/file")
			require.NoError(t, err)
			require.Equal(t, "text", string(text))
			info, err = os.Stat(folder + "/tree")
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
			within, err := os.Readlink(folder + "/within")
			require.NoError(t, err)
			require.Equal(t, "file", within)
		}
		require.NotZero(t, s.run("pods", "cp", way[0]+at+"/nowhere", way[1]+there+"-nowhere").code)
	}

	copiedDot := s.run("pods", "cp", id+":"+at+"/folder/.", at+"/dot")
	require.Equal(t, ran{}, copiedDot)
	require.FileExists(t, at+"/dot/file")
}

// TestCopy_WhatCannotBeCopiedFails: and does not wait for what never comes.
func TestCopy_WhatCannotBeCopiedFails(t *testing.T) {
	s := serving(t, app.Config{Runtime: "process", RuntimeSettings: setting.Values{"process-accept": {"commands"}}, Endpoints: []app.Endpoint{{Name: "stays", Command: []string{"sleep", "1000"}}}})
	id, at := s.processPod(), t.TempDir()
	require.NoError(t, os.Mkdir(at+"/tree", 0o700))
	require.NoError(t, os.Mkdir(at+"/copy", 0o700))
	require.NoError(t, os.WriteFile(at+"/tree/a", []byte("text"), 0o600))
	t.Chdir(at) // the address of a socket is short
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "tree/socket")
	require.NoError(t, err)
	defer func() { _ = socket.Close() }()

	for _, from := range []string{"/tree", "/tree/socket"} {
		r := s.run("pods", "cp", at+from, id+":"+at+"/copy")
		require.Equal(t, exitFailed, r.code, from)
		require.Contains(t, r.err, "berth: "+at+"/tree/socket is neither a file nor a folder nor a link\n")
	}
	r := s.run("pods", "cp", id+":"+at+"/tree/socket", at+"/copy")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "berth: "+at+"/tree/socket is neither a file nor a folder\n")

	r = s.run("pods", "cp", id+":"+at+"/missing", at+"/copy")
	require.Equal(t, exitFailed, r.code, "whatever the code of tar is")
	require.Regexp(t, `berth: the copy failed in the pod, with exit code \d+\n$`, r.err)

	require.NoError(t, os.WriteFile(at+"/tree/a", bytes.Repeat([]byte("long"), 1<<20), 0o600))
	require.NoError(t, os.Mkdir(at+"/other", 0o700)) // in the first one something may be already
	require.NoError(t, os.Symlink("elsewhere", at+"/other/tree"))
	r = s.run("pods", "cp", id+":"+at+"/tree", at+"/other") // there is no such folder behind the link
	require.Equal(t, exitFailed, r.code)
}

// archiveOf gives an archive of nothing but headers.
func archiveOf(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	text := &bytes.Buffer{}
	archive := tar.NewWriter(text)
	for _, one := range headers {
		require.NoError(t, archive.WriteHeader(&one))
	}
	require.NoError(t, archive.Close())
	return text
}

// TestCopy_NothingElseIsWritten: whatever the archive of a pod has, beside what was to be copied, or above it.
func TestCopy_NothingElseIsWritten(t *testing.T) {
	t.Parallel()
	folder, file, link := byte(tar.TypeDir), byte(tar.TypeReg), byte(tar.TypeSymlink)
	for name, c := range map[string]struct {
		first   string
		headers []tar.Header
		asked   bool // whether the error is that of another name
	}{
		"up":                       {"x", []tar.Header{{Name: "x/../../up", Typeflag: file}}, true},
		"absolute":                 {"x", []tar.Header{{Name: "/tmp/berth-copy-test", Typeflag: file}}, true},
		"beside":                   {"x", []tar.Header{{Name: "x", Typeflag: file}, {Name: ".bashrc", Typeflag: file}}, true},
		"below a file":             {"x", []tar.Header{{Name: "x/.bashrc", Typeflag: file}}, true},
		"a folder in its place":    {"x", []tar.Header{{Name: "x/", Typeflag: folder}}, true},
		"through a link":           {"x", []tar.Header{{Name: "x", Linkname: ".bashrc", Typeflag: link}, {Name: "x", Typeflag: file}}, true},
		"a device":                 {"x", []tar.Header{{Name: "x", Typeflag: tar.TypeChar}}, false},
		"a name of a file":         {"x", []tar.Header{{Name: "x", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}}, false},
		"up from a folder":         {".", []tar.Header{{Name: "./", Typeflag: folder}, {Name: "../.bashrc", Typeflag: file}}, true},
		"absolute, of a folder":    {".", []tar.Header{{Name: "./", Typeflag: folder}, {Name: "/tmp/berth-copy-test", Typeflag: file}}, true},
		"through a link of it":     {".", []tar.Header{{Name: "./", Typeflag: folder}, {Name: "./up", Linkname: "..", Typeflag: link}, {Name: "./up/.bashrc", Typeflag: file}}, false},
		"through a link to a file": {".", []tar.Header{{Name: "./up", Linkname: "../.bashrc", Typeflag: link}, {Name: "./up", Typeflag: file}}, false},
		"a link in its place":      {".", []tar.Header{{Name: ".", Linkname: "..", Typeflag: link}, {Name: "./.bashrc", Typeflag: tar.TypeChar}}, false},
	} {
		above := t.TempDir()
		require.NoError(t, os.Mkdir(above+"/folder", 0o700))
		root, err := os.OpenRoot(above + "/folder")
		require.NoError(t, err)
		err = readArchive(archiveOf(t, c.headers...), root, c.first, "copy")
		require.NoError(t, root.Close())
		require.Error(t, err, name)
		if c.asked {
			require.Regexp(t, `^\S+ is not what was to be copied$`, err.Error(), name)
		}

		for _, dir := range []string{above, above + "/folder"} {
			all, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, one := range all {
				require.Contains(t, []string{"folder", "copy"}, one.Name(), name)
			}
		}
	}
}

func TestCopy_FolderHasItsModeAndItsLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	text := archiveOf(t, tar.Header{Name: "./", Mode: 0o750, Typeflag: tar.TypeDir}, tar.Header{Name: "./up", Linkname: "../elsewhere", Typeflag: tar.TypeSymlink})
	require.NoError(t, readArchive(text, root, ".", "copy"))

	info, err := os.Stat(dir + "/copy")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
	link, err := os.Readlink(dir + "/copy/up")
	require.NoError(t, err)
	require.Equal(t, "../elsewhere", link, "it is copied, and not followed")
}

// fileOf gives an archive of one file, called tool.
func fileOf(t *testing.T, text string, mode int64) *bytes.Buffer {
	t.Helper()
	packed := &bytes.Buffer{}
	archive := tar.NewWriter(packed)
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: "tool", Mode: mode, Size: int64(len(text)), Typeflag: tar.TypeReg}))
	_, err := archive.Write([]byte(text))
	require.NoError(t, errors.Join(err, archive.Close()))
	return packed
}

// TestCopy_FileHasItsMode: also over a file that is there with another one, and over one that must not be written to.
func TestCopy_FileHasItsMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	require.NoError(t, os.WriteFile(dir+"/copy", []byte("what is there is longer"), 0o600))

	for i, mode := range []os.FileMode{0o775, 0o444, 0o444, 0o666, 0o600} {
		text := fmt.Sprint("copy ", i)
		require.NoError(t, readArchive(fileOf(t, text, int64(mode)), root, "tool", "copy"))
		info, err := os.Stat(dir + "/copy")
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm())
		found, err := os.ReadFile(dir + "/copy")
		require.NoError(t, err)
		require.Equal(t, text, string(found))
	}

	require.NoError(t, os.Symlink("copy", dir+"/link"))
	require.NoError(t, readArchive(fileOf(t, "through", 0o640), root, "tool", "link"))
	info, err := os.Stat(dir + "/copy")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "what the link leads to")
}

// TestCopy_WhatIsNoFileKeepsItsMode: /dev/null is everybody's, here a pipe.
func TestCopy_WhatIsNoFileKeepsItsMode(t *testing.T) {
	t.Parallel()
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = errors.Join(from.Close(), to.Close()) }()
	before, err := to.Stat()
	require.NoError(t, err)
	require.NoError(t, setMode(to, before.Mode().Perm()^0o022))
	after, err := to.Stat()
	require.NoError(t, err)
	require.Equal(t, before.Mode(), after.Mode())
}
