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
	"slices"
	"strconv"
	"strings"
	"sync"
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

// tests compiles the tests over changed files, and runs them.
type tests struct {
	root, then, only string
	dir              string        // of the changed files and the programs
	grace            time.Duration // that tests have beside a multiple of what they take otherwise

	mu    sync.Mutex
	takes map[string]*measured // by the package, how long its tests take without a mutant
}

type measured struct {
	once sync.Once
	took time.Duration
	err  error
}

func newTests(root, then, only string, grace time.Duration) (*tests, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "berth-mutate-")
	return &tests{root: root, then: then, only: only, dir: dir, grace: grace, takes: map[string]*measured{}}, err
}

func (t *tests) close() { _ = os.RemoveAll(t.dir) }

// packagesOf gives the packages whose tests are to see a mutant first.
func packagesOf(m mutant) []string {
	own := "./" + path.Dir(m.file)
	if strings.HasPrefix(m.file, "store/") && own != "./store/sqlite" {
		return []string{own, "./store/sqlite"} // where the suite of every engine runs
	}
	return []string{own}
}

// program is the tests of some packages, compiled over changed files when they are first run.
type program struct {
	tests   *tests
	dir     string
	overlay string
	files   map[string]string // by the last part of the path of a changed file, the one that it stands for, from the root

	mu    sync.Mutex
	built map[string]string // by the package, the path of the file; empty: it has no tests
}

// program lays files, by their paths from the root, over those of the tree.
func (t *tests) program(files map[string][]byte) (*program, error) {
	dir, err := os.MkdirTemp(t.dir, "")
	if err != nil {
		return nil, err
	}

	replace, names := map[string]string{}, map[string]string{}
	for file, text := range files {
		name := fmt.Sprintf("mutant_%d.go", len(names))
		names[name] = file
		changed := filepath.Join(dir, name)
		replace[filepath.Join(t.root, filepath.FromSlash(file))] = changed
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return nil, err
		}
	}

	p := &program{tests: t, dir: dir, overlay: filepath.Join(dir, "overlay.json"), files: names, built: map[string]string{}}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	return p, errors.Join(err, os.WriteFile(p.overlay, text, 0o600))
}

// inOne compiles a program that is each of the mutants, by their numbers, and takes those out that the compiler refuses.
func (t *tests) inOne(ctx context.Context, mutants map[int]mutant) (*program, error) {
	for {
		c := copiesOf(mutants)
		p, err := t.program(c.files)
		if err != nil || len(mutants) == 0 {
			return p, err
		}
		var packages []string
		for _, m := range mutants {
			packages = append(packages, packagesOf(m)[0])
		}
		slices.Sort(packages)

		r, err := t.run(ctx, t.root, nil, "go", append([]string{"build", "-pgo=off", "-gcflags=-e", "-overlay=" + p.overlay, "-o", os.DevNull}, slices.Compact(packages)...)...)
		if err != nil || r.passed {
			return p, err
		}
		refused := c.at(r.output, p.files)
		if len(refused) == 0 {
			return nil, fmt.Errorf("the copies do not compile: %s", r.output)
		}
		for _, n := range refused {
			delete(mutants, n)
		}
	}
}

// alone gives a program that is one mutant.
func (t *tests) alone(m mutant) (*program, error) {
	text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(m.file)))
	if err != nil {
		return nil, err
	}
	return t.program(map[string][]byte{m.file: m.apply(text)})
}

// binary gives the path of the tests of a package, compiled; empty if it has none. It fails if they do not compile.
func (p *program) binary(ctx context.Context, of string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if file, ok := p.built[of]; ok {
		return file, nil
	}

	file := filepath.Join(p.dir, strings.NewReplacer("./", "", "/", "-").Replace(of)+".test")
	r, err := p.tests.run(ctx, p.tests.root, nil, "go", "test", "-c", "-vet=off", "-pgo=off", "-overlay="+p.overlay, "-o", file, of)
	if err != nil {
		return "", err
	}
	if !r.passed {
		return "", fmt.Errorf("%w: %s: %s", errUnbuilt, of, r.output)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		file = ""
	}
	p.built[of] = file
	return file, nil
}

var errUnbuilt = errors.New("the tests do not compile")

// try gives the verdict on a mutant, which is the one that the program is by that number. It fails if the context ends, or if the
// tests fail without any mutant.
func (t *tests) try(ctx context.Context, p *program, n int, m mutant) (verdict, error) {
	stages := packagesOf(m)
	if t.then != "" {
		stages = append(stages, t.then)
	}
	for i, of := range stages {
		took, err := t.without(ctx, of)
		if err != nil {
			return "", err
		}
		// What ends at all ends in some multiple of what it takes otherwise; two run at once.
		result, err := t.stage(ctx, p, n, of, 4*took+t.grace)
		switch {
		case errors.Is(err, errUnbuilt):
			return unbuilt, nil
		case err != nil:
			return "", err
		case !result.ended:
			return byTime, nil
		case !result.passed && i == len(stages)-1 && t.then != "":
			return byThen, nil
		case !result.passed:
			return byPackage, nil
		}
	}

	return survived, nil
}

// without measures how long the tests of a package take without a mutant. It fails if they fail.
func (t *tests) without(ctx context.Context, of string) (time.Duration, error) {
	t.mu.Lock()
	one := t.takes[of]
	if one == nil {
		one = &measured{}
		t.takes[of] = one
	}
	t.mu.Unlock()

	one.once.Do(func() {
		p, err := t.program(nil)
		if err == nil {
			_, err = p.binary(ctx, of)
		}
		if err != nil {
			one.err = err
			return
		}
		start := time.Now()
		r, err := t.stage(ctx, p, 0, of, 20*time.Minute)
		if err == nil && !r.passed {
			err = fmt.Errorf("the tests of %s fail without any mutant: %s", of, r.output)
		}
		one.took, one.err = time.Since(start), err
	})
	return one.took, one.err
}

// failed is how tests name one that failed, at the beginning of a line.
var failed = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// stage runs the tests of a package over a mutant. A test that fails is run once more by itself: one that passes then failed
// for another reason, such as a busy machine, and all of them begin again, three times at most.
func (t *tests) stage(ctx context.Context, p *program, n int, of string, limit time.Duration) (r result, err error) {
	file, err := p.binary(ctx, of)
	if err != nil || file == "" {
		return result{passed: true, ended: true}, err
	}
	only := ""
	if of == t.then {
		only = t.only
	}
	run := func(which string) (result, error) {
		within, cancel := context.WithTimeout(ctx, limit+10*time.Second) // the tests end themselves first; what they wait for then may not
		defer cancel()
		return t.run(within, filepath.Join(t.root, filepath.FromSlash(of)), []string{planted + "=" + strconv.Itoa(n)},
			file, "-test.failfast", "-test.timeout="+limit.String(), "-test.run="+which)
	}

	for range 3 {
		if r, err = run(only); err != nil || r.passed || !r.ended {
			return r, err
		}
		named := failed.FindStringSubmatch(r.output)
		if named == nil {
			return r, nil
		}

		again, err := run("^" + named[1] + "$")
		if err != nil || !again.passed {
			return again, err
		}
	}

	return r, nil
}

// result is what became of a command.
type result struct {
	passed bool
	ended  bool // in time
	output string
}

// late is what tests say that ended themselves because their time was over.
const late = "panic: test timed out after"

// run runs a command in a directory, and ends what it has started if the time of the context is over. It fails if the command
// cannot be run or the context was ended otherwise.
func (t *tests) run(ctx context.Context, dir string, env []string, name string, args ...string) (result, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out

	err := cmd.Run()
	over := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if err := ctx.Err(); err != nil && !over {
		return result{}, err
	}

	var exit *exec.ExitError
	if err != nil && !over && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return result{}, err
	}
	output := out.String()
	return result{passed: err == nil, ended: !over && !strings.Contains(output, late), output: output}, nil
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
