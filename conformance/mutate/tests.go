//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	unbuilt      verdict = "does not compile"
	survived     verdict = "SURVIVED"
	byPackage    verdict = "killed by its package"
	byThen       verdict = "killed by conformance"
	byTime       verdict = "killed: it does not end"
	equivalentIn         = "conformance/mutate/equivalent.txt"
)

// tests runs the tests over mutants.
type tests struct {
	root, then string
	time       time.Duration
	dir        string // of the changed files
}

func newTests(root, then string, limit time.Duration) (*tests, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "berth-mutate-")
	return &tests{root: root, then: then, time: limit, dir: dir}, err
}

func (t *tests) close() { _ = os.RemoveAll(t.dir) }

// try gives the verdict on a mutant. It fails if the context ends.
func (t *tests) try(ctx context.Context, m mutant) (verdict, error) {
	overlay, err := t.overlay(m)
	if err != nil {
		return "", err
	}
	own := "./" + path.Dir(m.file)
	// Vet refuses some changes that the compiler takes, and would hide what the tests say.
	if passed, _, err := t.command(ctx, "build", overlay, "-o", os.DevNull, own); err != nil || !passed {
		return unbuilt, err
	}
	for _, stage := range []struct {
		packages string
		killed   verdict
	}{{own, byPackage}, {t.then, byThen}} {
		if stage.packages == "" {
			continue
		}
		passed, ended, err := t.command(ctx, "test", overlay, "-count=1", "-failfast", "-vet=off", "-timeout="+t.time.String(), stage.packages)
		switch {
		case err != nil:
			return "", err
		case !ended:
			return byTime, nil
		case !passed:
			return stage.killed, nil
		}
	}
	return survived, nil
}

// overlay writes the changed file, and what tells the go command to read it in the place of the other.
func (t *tests) overlay(m mutant) (string, error) {
	original := filepath.Join(t.root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(t.dir, "changed.go"), filepath.Join(t.dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(changed, m.apply(text), 0o600), os.WriteFile(overlay, replace, 0o600))
}

// command runs the go command and tells whether it succeeded, and whether it came to its end in time. It ends what a test that
// does not end has started, too.
func (t *tests) command(ctx context.Context, what, overlay string, args ...string) (passed, ended bool, err error) {
	// The tests end themselves first; what they wait for at their end may not. Compiling takes time, too.
	within, cancel := context.WithTimeout(ctx, t.time+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(within, "go", append([]string{what, "-pgo=off", "-overlay=" + overlay}, args...)...)
	cmd.Dir = t.root
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err = cmd.Run()
	if err := ctx.Err(); err != nil {
		return false, false, err
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return false, false, err
	}
	if what == "test" && err != nil && time.Since(start) >= t.time {
		return false, false, nil
	}
	return err == nil, true, nil
}

// key names a mutant in the list of those that change nothing: without its line, which moves.
func (m mutant) key() string {
	return fmt.Sprintf("%s | %s | %s", m.file, m.context, m.change())
}

// readEquivalent reads the list of mutants that change nothing: on each line the key and after the last bar the reason.
func readEquivalent(root string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(equivalentIn)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		bar := strings.LastIndex(line, " | ")
		if strings.Count(line, " | ") < 3 || strings.TrimSpace(line[bar+3:]) == "" {
			return nil, fmt.Errorf("%s: a line has file | line | change | reason: %s", equivalentIn, line)
		}
		known[line[:bar]] = true
	}
	return known, nil
}
