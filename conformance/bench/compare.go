package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// errWorse is that something became worse than it was at the base.
var errWorse = errors.New("something is worse than at the base")

// comparison holds the working tree's program against that of a commit, the base: both are measured in turn in one run, by this load program.
// Every round has servers of its own, started anew, so that a pair of readings says nothing of the next.
type comparison struct {
	base, tree *bench
	measures   []*measure
	skipped    map[string]bool // rows that the base cannot do
}

// compare measures some parts or all, prints what moved, and fails with errWorse if that is for the worse.
func (b *bench) compare(names []string) error {
	if b.rounds < leastRounds {
		return fmt.Errorf("of %d rounds nothing can be said with so little doubt: a comparison has at least %d", b.rounds, leastRounds)
	}
	for _, name := range names {
		if !slices.Contains(comparedNames(), name) {
			return fmt.Errorf("a comparison has no part %q, but %s", name, strings.Join(comparedNames(), ", "))
		}
	}

	program, name, err := b.ofCommit()
	if err != nil {
		return fmt.Errorf("the base: %w", err)
	}
	base := *b
	base.berth, base.tmp = program, filepath.Join(b.tmp, "base")
	if err := os.Mkdir(base.tmp, 0o700); err != nil {
		return err
	}

	c := comparison{base: &base, tree: b, skipped: map[string]bool{}}
	before := processors()
	for _, p := range comparedParts {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		start := time.Now()
		if err := c.part(p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s took %.0f s\n", p.name, time.Since(start).Seconds())
	}

	var page bytes.Buffer
	about := fmt.Sprintf("Base: %s. %d pairs of %v each, in turn; %d processors, %s/%s; the machine below took %.1f %% of the processors' time.\n\n",
		name, b.rounds, b.length, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, 100*before.stolen(processors()))
	fmt.Print(about)
	page.WriteString(about)
	worse := c.print(os.Stdout, &page)
	if b.page != "" {
		err = os.WriteFile(b.page, page.Bytes(), 0o644)
	}
	if err == nil && worse {
		err = errWorse
	}
	return err
}

// ofCommit builds the base's program from a working tree of its own, which is removed, and gives the program and the commit's name.
func (b *bench) ofCommit() (program, name string, err error) {
	if name, err = b.git("log", "-1", "--format=%h %s", "--end-of-options", b.base); err != nil {
		return "", "", err
	}
	if _, err := b.git("worktree", "add", "--detach", b.source(), b.base); err != nil {
		return "", "", err
	}
	defer b.removeSource()

	program = filepath.Join(b.tmp, "berth")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, "./cmd/berth")
	build.Dir, build.Env = b.source(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return program, name, nil
}

// git asks git about the repository that this directory is in, whoever owns it.
func (b *bench) git(words ...string) (string, error) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	out, err := exec.Command("git", append([]string{"-c", "safe.directory=" + root, "-C", root}, words...)...).CombinedOutput()
	said := strings.TrimSpace(string(out))
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", words[0], err, said)
	}
	return said, err
}

// source is the base's working tree, while it is built.
func (b *bench) source() string { return filepath.Join(b.tmp, "source") }

func (b *bench) removeSource() { _, _ = b.git("worktree", "remove", "--force", b.source()) }

// part measures the rows of a part, in as many rounds as there are.
func (c *comparison) part(p comparedPart) error {
	for round := range c.tree.rounds {
		if err := c.round(p, round); err != nil {
			return err
		}
	}

	if p.name != "start" || !c.tree.named("size of the program") {
		return nil
	}
	size, err := programSize(c.base.berth, c.tree.berth)
	c.measures = append(c.measures, size)
	return err
}

// named reports whether the rows that are asked for have that one.
func (b *bench) named(row string) bool { return strings.Contains(row, b.only) }

// round measures each row of a part once on each side.
func (c *comparison) round(p comparedPart, round int) error {
	if !slices.ContainsFunc(p.rows, func(r comparedRow) bool { return c.wants(r) }) {
		return nil
	}

	sides := [2]*bench{c.base, c.tree}
	var servers [2]*server
	for _, i := range turn(round) {
		if p.serve == nil {
			break
		}
		s, err := p.serve(sides[i])
		if err != nil && i == 0 {
			c.skip(p, func(comparedRow) bool { return true }, fmt.Errorf("its server: %w", err))
			return nil
		}
		if err != nil {
			return err
		}
		defer s.stop()
		servers[i] = s
	}

	for _, r := range p.rows {
		if !c.wants(r) {
			continue
		}
		if err := c.row(p, r, servers, round); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// turn gives the sides, base 0 and tree 1, in the order of a round: who is first changes.
func turn(round int) [2]int { return [2]int{round % 2, 1 - round%2} }

// row measures a row once on each side.
func (c *comparison) row(p comparedPart, r comparedRow, servers [2]*server, round int) error {
	sides, both := [2]*bench{c.base, c.tree}, [2]measured{}
	for i, side := range sides {
		warm := *side
		warm.length = max(side.length/5, 100*time.Millisecond)
		first, err := r.prepare(&warm, servers[i])
		if err == nil && !r.cold {
			_, err = first()
		}
		if err == nil {
			both[i], err = r.prepare(side, servers[i])
		}
		if err != nil && i == 0 {
			c.skip(p, func(other comparedRow) bool { return other.name == r.name }, err)
			return nil
		}
		if err != nil {
			return err
		}
	}

	var readings [2]reading
	for _, i := range turn(round) {
		var err error
		if readings[i], err = both[i](); err != nil {
			return err
		}
	}

	c.add(r.name, r.unit, r.less, readings[0].value, readings[1].value)
	c.add(r.name+": server CPU", "µs each", true, readings[0].cpu, readings[1].cpu)
	c.add(r.name+": allocations", "each", true, readings[0].allocations, readings[1].allocations)
	for _, s := range servers {
		if s == nil {
			continue
		}
		if err := s.purge(); err != nil {
			return err
		}
		s.awaitIdle()
	}
	return nil
}

// add adds a pair to a measure. What one of them cannot tell is 0, and is left out.
func (c *comparison) add(name, unit string, less bool, base, tree float64) {
	if base <= 0 || tree <= 0 {
		return
	}
	i := slices.IndexFunc(c.measures, func(m *measure) bool { return m.name == name })
	if i < 0 {
		i, c.measures = len(c.measures), append(c.measures, &measure{name: name, unit: unit, less: less})
	}
	m := c.measures[i]
	m.base, m.tree = append(m.base, base), append(m.tree, tree)
}

// skip leaves out the rows of a part that the base cannot do.
func (c *comparison) skip(p comparedPart, of func(comparedRow) bool, why error) {
	for _, r := range p.rows {
		if c.wants(r) && of(r) {
			c.skipped[r.name] = true
			c.measures = slices.DeleteFunc(c.measures, func(m *measure) bool { return m.name == r.name || strings.HasPrefix(m.name, r.name+": ") })
			c.measures = append(c.measures, &measure{name: r.name, skipped: "the base: " + why.Error()})
		}
	}
}

// wants reports whether a row is to be measured.
func (c *comparison) wants(r comparedRow) bool { return c.tree.named(r.name) && !c.skipped[r.name] }

// print prints a table as text and one in Markdown, and reports whether anything is worse.
func (c *comparison) print(text, page io.Writer) (isWorse bool) {
	table := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROW\tBASE\tNOW\tUNIT\tRATIO\tINTERVAL\tMOVED")
	fmt.Fprintln(page, "| | base | now | unit | ratio | interval | moved |")
	fmt.Fprintln(page, "|---|---|---|---|---|---|---|")

	for _, m := range c.measures {
		if m.skipped != "" {
			fmt.Fprintf(table, "%s\tSKIPPED: %s\n", m.name, m.skipped)
			fmt.Fprintf(page, "| %s | SKIPPED: %s | | | | | |\n", m.name, strings.ReplaceAll(m.skipped, "|", "\\|"))
			continue
		}

		ratio, low, high, v := m.moved()
		isWorse = isWorse || v == worse
		values := []any{m.name, median(m.base), median(m.tree), m.unit, ratio, low, high, v}
		fmt.Fprintf(table, "%s\t%.5g\t%.5g\t%s\t%.3f\t%.3f to %.3f\t%s\n", values...)
		fmt.Fprintf(page, "| %s | %.5g | %.5g | %s | %.3f | %.3f to %.3f | %s |\n", values...)
	}

	_ = table.Flush()
	return isWorse
}
