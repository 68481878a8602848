package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// npm installs the packages of a directory of peer/ and gives node and the directory that they and their programs are in.
func (b *bench) npm(name string) (node, dir string, err error) {
	if node, err = exec.LookPath("node"); err != nil {
		return "", "", errors.New("there is no node here")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", "", errors.New("there is no npm here")
	}
	// Not npm ci: it fails where a registry lacks an optional package of another platform. The lock file holds for this, too.
	dir, err = b.installed(name, npm, "install", "--no-audit", "--no-fund", "--loglevel=error")
	return node, dir, err
}

// python installs the packages of a directory of peer/ and gives the interpreter that has them, and the directory.
func (b *bench) python(name string) (python, dir string, err error) {
	system, err := exec.LookPath("python3")
	if err != nil {
		return "", "", errors.New("there is no python3 here")
	}
	const script = `"$0" -m venv venv && venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt`
	dir, err = b.installed(name, "sh", "-c", script, system)
	return filepath.Join(dir, "venv", "bin", "python"), dir, err
}

// installed copies a directory of peer/ into the cache and runs the command there, unless a run before did.
func (b *bench) installed(name string, command ...string) (string, error) {
	source := filepath.Join("peer", name)
	sum, err := digest(source)
	if err != nil {
		return "", err
	}

	cache := b.cache
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			return "", err
		}
		cache = filepath.Join(cache, "berth-bench")
	}

	if cache, err = filepath.Abs(cache); err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name+"-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}

	unfinished, err := os.MkdirTemp(cache, name+"-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(unfinished) }()
	if err := os.CopyFS(unfinished, os.DirFS(source)); err != nil {
		return "", err
	}

	fmt.Fprintf(os.Stderr, "installing %s in %s\n", name, cache)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = unfinished
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s cannot be installed: %w: %s", name, err, out)
	}

	return dir, os.Rename(unfinished, dir)
}

// digest is a hash of the contents of a directory without directories.
func digest(dir string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}

	sum := sha256.New()
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", f.Name(), len(text), text)
	}

	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
