//go:build unix

// Command mutate measures what the tests see. It plants mutants in what people wrote, one change of one place each, and runs the
// tests of the package and then the conformance rules against each. A mutant that fails one of them, or does not come to its end, is
// killed; one that survives is a line that may say something else without anybody noticing. The seed chooses the mutants: the same
// seed over the same files chooses the same ones.
//
// The tree is not touched: the changed file is laid over the other one by go test -overlay. Mutants that change nothing that could
// be seen are listed in equivalent.txt, with the reason, and are not counted.
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
	"strings"
	"syscall"
	"time"
)

// rooms are the folders that people write and whose tests are to see every change.
const rooms = "impl/control,impl/queue,impl/httpapi,graphql,store,cmd/validgen,impl/loop"

func main() {
	c := campaign{out: os.Stdout}
	flag.Uint64Var(&c.seed, "seed", 1, "chooses the mutants")
	flag.IntVar(&c.count, "mutants", 200, "how many mutants to test")
	flag.IntVar(&c.from, "from", 0, "leave out those before this place in the order, to go on where an earlier run ended")
	flag.DurationVar(&c.time, "timeout", 5*time.Minute, "how long the tests of a mutant may take, each of the two kinds")
	flag.Float64Var(&c.least, "least", 0, "fail if fewer of a hundred are killed")
	flag.StringVar(&c.root, "root", ".", "the root of the module")
	flag.StringVar(&c.then, "then", "./conformance", "the package whose tests run where those of the mutant's own package passed; empty: none")
	folders := flag.String("rooms", rooms, "where to plant mutants: folders, with commas between them")
	flag.Parse()
	c.rooms = strings.Split(*folders, ",")

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
	root  string
	rooms []string
	seed  uint64
	count int
	from  int // the first place in the order
	time  time.Duration
	then  string
	least float64 // percent
	out   io.Writer
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
	tests, err := newTests(c.root, c.then, c.time)
	if err != nil {
		return err
	}

	defer tests.close()

	fmt.Fprintf(c.out, "%d places can change in %s; seed %d\n", len(all), strings.Join(c.rooms, ", "), c.seed)
	tested, killed, same := 0, 0, 0
	var survivors []mutant
	for place, m := range all {
		if place < c.from {
			continue
		}
		if tested == c.count {
			break
		}
		if equivalent[m.key()] {
			same++
			continue
		}

		start := time.Now()
		verdict, err := tests.try(ctx, m)
		if err != nil {
			return err
		}
		if verdict == unbuilt {
			continue // the compiler sees it: it is no mutant
		}

		tested++
		fmt.Fprintf(c.out, "%3d %-24s %4.0f s  %s:%d: %s\n", place, verdict, time.Since(start).Seconds(), m.file, m.line, m.change())
		if verdict == survived {
			survivors = append(survivors, m)
		} else {
			killed++
		}
	}

	return c.report(tested, killed, same, survivors)
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
