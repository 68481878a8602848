//go:build unix

package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/process"
	"github.com/berthdev/berth/impl/shell"
)

// onePod is the only pod that there is.
type onePod struct{}

func (onePod) GetPod(context.Context, compute.UserID, compute.PodID) (compute.Pod, error) {
	return compute.Pod{ID: "a", Status: compute.PodRunning}, nil
}

// filesOfPod gives a client for the files of a pod whose image has no server for them.
func filesOfPod(t *testing.T) *sftp.Client {
	t.Helper()
	client, err := sftp.NewClientPipe(channelOfPod(t, nil))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// channelOfPod is what such a client speaks over. opened is told of each session; it may be nil.
func channelOfPod(t *testing.T, opened func()) (io.Reader, io.WriteCloser) {
	t.Helper()
	pods, err := process.New(process.Config{Dir: t.TempDir(), Commands: map[string][]string{"i": {"sleep", "1000"}}, Rules: compute.ProcessRules{Commands: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pods.Close()) })
	require.NoError(t, pods.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i"}))
	log := slog.New(slog.DiscardHandler)
	shells := shell.Config{Pods: onePod{}, OfPods: pods, Ending: context.Background(), Clock: compute.SystemClock{}, Log: log}
	if opened != nil {
		shells.Opened = func(context.Context, string, string, shell.By) { opened() }
	}
	g := &Gateway{Config: Config{Log: log, Shells: shell.New(shells)}}
	f := &files{session: &session{connection: &connection{Gateway: g, pod: "a"}}, ctx: context.WithoutCancel(t.Context())}

	ours, theirs := net.Pipe()
	served := make(chan int, 1)
	channel := &closing{Conn: theirs}
	go func() { served <- f.serve(channel, "/tmp") }()
	t.Cleanup(func() {
		_ = ours.Close()
		require.Zero(t, <-served)
		require.False(t, channel.closed.Load(), "the exit code could not be sent")
	})
	return ours, ours
}

// closing notes whether it was closed.
type closing struct {
	net.Conn
	closed atomic.Bool
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

func TestFiles_ComeAndGoWithoutAServerInTheImage(t *testing.T) {
	t.Parallel()
	files, dir := filesOfPod(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	real, err := files.RealPath(".")
	require.NoError(t, err)
	require.Equal(t, "/tmp", real)

	long := bytes.Repeat([]byte("0123456789abcdef"), 5<<16) // 5 MB: more than is on its way at a time
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
	for _, from := range []int64{1<<20 + 1, 7, int64(len(long)) - 16} {
		_, err = file.ReadAt(piece, from)
		require.NoError(t, err)
		require.Equal(t, long[from:from+16], piece)
	}
	n, err := file.ReadAt(piece, int64(len(long))-5)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 5, n)
	require.NoError(t, file.Close())

	file, err = files.OpenFile(at("a b"), os.O_WRONLY|os.O_APPEND)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("more"), int64(len(long)))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	got, err = os.ReadFile(at("a b"))
	require.NoError(t, err)
	require.Equal(t, "more", string(got[len(long):]))

	for _, from := range []int64{0, 0, int64(len(long)) + 4, 100} { // whatever the client calls the place
		file, err = files.OpenFile(at("a b"), os.O_WRONLY|os.O_APPEND)
		require.NoError(t, err)
		for range 2 {
			_, err = file.WriteAt([]byte("more"), from)
			require.NoError(t, err)
		}
		require.NoError(t, file.Close())
	}
	got, err = os.ReadFile(at("a b"))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("more", 9), string(got[len(long):]))

	file, err = files.OpenFile(at("a b"), os.O_WRONLY|os.O_CREATE) // as scp does
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("anew"), 0)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(4))
	require.NoError(t, file.Close())
	got, err = os.ReadFile(at("a b"))
	require.NoError(t, err)
	require.Equal(t, "anew", string(got))

	file, err = files.Create(at("holes"))
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("x"), 100)
	require.NoError(t, err, "what comes before may come later")
	require.Error(t, file.Close(), "it did not")
}

func TestFiles_SoManyMayBeOpen(t *testing.T) {
	t.Parallel()
	files, dir := filesOfPod(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("short"), 0o600))
	var all []*sftp.File
	for i := range mostFilesOfUser {
		name, flags := "a", os.O_RDONLY
		if i%2 == 1 {
			name, flags = strconv.Itoa(i), os.O_WRONLY|os.O_CREATE
		}
		file, err := files.OpenFile(filepath.Join(dir, name), flags)
		require.NoError(t, err)
		all = append(all, file)
	}

	for _, flags := range []int{os.O_RDONLY, os.O_WRONLY} {
		_, err := files.OpenFile(filepath.Join(dir, "a"), flags)
		require.ErrorContains(t, err, errFiles.Error())
	}
	_, err := files.ReadDir(dir)
	require.ErrorContains(t, err, errFiles.Error(), "a folder is one, too")
	for i, flags := range []int{os.O_RDONLY, os.O_WRONLY} {
		require.NoError(t, all[i].Close())
		file, err := files.OpenFile(filepath.Join(dir, "a"), flags)
		require.NoError(t, err, "one was closed")
		all[i] = file
	}
	for _, file := range all {
		require.NoError(t, file.Close())
	}
	for range mostFilesOfUser + 1 { // each is closed again
		_, err := files.ReadDir(dir)
		require.NoError(t, err)
		_, err = files.ReadDir(filepath.Join(dir, "none"))
		require.Error(t, err)
	}
}

func TestFolder_IsGivenPieceByPiece(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 250 {
		fmt.Fprintf(&text, "81ed 12 1 2 1000000000 ./%d\nof two lines\n", i)
	}
	f := &folder{text: text.String()}
	names := func(from int64, most int) (names []string, err error) {
		piece := make([]fs.FileInfo, most)
		n, err := f.ListAt(piece, from)
		for _, one := range piece[:n] {
			names = append(names, one.Name())
		}
		return names, err
	}

	for _, from := range []int64{0, 100, 0} { // one piece, the next, and the first again
		got, err := names(from, 100)
		require.NoError(t, err)
		require.Len(t, got, 100)
		require.Equal(t, strconv.FormatInt(from, 10), got[0])
	}
	got, err := names(248, 100)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, []string{"248", "249"}, got)
	got, err = names(250, 100)
	require.ErrorIs(t, err, io.EOF)
	require.Empty(t, got)
}

func TestFiles_OfAllUsersAreBounded(t *testing.T) {
	t.Parallel()
	g := &Gateway{}
	for i := range mostFiles {
		require.True(t, g.opens(compute.UserID(strconv.Itoa(i/mostFilesOfUser))))
	}
	require.False(t, g.opens("another"))
	g.closes("0")
	require.True(t, g.opens("another"))
	require.False(t, g.opens("0"))
	for i := range mostFiles - 1 {
		g.closes(compute.UserID(strconv.Itoa((i + 1) / mostFilesOfUser)))
	}
	g.closes("another")
	require.True(t, g.files.Enter("anybody", 1, 1), "all are closed")
}

func TestFiles_ChangeAsAskedForWithoutAServerInTheImage(t *testing.T) {
	t.Parallel()
	files, dir := filesOfPod(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("a b"), []byte("short"), 0o600))
	require.NoError(t, files.Mkdir(at("-folder")))
	require.NoError(t, files.Symlink("a b", at("link")))
	require.NoError(t, files.Link(at("a b"), at("second")))
	require.NoError(t, files.Chmod(at("a b"), 0o751))
	require.NoError(t, files.Chtimes(at("a b"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	require.NoError(t, files.Truncate(at("a b"), 3))

	found := map[string]string{}
	all, err := files.ReadDir(dir)
	require.NoError(t, err)
	for _, one := range all {
		found[one.Name()] = one.Mode().String()
	}
	require.Equal(t, map[string]string{"a b": "-rwxr-x--x", "second": "-rwxr-x--x", "link": "Lrwxrwxrwx", "-folder": "drwxr-xr-x"}, found)
	info, err := files.Stat(at("link"))
	require.NoError(t, err)
	require.EqualValues(t, 3, info.Size())
	info, err = files.Lstat(at("link"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	target, err := files.ReadLink(at("link"))
	require.NoError(t, err)
	require.Equal(t, "a b", target)

	require.NoError(t, files.Rename(at("a b"), at("c")))
	require.Error(t, files.Rename(at("c"), at("link")), "it is there")
	require.NoError(t, files.PosixRename(at("c"), at("link")))
	require.Error(t, files.Remove(at("c")))
	require.NoError(t, files.Remove(at("link")))
	require.NoError(t, files.RemoveDirectory(at("-folder")))

	for _, name := range []string{at("none"), at("none/below"), "/proc/1/none"} {
		_, err = files.Stat(name)
		require.ErrorIs(t, err, os.ErrNotExist, name)
		_, err = files.Open(name)
		require.ErrorIs(t, err, os.ErrNotExist, name)
	}
	_, err = files.Create(at("none/below"))
	require.Error(t, err)
	_, err = files.Create(dir)
	require.Error(t, err, "it is a folder")
	_, err = files.ReadDir(at("second"))
	require.Error(t, err, "it is a file")
}

// TestFiles_NamesOfTwoLinesAreNotShown: nor is what their second line says.
func TestFiles_NamesOfTwoLinesAreNotShown(t *testing.T) {
	t.Parallel()
	files, dir := filesOfPod(t), t.TempDir()
	for _, name := range []string{"one", "b\\nc", "\xff", "two\n81ed 12 1 2 1000000000 forged", "\xff\n81ed 12 1 2 1000000000 too", "\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	all, err := files.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, one := range all {
		names = append(names, one.Name())
	}
	require.ElementsMatch(t, []string{"one", "b\\nc", "\xff"}, names)
}

func TestEntry_IsReadOfALine(t *testing.T) {
	t.Parallel()
	one, ok := entryOf("81ed 12 1 2 1000000000 ./a b")
	require.True(t, ok)
	require.Equal(t, entry{name: "a b", mode: 0o755, size: 12, changed: time.Unix(1e9, 0), uid: 1, gid: 2}, one)
	for _, line := range []string{"", "b", "81ed 12 1 2 1000000000", "x 12 1 2 1000000000 ./a", "81ed 12 1 2 x ./a"} {
		_, ok := entryOf(line)
		require.False(t, ok, line)
	}
}
