package main

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/runtime"
)

func newPodCopyCommand(r *resource[rest.Pod]) *cobra.Command {
	return &cobra.Command{
		Use:   "cp FROM TO",
		Short: "Copy files and folders into a pod, or out of one",
		Long: `Copy a file or a folder into a pod, or out of one: one of FROM and TO is POD:PATH, the other a path here. If TO is an
existing folder, FROM is copied into it; otherwise TO is the name of the copy. Modes and symbolic links are kept, owners are not: what
comes into a pod belongs to the user of its image. If FROM itself is a symbolic link, what it leads to is copied. The image needs sh and tar,
as nearly every one has.`,
		Example: "  berth pods cp model.bin k3v9x2m1q8w7rt:/workspace\n  berth pods cp k3v9x2m1q8w7rt:/workspace/results ./results",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd)
			if err != nil {
				return err
			}
			from, fromPod := remotePath(args[0])
			to, toPod := remotePath(args[1])
			if pod := cmp.Or(fromPod, toPod); (fromPod == "") != (toPod == "") {
				id, err := r.kind().find(cmd.Context(), c, pod)
				if err != nil {
					return err
				}
				if fromPod != "" {
					fromPod = id
				} else {
					toPod = id
				}
			}

			switch {
			case (fromPod == "") == (toPod == ""):
				err = misuse(errors.New("one of the two is POD:PATH, and the other a path here"), "see berth pods cp --help")
			case toPod != "":
				err = c.copyIn(cmd, toPod, from, to)
			default:
				err = c.copyOut(cmd, fromPod, from, to)
			}

			var exit remoteExit
			switch {
			case !errors.As(err, &exit):
			case exit == runtime.ExitNotFound || exit == runtime.ExitNotRun:
				err = &failure{code: exitFailed, cause: errors.New("the image has no sh or no tar, which copying takes")}
			default:
				err = &failure{code: exitFailed, cause: fmt.Errorf("the copy failed in the pod, with exit code %d", int(exit))}
			}
			return r.hint(err)
		},
	}
}

// remotePath reads POD:PATH, in which the pod is an id or a name of more than a letter, without a slash or a backslash. It is empty
// where that is a path here.
func remotePath(text string) (name, pod string) {
	pod, name, found := strings.Cut(text, ":")
	if !found || len(pod) < 2 || strings.ContainsAny(pod, `/\`) {
		return text, ""
	}
	if name == "" {
		name = "."
	}
	return name, pod
}

// copyIn copies into a pod.
func (c *connection) copyIn(cmd *cobra.Command, id, from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	// What is a folder gets it by its own name, what is not is its name, in a folder that is made.
	where, err := c.output(cmd.Context(), podExec(id), cmd.ErrOrStderr(), "sh", "-c", `if [ -d "$1" ]; then echo folder; else mkdir -p -- "$(dirname -- "$1")"; fi`, "sh", to)
	if err != nil {
		return err
	}
	folder, name := path.Dir(path.Clean(to)), path.Base(to)
	if strings.TrimSpace(where) == "folder" {
		absolute, err := filepath.Abs(from)
		if err != nil {
			return err
		}
		folder, name = to, filepath.Base(absolute)
	} else if strings.HasSuffix(to, "/") && !info.IsDir() {
		return fmt.Errorf("%s is no folder in the pod", to)
	}

	archive, writer := io.Pipe()
	written := make(chan error, 1)
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	go func() {
		err := writeArchive(writer, from, name)
		_ = writer.CloseWithError(err)
		written <- err
		if err != nil {
			cancel() // else tar would wait for the rest
		}
	}()
	err = c.exec(ctx, podExec(id), runtime.Exec{
		Command: []string{"tar", "-xof", "-", "-C", folder}, Stdin: archive, Stdout: cmd.ErrOrStderr(), Stderr: cmd.ErrOrStderr(),
	})
	_ = archive.CloseWithError(errStopped)
	if packing := <-written; packing != nil && !errors.Is(packing, errStopped) {
		return packing
	}
	return err
}

// errStopped is the error of who writes what nobody takes any more.
var errStopped = errors.New("nobody takes it any more")

// writeArchive writes an archive of a file or a folder, called name in it.
func writeArchive(to io.Writer, from, name string) error {
	archive := tar.NewWriter(to)
	from, err := filepath.EvalSymlinks(from) // a link that is named itself is what it leads to
	if err != nil {
		return err
	}
	err = filepath.WalkDir(from, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() && !info.IsDir() && info.Mode().Type() != fs.ModeSymlink {
			return fmt.Errorf("%s is neither a file nor a folder nor a link", at)
		}
		return archiveOne(archive, at, path.Join(name, filepath.ToSlash(below)), info)
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

func archiveOne(archive *tar.Writer, at, name string, info fs.FileInfo) error {
	link := ""
	if info.Mode().Type() == fs.ModeSymlink {
		var err error
		if link, err = os.Readlink(at); err != nil {
			return err
		}
	}
	header, err := headerOf(info, link, name, system)
	if err != nil {
		return err
	}
	header.ModTime = header.ModTime.Truncate(time.Second) // or it may be later than now
	if err := archive.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}

	file, err := os.Open(at)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(archive, io.LimitReader(file, header.Size)) // what grows meanwhile is as it was
	return err
}

// copyOut copies out of a pod.
func (c *connection) copyOut(cmd *cobra.Command, id, from, to string) error {
	folder, name := filepath.Dir(filepath.Clean(to)), filepath.Base(to)
	from = path.Clean(from)
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		folder, name = to, path.Base(from)
		if name == "." || name == "/" || name == ".." {
			name = ""
		}
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()

	// A folder is packed from within, and a file by its name, so that a link that is named itself is what it leads to.
	first, pack := path.Base(from), []string{"tar", "-chf", "-", "-C", path.Dir(from), "--", path.Base(from)}
	what, err := c.output(cmd.Context(), podExec(id), cmd.ErrOrStderr(), "sh", "-c", `if [ -d "$1" ]; then echo folder; fi`, "sh", from)
	if err != nil {
		return err
	}
	if strings.TrimSpace(what) == "folder" {
		first, pack = ".", []string{"tar", "-cf", "-", "-C", from, "."}
	}

	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	archive, writer := io.Pipe()
	read := make(chan error, 1)
	go func() {
		err := readArchive(archive, root, first, name)
		if err == nil || errors.Is(err, errNothing) {
			if _, failed := io.Copy(io.Discard, archive); failed != nil { // what fills the last block
				err = failed
			}
		}
		_ = archive.CloseWithError(err)
		read <- err
	}()
	err = c.exec(ctx, podExec(id), runtime.Exec{Command: pack, Stdout: writer, Stderr: cmd.ErrOrStderr()})
	_ = writer.CloseWithError(err)
	unpacking := <-read
	switch {
	case errors.Is(unpacking, errNothing): // tar leaves sockets out, and calls that no failure
		return fmt.Errorf("%s is neither a file nor a folder", from)
	case err == nil || unpacking != nil && !errors.Is(unpacking, err):
		return unpacking
	}
	return err
}

// errNothing is the error of an archive that has nothing.
var errNothing = errors.New("the archive is empty")

// readArchive writes what was to be copied, called first in an archive, to name in root. A dot is a folder that was packed from within; without
// a name, what it has goes to root itself. An image may be somebody else's: nothing with another name is written, and what a folder has stays in its
// copy, wherever its links lead.
func readArchive(from io.Reader, root *os.Root, first, name string) error {
	archive := tar.NewReader(from)
	header, err := archive.Next()
	if errors.Is(err, io.EOF) {
		return errNothing
	}

	top := root
	if err == nil && first == "." && name != "" {
		if top, err = folderIn(root, name); err != nil {
			return err
		}
		defer func() { _ = top.Close() }()
	}

	for ; err == nil; header, err = archive.Next() {
		at := filepath.FromSlash(path.Clean(header.Name))
		if !isAsked(at, first, header) {
			return fmt.Errorf("%s is not what was to be copied", oneLine(header.Name))
		}
		if first != "." {
			at = name
		}
		if err := extractOne(archive, top, at, header); err != nil {
			return err
		}
		if at == "." && top != root {
			if err := root.Chmod(name, modeOf(header)|0o700); err != nil {
				return err
			}
		}
	}

	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// isAsked reports whether what is at a path in an archive is what is called first there, or is below it.
func isAsked(at, first string, header *tar.Header) bool {
	if first == "." {
		return filepath.IsLocal(at)
	}
	return at == first && header.Typeflag != tar.TypeDir && header.Typeflag != tar.TypeSymlink // tar was to follow links
}

// folderIn opens a folder in root, which is made if there is none.
func folderIn(root *os.Root, name string) (*os.Root, error) {
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return root.OpenRoot(name)
}

// modeOf gives the permissions of what is in an archive.
func modeOf(header *tar.Header) fs.FileMode { return header.FileInfo().Mode().Perm() }

func extractOne(archive *tar.Reader, root *os.Root, at string, header *tar.Header) error {
	mode := modeOf(header)
	switch header.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(at, 0o755); err != nil || at == "." {
			return err
		}
		return root.Chmod(at, mode|0o700)
	case tar.TypeSymlink:
		_ = root.Remove(at) // it may be there
		return root.Symlink(header.Linkname, at)
	case tar.TypeReg:
		if err := root.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		return extractFile(archive, root, at, mode)
	case tar.TypeLink:
		return fmt.Errorf("%s is a second name of another file: copy it by itself", at)
	}
	return fmt.Errorf("%s is neither a file nor a folder nor a link", at)
}

// extractFile writes a file with its mode, whatever the umask is and whatever mode a file there has.
func extractFile(archive io.Reader, root *os.Root, at string, mode fs.FileMode) error {
	file, err := emptyFile(root, at, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, archive)
	return errors.Join(err, setMode(file, mode), file.Close())
}

// emptyFile opens a file to be written from its beginning. One there that must not be written to, such as an earlier copy, is replaced.
func emptyFile(root *os.Root, at string, mode fs.FileMode) (*os.File, error) {
	const how = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	file, err := root.OpenFile(at, how, mode)
	if !errors.Is(err, fs.ErrPermission) {
		return file, err
	}
	if there, failed := root.Lstat(at); failed != nil || !there.Mode().IsRegular() {
		return nil, err
	}
	if failed := root.Remove(at); failed != nil {
		return nil, errors.Join(err, failed)
	}
	return root.OpenFile(at, how, mode)
}

// setMode gives a file its mode if it has another one. A device, such as /dev/null, keeps what it has.
func setMode(file *os.File, mode fs.FileMode) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() == mode {
		return err
	}
	return file.Chmod(mode)
}
