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
	"regexp"
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
	own := []string{"./" + path.Dir(m.file)}
	if strings.HasPrefix(m.file, "store/") {
		own = append(own, "./store/sqlite") // where the suite of every engine runs
	}

	// Vet refuses some changes that the compiler takes, and would hide what the tests say.
	if built, err := t.command(ctx, "build", overlay, "-o", os.DevNull, own[0]); err != nil || !built.passed {
		return unbuilt, err
	}

	for _, stage := range []struct {
		packages []string
		killed   verdict
	}{{own, byPackage}, {[]string{t.then}, byThen}} {
		if stage.packages[0] == "" {
			continue
		}

		result, err := t.stage(ctx, overlay, stage.packages)
		switch {
		case err != nil:
			return "", err
		case !result.ended:
			return byTime, nil
		case !result.passed:
			return stage.killed, nil
		}
	}

	return survived, nil
}

// failed is how the go command names a test that failed, at the beginning of a line.
var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// stage runs the tests of some packages over a mutant. A test that fails is run once more by itself: one that passes then failed
// for another reason, such as a busy machine, and all of them begin again, three times at most.
func (t *tests) stage(ctx context.Context, overlay string, packages []string) (r result, err error) {
	run := func(more ...string) (result, error) {
		args := append([]string{"-count=1", "-failfast", "-vet=off", "-timeout=" + t.time.String()}, more...)
		return t.command(ctx, "test", overlay, append(args, packages...)...)
	}
	for range 3 {
		if r, err = run(); err != nil || r.passed || !r.ended {
			return r, err
		}
		named := failed.FindStringSubmatch(r.output)
		if named == nil {
			return r, nil
		}

		again, err := run("-run=^" + named[1] + "$")
		if err != nil || !again.passed {
			return again, err
		}
	}

	return r, nil
}

// overlay writes the changed file, and what has the go command read it in the place of the other.
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

// result is what became of a run of the go command.
type result struct {
	passed bool
	ended  bool // in time
	output string
}

// command runs the go command. It ends what a test that does not end has started, too. It fails if the command cannot be run or
// the context ends.
func (t *tests) command(ctx context.Context, what, overlay string, args ...string) (result, error) {
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
	err := cmd.Run()
	if err := ctx.Err(); err != nil {
		return result{}, err
	}

	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return result{}, err
	}
	late := what == "test" && err != nil && time.Since(start) >= t.time
	return result{passed: err == nil, ended: !late, output: out.String()}, nil
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
