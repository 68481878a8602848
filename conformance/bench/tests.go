package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is a way to run tests with a server each. It gives how many milliseconds each of so many took.
type suite func(tests int) ([]float64, error)

// tests measures tests with a server each, in Go and in pytest, beside tests with servers of moto and beside the start of stripe-mock. A
// round of a row has a part of the tests; those of a peer are fewer where each starts a server.
func (b *bench) tests() error {
	b.heading()
	stripe, stripeErr := b.stripeMock()
	python, moto, motoErr := b.python("moto")
	inGo, err := b.testsInGo()
	if err != nil {
		return err
	}

	var goTimes, pythonTimes []float64
	round := func(rows int) int { return max(b.testCount/b.rounds/rows, 1) }
	goTest := medianOf(inGo, round(2), &goTimes)
	fresh := func() (reading, error) {
		took, _, err := firstAnswer(exec.Command(b.berth, "serve", "--json", "--ephemeral", "--listen", "127.0.0.1:0"), 0)
		return reading{value: took}, err
	}
	stripeStart := func() (reading, error) { return b.firstOf(stripeErr, stripe, "-http-addr", "%s") }
	motoStart := func() (reading, error) {
		return b.firstOf(motoErr, python, "-m", "moto.server", "-H", "%h", "-p", "%p")
	}

	rows := []row{
		{name: "first answer after the start, beside stripe-mock", measured: fresh, reference: stripeStart},
		{name: "first answer after the start, beside moto_server", measured: fresh, reference: motoStart},
		{name: "a whole test in Go, beside the first answer of stripe-mock", measured: goTest, reference: stripeStart},
		{name: "a whole test in Go, beside the first answer of moto_server", measured: goTest, reference: motoStart},
	}
	for _, kind := range []struct {
		name, server string
		tests        int
	}{
		{"a moto_server each", "process", min(round(3), 6)},
		{"a ThreadedMotoServer each", "thread", min(round(3), 20)},
		{"one ThreadedMotoServer that is reset", "reset", round(3)},
	} {
		peer := func(tests int) ([]float64, error) {
			return b.testsInPython(motoErr, python, moto, tests, "MOTO="+kind.server)
		}
		rows = append(rows, row{
			name: "a test in pytest, beside " + kind.name, measured: medianOf(b.testsOfPlugin(motoErr, python), round(3), &pythonTimes),
			reference: medianOf(peer, kind.tests, nil),
		})
	}

	for _, r := range rows {
		r.unit = "ms"
		if err := r.print(b); err != nil {
			return err
		}
	}

	b.tail("in Go", goTimes)
	b.tail("in pytest", pythonTimes)
	return nil
}

// tail prints how long the slowest of a hundred tests takes.
func (b *bench) tail(where string, all []float64) {
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	b.number(fmt.Sprintf("tests %s: the 99th of 100, of %d", where, len(all)), "ms", bound{}, all[99*(len(all)-1)/100])
}

// medianOf runs a suite, gives the median, and adds the times to all unless it is nil.
func medianOf(run suite, tests int, all *[]float64) func() (reading, error) {
	return func() (reading, error) {
		took, err := run(tests)
		if err != nil {
			return reading{}, err
		}
		if all != nil {
			*all = append(*all, took...)
		}
		return reading{value: median(took)}, nil
	}
}

// testsInGo builds the tests of conformance/thousand. They fail if they leave anything.
func (b *bench) testsInGo() (suite, error) {
	program := filepath.Join(b.tmp, "thousand.test")
	build := exec.Command("go", "test", "-c", "-trimpath", "-pgo=off", "-o", program, "./conformance/thousand")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the tests in Go: %w: %s", err, out)
	}
	return func(tests int) ([]float64, error) {
		return b.timed(exec.Command(program, "-test.run", "OneForEachTest"), thousand, tests)
	}, nil
}

// thousand is the directory of tests with a server each.
var thousand = filepath.Join("..", "thousand")

// testsOfPlugin runs the tests of conformance/thousand in pytest with that interpreter. They fail if they leave anything.
func (b *bench) testsOfPlugin(without error, python string) suite {
	return func(tests int) ([]float64, error) {
		return b.testsInPython(without, python, thousand, tests, "BERTH="+b.berth, "PYTEST_PLUGINS=pytest_berth.plugin")
	}
}

// testsInPython runs the tests of a directory in pytest, two at a time.
func (b *bench) testsInPython(without error, python, dir string, tests int, environment ...string) ([]float64, error) {
	if without != nil {
		return nil, without
	}
	ours, err := filepath.Abs(thousand)
	if err != nil {
		return nil, err
	}
	plugin, err := filepath.Abs(filepath.Join("..", "..", "deploy", "pytest-berth", "src"))
	if err != nil {
		return nil, err
	}
	environment = append(environment, "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+ours+string(filepath.ListSeparator)+plugin)
	return b.timed(exec.Command(python, "-m", "pytest", "-p", "times", "-p", "no:cacheprovider", "--basetemp", b.directory(), "-n", "2", "-q", "."),
		dir, tests, environment...)
}

// timed runs tests in a directory and gives how many milliseconds each took.
func (b *bench) timed(cmd *exec.Cmd, dir string, tests int, environment ...string) (took []float64, err error) {
	file := b.directory() + ".times"
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "BERTH_TESTS="+strconv.Itoa(tests), "BERTH_TEST_TIMES="+file), environment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the tests of %s: %w: %s", dir, err, out)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		ms, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			return nil, err
		}
		took = append(took, ms)
	}
	if len(took) != tests {
		return nil, fmt.Errorf("the tests of %s: %d of %d were run", dir, len(took), tests)
	}
	return took, nil
}

// stripeMock builds stripe-mock at the version of peer/stripe-mock/go.mod, and gives its path.
func (b *bench) stripeMock() (string, error) {
	dir, err := b.installed("stripe-mock", "go", "build", "-trimpath", "-o", "stripe-mock", "github.com/stripe/stripe-mock")
	return filepath.Join(dir, "stripe-mock"), err
}

// firstOf starts a program that is told its address, %s, or its host and port, %h and %p, and gives the milliseconds to the first answer,
// whatever it is.
func (b *bench) firstOf(without error, program string, words ...string) (reading, error) {
	if without != nil {
		return reading{}, without
	}
	host, port, err := freeAddress()
	if err != nil {
		return reading{}, err
	}
	address := strings.NewReplacer("%s", host+":"+port, "%h", host, "%p", port)
	for i := range words {
		words[i] = address.Replace(words[i])
	}

	start := time.Now()
	cmd := exec.Command(program, words...)
	if err := cmd.Start(); err != nil {
		return reading{}, err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	for ; time.Since(start) < time.Minute; time.Sleep(time.Millisecond) {
		if res, err := http.Get("http://" + host + ":" + port + "/"); err == nil {
			return reading{value: milliseconds(time.Since(start))}, res.Body.Close()
		}
	}
	return reading{}, errors.New(filepath.Base(program) + " did not answer within a minute")
}
