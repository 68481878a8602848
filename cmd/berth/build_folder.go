package main

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// packed gives a folder as a tar archive, which is made while it is read, without what its .dockerignore names.
func packed(folder string) (io.ReadCloser, error) {
	folder, err := filepath.EvalSymlinks(folder) // a walk does not follow the link that it begins at
	if err != nil {
		return nil, err
	}
	ignored, err := readIgnored(filepath.Join(folder, ".dockerignore"))
	if err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	go func() {
		archive := tar.NewWriter(to)
		err := pack(folder, archive, ignored)
		if err == nil {
			err = archive.Close()
		}
		if err != nil { // or it would look as if the server had not been reached
			err = &failure{code: exitFailed, cause: fmt.Errorf("the folder cannot be packed: %w", err)}
		}
		_ = to.CloseWithError(err)
	}()
	return from, nil
}

// pack writes folders, files and symbolic links, by names relative to the folder; what else there is is no part of an image.
func pack(folder string, to *tar.Writer, ignored patterns) error {
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil || name == "." {
			return err
		}
		name = filepath.ToSlash(name)
		switch ignores := ignored.match(name); {
		case ignores && entry.IsDir() && !ignored.excepts():
			return fs.SkipDir
		case ignores, entry.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0:
			return nil
		}

		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := ""
		if entry.Type() == fs.ModeSymlink {
			if target, err = os.Readlink(file); err != nil {
				return err
			}
		}
		header, err := headerOf(info, target, name, system)
		if err != nil {
			return err
		}
		if err := to.WriteHeader(header); err != nil || !entry.Type().IsRegular() {
			return err
		}
		return copyFile(to, file, header.Size)
	})
}

// system is where this runs.
const system = runtime.GOOS

// headerOf gives the header of a file, a folder or a link in an archive that is sent from such a system: without an owner, as an engine's own client has it.
// Files of Windows do not say whether they can be run, so that all can be, and its links have backslashes.
func headerOf(info fs.FileInfo, link, name, goos string) (*tar.Header, error) {
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return nil, err
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = name, 0, 0, "", ""
	if goos == "windows" {
		header.Mode = header.Mode&0o755 | 0o111
		header.Linkname = strings.ReplaceAll(header.Linkname, `\`, "/")
	}
	return header, nil
}

// copyFile writes so many bytes of a file: what grows meanwhile is as it was.
func copyFile(to io.Writer, name string, size int64) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(to, io.LimitReader(file, size))
	return err
}

// patterns are the lines of a .dockerignore.
type patterns []string

func readIgnored(name string) (all patterns, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()

	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && !strings.HasPrefix(line, "#") {
			except := strings.HasPrefix(line, "!")
			line = strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(line, "!")), "/")
			if except {
				line = "!" + line
			}
			all = append(all, line)
		}
	}
	return all, lines.Err()
}

// excepts reports whether a line takes out of what others name.
func (p patterns) excepts() bool {
	for _, one := range p {
		if strings.HasPrefix(one, "!") {
			return true
		}
	}
	return false
}

// match reports whether the last line that names the file, or a folder that it is in, ignores it. The Dockerfile is always sent: without it
// there is no build.
func (p patterns) match(name string) (ignored bool) {
	if name == "Dockerfile" {
		return false
	}
	for _, one := range p {
		pattern, except := strings.CutPrefix(one, "!")
		for at := name; at != "."; at = path.Dir(at) {
			if names(strings.Split(pattern, "/"), strings.Split(at, "/")) {
				ignored = !except
				break
			}
		}
	}
	return ignored
}

// names reports whether the parts of a pattern, of which ** stands for any number, are those of a path.
func names(pattern, parts []string) bool {
	switch {
	case len(pattern) == 0:
		return len(parts) == 0
	case pattern[0] == "**":
		return names(pattern[1:], parts) || len(parts) > 0 && names(pattern, parts[1:])
	case len(parts) == 0:
		return false
	}
	is, err := path.Match(pattern[0], parts[0])
	return err == nil && is && names(pattern[1:], parts[1:])
}
