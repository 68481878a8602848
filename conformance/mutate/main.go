//go:build unix

// Command mutate measures what the tests see. It plants mutants in what people wrote, one change of one place each, and runs the
// tests of the package and then the conformance rules against each. A mutant that fails one of them, or does not come to its end, is
// killed; one that survives is a line that may say something else without anybody noticing. The seed chooses the mutants: the same
// seed over the same files chooses the same ones.
//
// The tree is not touched: changed files are laid over the others by the go command's -overlay. One program is compiled for all mutants
// that are in functions, and is the one that a variable of its environment says; a mutant elsewhere, in a constant, has a program of its
// own. Mutants that change nothing that could be seen are listed in equivalent.txt, with the reason, and are not counted.
//
// No tool that is kept does this: those for Go know the tests of the package alone, which is half of ours, and work on copies of the
// tree or choose no sample.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// rooms are the folders that people write and whose tests are to see every change.
const rooms = "impl/control,impl/queue,impl/httpapi,graphql,store,cmd/validgen,impl/loop"

func main() {
	c := campaign{out: os.Stdout}
	flag.Uint64Var(&c.seed, "seed", 1, "chooses the mutants")
	flag.IntVar(&c.count, "mutants", 200, "how many mutants to test")
	flag.IntVar(&c.from, "from", 0, "leave out those before this place in the order, to go on where an earlier run ended")
	flag.IntVar(&c.beside, "parallel", runtime.NumCPU(), "how many mutants are tested at once")
	flag.DurationVar(&c.grace, "grace", 30*time.Second, "how much longer than 4 times what they take without a mutant tests may take with one")
	flag.Float64Var(&c.least, "least", 0, "fail if fewer of a hundred are killed")
	flag.StringVar(&c.root, "root", ".", "the root of the module")
	flag.StringVar(&c.then, "then", "./conformance", "the package whose tests run where those of the mutant's own package passed; empty: none")
	flag.StringVar(&c.only, "then-run", "^TestRules_HoldOnBerth$", "which tests of that package, as -run of go test: the others judge the same rules elsewhere, or the rules themselves")
	folders := flag.String("rooms", rooms, "where to plant mutants: folders, with commas between them")
	flag.Parse()
	c.rooms = strings.Split(*folders, ",")

	// A mutant may take memory without end. What a process may address, its children may.
	most := syscall.Rlimit{Cur: 8 << 30, Max: 8 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &most); err != nil {
		fmt.Fprintln(os.Stderr, "mutate: nothing bounds the memory of a mutant:", err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := c.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

// campaign is one run over a sample.
type campaign struct {
	root   string
	rooms  []string
	seed   uint64
	count  int
	from   int // the first place in the order
	beside int // how many at once
	then   string
	only   string // which tests of it
	grace  time.Duration
	least  float64 // percent
	out    io.Writer
}

// run tests the sample and reports. It fails if too few are killed, if the tests fail without any mutant, or if the context ends.
func (c *campaign) run(ctx context.Context) error {
	all, err := mutantsOf(c.root, c.rooms)
	if err != nil {
		return err
	}
	equivalent, err := readEquivalent(c.root)
	if err != nil {
		return err
	}

	rand.New(rand.NewPCG(c.seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // G404: an order, which must be the same again with the same seed
	tests, err := newTests(c.root, c.then, c.only, c.grace)
	if err != nil {
		return err
	}
	defer tests.close()

	fmt.Fprintf(c.out, "%d places can change in %s; seed %d\n", len(all), strings.Join(c.rooms, ", "), c.seed)
	s := sample{campaign: c, tests: tests, all: all, next: c.from}
	for s.tested < c.count && s.next < len(all) {
		if err := s.some(ctx, equivalent); err != nil {
			return err
		}
	}
	return c.report(s.tested, s.killed, s.same, s.survivors)
}

// sample is the state of a run.
type sample struct {
	*campaign
	tests *tests
	all   []mutant
	next  int // the place of the first that was not chosen yet
	same  int // that change nothing

	mu             sync.Mutex
	tested, killed int
	survivors      []mutant
}

// some takes as many of the order as are missing, and tests those of them that compile: those in functions in one program, each
// other one in its own.
func (s *sample) some(ctx context.Context, equivalent map[string]bool) error {
	inFunctions := map[int]mutant{}
	var chosen []int
	for ; len(chosen) < s.count-s.tested && s.next < len(s.all); s.next++ {
		m := s.all[s.next]
		if equivalent[m.key()] {
			s.same++
			continue
		}
		chosen = append(chosen, s.next)
		if m.in != nil {
			inFunctions[s.next+1] = m
		}
	}

	together, err := s.tests.inOne(ctx, inFunctions)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, s.beside))
	for _, place := range chosen {
		m, n := s.all[place], place+1
		if _, built := inFunctions[n]; m.in != nil && !built {
			continue // the compiler sees it: it is no mutant
		}

		group.Go(func() error {
			start, p, err := time.Now(), together, error(nil)
			if m.in == nil {
				p, err = s.tests.alone(m)
			}
			if err != nil {
				return err
			}
			verdict, err := s.tests.try(ctx, p, n, m)
			if err == nil {
				s.took(place, m, verdict, time.Since(start))
			}
			return err
		})
	}
	return group.Wait()
}

// took takes in a verdict, and prints it.
func (s *sample) took(place int, m mutant, v verdict, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v == unbuilt {
		return
	}

	s.tested++
	fmt.Fprintf(s.out, "%3d %-24s %4.0f s  %s:%d: %s\n", place, v, took.Seconds(), m.file, m.line, m.change())
	if v == survived {
		s.survivors = append(s.survivors, m)
	} else {
		s.killed++
	}
}

func (c *campaign) report(tested, killed, same int, survivors []mutant) error {
	if tested == 0 {
		return errors.New("there is nothing to change")
	}
	share := 100 * float64(killed) / float64(tested)
	fmt.Fprintf(c.out, "\n%d of %d killed, %.1f %%; %d that change nothing were left out\n", killed, tested, share, same)
	for _, m := range survivors {
		fmt.Fprintf(c.out, "survived: %s:%d: %s\n          %s\n", m.file, m.line, m.change(), m.context)
	}
	if share < c.least {
		return fmt.Errorf("%.1f %% were killed, less than %g %%", share, c.least)
	}
	return nil
}
