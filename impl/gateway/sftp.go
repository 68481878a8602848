package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp" // it speaks the protocol where an image has no server for it

	"github.com/berthdev/berth/impl/runtime"
)

// ownServer runs the server for file transfers that the image has, as OpenSSH would, and otherwise says so by its exit code.
const ownServer = `for f in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/sftp-server /usr/libexec/ssh/sftp-server; do
	[ -x "$f" ] && exec "$f"
done
exit 127`

// files transfers files, by the server of the image or, where it has none, by what nearly every image has: sh, cat, stat and the like.
func (s *session) files(ctx context.Context) int {
	f := &files{session: s, ctx: ctx}
	where, err := f.output("sh", "-c", `for f in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh /usr/libexec /usr/libexec/ssh; do [ -x "$f/sftp-server" ] && echo own && break; done; pwd`)
	if err != nil {
		return s.told(0, err)
	}
	if rest, own := strings.CutPrefix(where, "own\n"); own || rest == "" {
		return s.run(ctx, []string{"sh", "-c", ownServer})
	}

	return f.serve(s.channel, strings.TrimSuffix(where, "\n"))
}

// serve speaks the protocol with a client, whose relative paths begin at a folder.
func (f *files) serve(client io.ReadWriteCloser, at string) int {
	server := sftp.NewRequestServer(bounded(f.ctx, client), sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: f}, sftp.WithStartDirectory(at))
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(f.ctx, func() { _ = client.Close() })()
	if err := server.Serve(); err != nil && !errors.Is(err, io.EOF) { // however a client leaves, that is no failure: scp goes by the exit code
		f.Log.Debug("a client for files has left", "error", err)
	}
	return 0
}

// files are the files of a pod, each operation on them a command in it.
type files struct {
	*session
	ctx context.Context // ends with the session
}

// How many bytes of what a command writes are kept.
const (
	mostFolder = 4 << 20 // a folder of 50,000 files has less
	mostOutput = 64 << 10
)

// output runs a command and gives what it wrote. Its failure is the error that its message tells of.
func (f *files) output(command ...string) (string, error) {
	return f.outputOf(mostOutput, command...)
}

func (f *files) outputOf(most int, command ...string) (string, error) {
	out, errs := &kept{most: most}, &kept{most: 4 << 10}
	code, err := f.part(f.ctx, runtime.Exec{Command: command, Env: slices.Concat(f.env, []string{"LC_ALL=C"}), Stdout: out, Stderr: errs})
	switch {
	case err != nil:
		return "", err
	case out.over:
		return "", errors.New("there is too much of it")
	case code != 0:
		return "", failure(errs.text.String())
	}
	return out.text.String(), nil
}

// do runs a command that writes nothing.
func (f *files) do(command ...string) error {
	_, err := f.output(command...)
	return err
}

// kept is a writer that keeps the first bytes.
type kept struct {
	text bytes.Buffer
	most int
	over bool
}

// Write takes everything.
func (k *kept) Write(p []byte) (int, error) {
	part := p[:min(len(p), k.most-k.text.Len())]
	k.over = k.over || len(part) < len(p)
	k.text.Write(part)
	return len(p), nil
}

// failure is what a failed command means to a client. The programs of an image have no other words for it than those of the C library.
func failure(message string) error {
	switch {
	case strings.Contains(message, "No such file"):
		return os.ErrNotExist
	case strings.Contains(message, "Permission denied"), strings.Contains(message, "Operation not permitted"), strings.Contains(message, "Read-only file system"):
		return os.ErrPermission
	}
	return errors.New("the command for it failed")
}

// Filecmd changes what is not the contents of a file.
func (f *files) Filecmd(r *sftp.Request) error {
	switch r.Method {
	case "Setstat":
		return f.setAttributes(r)
	case "Rename":
		if _, err := f.stat(r.Target, true); err == nil {
			return errors.New("it is there") // as the protocol has it
		}
		return f.do("mv", "--", r.Filepath, r.Target)
	case "Rmdir":
		return f.do("rmdir", "--", r.Filepath)
	case "Remove":
		return f.do("sh", "-c", `[ -e "$1" ] || [ -L "$1" ] || { echo No such file >&2; exit 1; }; [ ! -d "$1" ] || [ -L "$1" ] || exit 1; exec rm -f -- "$1"`, "sh", r.Filepath)
	case "Mkdir":
		return f.do("mkdir", "--", r.Filepath)
	case "Link":
		return f.do("ln", "--", r.Filepath, r.Target)
	case "Symlink":
		return f.do("ln", "-s", "--", r.Filepath, r.Target)
	}
	return sftp.ErrSSHFxOpUnsupported
}

// PosixRename renames over what is there.
func (f *files) PosixRename(r *sftp.Request) error {
	return f.do("sh", "-c", `[ ! -d "$2" ] || [ -L "$2" ] || exit 1; exec mv -f -- "$1" "$2"`, "sh", r.Filepath, r.Target)
}

func (f *files) setAttributes(r *sftp.Request) error {
	flags, a := r.AttrFlags(), r.Attributes()
	if a == nil { // they are shorter than their flags say
		return sftp.ErrSSHFxBadMessage
	}
	if flags.Size {
		if err := f.do("truncate", "-s", strconv.FormatUint(a.Size, 10), "--", r.Filepath); err != nil {
			return err
		}
	}
	if flags.Permissions {
		if err := f.do("chmod", "--", fmt.Sprintf("%04o", a.Mode&0o7777), r.Filepath); err != nil {
			return err
		}
	}
	if flags.UidGid {
		if err := f.do("chown", "--", fmt.Sprintf("%d:%d", a.UID, a.GID), r.Filepath); err != nil {
			return err
		}
	}
	if flags.Acmodtime {
		stamp := time.Unix(int64(a.Mtime), 0).UTC().Format("200601021504.05")
		return f.do("env", "TZ=UTC", "touch", "-c", "-m", "-t", stamp, "--", r.Filepath)
	}
	return nil
}

// format is what stat is asked for: the mode in hexadecimal digits, size, user, group, time of change, and the name.
const format = "%f %s %u %g %Y %n"

// Filelist reads a folder, or the attributes or the target of one thing.
func (f *files) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	switch r.Method {
	case "List":
		return f.folder(r.Filepath)
	case "Stat":
		one, err := f.stat(r.Filepath, false)
		return list{one}, err
	}
	return nil, sftp.ErrSSHFxOpUnsupported
}

// listing writes what is in a folder in a format, a line for each. A name with a line feed is left out: its second line could be made to look like
// one of something else. Names are bytes, in whatever language the image is.
const listing = `cd -- "$1" || exit 1
[ -r . ] || { echo Permission denied >&2; exit 1; }
LC_ALL=C find . -mindepth 1 -maxdepth 1 ! -name '*
*' -exec stat -c "$2" -- {} +
exit 0`

// folder reads a folder, which is open like a file until it is closed.
func (f *files) folder(name string) (sftp.ListerAt, error) {
	if !f.opens(f.by.User) {
		return nil, errFiles
	}
	text, err := f.outputOf(mostFolder, "sh", "-c", listing, "sh", name, format)
	if err != nil {
		f.closes(f.by.User)
		return nil, err
	}
	return &folder{text: text, close: func() { f.closes(f.by.User) }}, nil
}

// Lstat gives the attributes of a link itself.
func (f *files) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	one, err := f.stat(r.Filepath, true)
	return list{one}, err
}

// Readlink gives where a link leads.
func (f *files) Readlink(name string) (string, error) {
	text, err := f.output("readlink", "--", name)
	return strings.TrimSuffix(text, "\n"), err
}

func (f *files) stat(name string, link bool) (fs.FileInfo, error) {
	command := []string{"stat", "-L", "-c", format, "--", name}
	if link {
		command = append(command[:1:1], command[2:]...)
	}
	text, err := f.output(command...)
	if err != nil {
		return nil, err
	}
	one, ok := entryOf(strings.TrimSuffix(text, "\n"))
	if !ok {
		return nil, errors.New("its attributes cannot be read")
	}
	return one, nil
}

// folder gives what is in one piece by piece, out of the text that tells of it: as entries it would take several times the memory.
type folder struct {
	close func()

	mu    sync.Mutex // a client may ask for the next piece before it has this one
	text  string
	given int64 // entries
	at    int   // byte of the text where the next one is
}

// ListAt gives the entries from a place on.
func (f *folder) ListAt(to []fs.FileInfo, from int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if from < f.given {
		f.given, f.at = 0, 0
	}

	for line := range strings.Lines(f.text[f.at:]) {
		if n == len(to) {
			return n, nil
		}
		f.at += len(line)
		one, ok := entryOf(strings.TrimSuffix(line, "\n"))
		if !ok { // nothing can be shown of it
			continue
		}
		if f.given++; f.given > from {
			to[n] = one
			n++
		}
	}
	return n, io.EOF
}

// Close has it be open no more.
func (f *folder) Close() error {
	f.close()
	return nil
}

// list gives entries piece by piece.
type list []fs.FileInfo

// ListAt gives those from a place on.
func (l list) ListAt(to []fs.FileInfo, from int64) (int, error) {
	if from >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(to, l[from:])
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

// entry is what is known of a file.
type entry struct {
	name     string
	mode     fs.FileMode
	size     int64
	changed  time.Time
	uid, gid uint32
}

// entryOf reads a line in format.
func entryOf(line string) (entry, bool) {
	parts := strings.SplitN(line, " ", 6)
	if len(parts) < 6 {
		return entry{}, false
	}
	mode, err := strconv.ParseUint(parts[0], 16, 32)
	size, err2 := strconv.ParseInt(parts[1], 10, 64)
	uid, err3 := strconv.ParseUint(parts[2], 10, 32)
	gid, err4 := strconv.ParseUint(parts[3], 10, 32)
	changed, err5 := strconv.ParseInt(parts[4], 10, 64)
	if errors.Join(err, err2, err3, err4, err5) != nil {
		return entry{}, false
	}
	return entry{
		name: path.Base(parts[5]), mode: modeOf(uint32(mode)), size: size, changed: time.Unix(changed, 0), uid: uint32(uid), gid: uint32(gid),
	}, true
}

// modeOf reads a mode as Unix has it.
func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & 0o170000 {
	case 0o040000:
		m |= fs.ModeDir
	case 0o120000:
		m |= fs.ModeSymlink
	case 0o020000:
		m |= fs.ModeDevice | fs.ModeCharDevice
	case 0o060000:
		m |= fs.ModeDevice
	case 0o010000:
		m |= fs.ModeNamedPipe
	case 0o140000:
		m |= fs.ModeSocket
	}
	for bit, special := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			m |= special
		}
	}
	return m
}

// The methods of fs.FileInfo, and the owners for sftp.

func (e entry) Name() string       { return e.name }
func (e entry) Size() int64        { return e.size }
func (e entry) Mode() fs.FileMode  { return e.mode }
func (e entry) ModTime() time.Time { return e.changed }
func (e entry) IsDir() bool        { return e.mode.IsDir() }
func (e entry) Sys() any           { return &sftp.FileStat{UID: e.uid, GID: e.gid} }
func (e entry) Uid() uint32        { return e.uid } //nolint:revive // the name is that of package sftp
func (e entry) Gid() uint32        { return e.gid }
