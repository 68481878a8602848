package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// writeArchives writes the archive of each program, and the list of what it is made of.
func (r *release) writeArchives() error {
	for i := range r.builds {
		b := &r.builds[i]
		b.archive = fmt.Sprintf("berth_%s_%s_%s.tar.gz", r.version, b.os, b.arch)
		if b.os == "windows" {
			b.archive = strings.TrimSuffix(b.archive, ".tar.gz") + ".zip"
		}

		err := r.writeArchive(*b)
		if err == nil {
			b.sum, err = sumOf(filepath.Join(r.dist, b.archive))
		}
		if err == nil {
			err = r.writeBill(*b)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.target, err)
		}
	}
	return nil
}

// compile builds the program as make build does, whatever Go's settings of this machine are, and gives its path.
func (r *release) compile(t target) (string, error) {
	path := filepath.Join(r.work, t.os+"_"+t.arch, t.program())
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=v"+r.version.String(), "-o", path, "./cmd/berth")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return path, cmd.Run()
}

// beside names the files of the checkout that an archive has beside the program: those that work without the checkout.
func beside(t target) []string {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md"}
	if t.os == "linux" {
		names = append(names, "deploy/berth.service")
	}
	return names
}

// writeArchive packs the program with what belongs to it.
func (r *release) writeArchive(b build) error {
	files := []file{}
	for _, name := range beside(b.target) {
		files = append(files, file{name: name, from: filepath.Join(r.root, name)})
	}
	files = append(files, file{name: b.program(), from: b.path, program: true})
	files = append(files, r.extras...)

	pack := writeTar
	if strings.HasSuffix(b.archive, ".zip") {
		pack = writeZip
	}
	return pack(filepath.Join(r.dist, b.archive), r.time, files)
}

// writeSums writes SHA256SUMS: of every file of the release, as sha256sum -c reads it.
func (r *release) writeSums() error {
	lines := []string{}
	err := filepath.WalkDir(r.dist, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(r.dist, path)
		if err != nil {
			return err
		}

		sum, err := sumOf(path)
		lines = append(lines, sum+"  "+filepath.ToSlash(name)+"\n")
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return os.WriteFile(filepath.Join(r.dist, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}

// sumOf is the SHA-256 of a file, in hexadecimal.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()

	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
