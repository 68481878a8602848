package dockertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// library matches a library in the output of ldd.
var library = regexp.MustCompile(`(/\S+) \(0x`)

// Tools makes an image of programs of this machine with their libraries, which sleeps, and gives its name: an ordinary image, since no
// registry may be in reach. It skips the test where this machine has not all of them. Need comes first.
func Tools(t testing.TB, programs ...string) string {
	t.Helper()
	f, err := find()
	require.NoError(t, err)
	files := map[string]string{} // in the image, to where it is here
	for _, name := range programs {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Skip("SKIPPED: this machine has no", name)
		}
		files["usr/bin/"+filepath.Base(name)] = at
		linked, err := exec.CommandContext(t.Context(), "ldd", at).Output()
		if err != nil {
			t.Skip("SKIPPED: it is not known which libraries", name, "takes:", err)
		}
		for _, found := range library.FindAllStringSubmatch(string(linked), -1) {
			files[strings.TrimPrefix(found[1], "/")] = found[1]
		}
	}

	image := "berth-test-tools:" + strings.ToLower(filepath.Base(t.Name()))
	archive, err := packFiles(files)
	require.NoError(t, err)
	answer, err := f.engine.ImageImport(context.Background(), client.ImageImportSource{Source: archive, SourceName: "-"}, image, client.ImageImportOptions{
		Changes: []string{`ENV PATH=/usr/bin`, `ENTRYPOINT ["/usr/bin/sleep", "1000"]`},
	})
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, answer)
	require.NoError(t, errors.Join(err, answer.Close()))
	t.Cleanup(func() {
		_, _ = f.engine.ImageRemove(context.Background(), image, client.ImageRemoveOptions{Force: true}) // it may be in use
	})
	return image
}

// packFiles makes a file system of files of this machine, with a folder for what is written.
func packFiles(files map[string]string) (*bytes.Buffer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, folder := range []string{"tmp/", "data/"} {
		if err := w.WriteHeader(&tar.Header{Name: folder, Typeflag: tar.TypeDir, Mode: 0o1777}); err != nil {
			return nil, err
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "bin", Typeflag: tar.TypeSymlink, Linkname: "usr/bin", Mode: int64(fs.ModePerm)}); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	return &archive, w.Close()
}
