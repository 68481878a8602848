package main

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// pairs makes so many pairs of noisy numbers, whose tree is the base times the ratio, with the noise that both share and that of each.
func pairs(random *rand.Rand, n int, ratio, shared, own float64) (base, tree []float64) {
	for range n {
		machine := 1000 * math.Exp(shared*random.NormFloat64())
		base = append(base, machine*math.Exp(own*random.NormFloat64()))
		tree = append(tree, ratio*machine*math.Exp(own*random.NormFloat64()))
	}
	return base, tree
}

// The probabilities are those of the exact distribution: 2 * (number of subsets of 1..n whose sum is at most w) / 2^n.
func TestLeastRank(t *testing.T) {
	for n, want := range map[int]int{1: -1, 9: -1, 10: 0, 11: 1, 12: 2, 20: 26} {
		if got := leastRank(n); got != want {
			t.Errorf("leastRank(%d) = %d, not %d", n, got, want)
		}
	}
	if leastRank(leastRounds) < 0 || leastRank(leastRounds-1) >= 0 {
		t.Errorf("%d is not the least number of rounds", leastRounds)
	}
}

func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		ratio, shared, own float64
		less               bool
		want               verdict
	}{
		"a machine whose speed changes all the time": {1, 0.5, 0.02, false, same},
		"a rate that falls":                          {0.9, 0.5, 0.02, false, worse},
		"a rate that rises":                          {1.1, 0.5, 0.02, false, better},
		"a time that rises":                          {1.1, 0.5, 0.02, true, worse},
		"a time that falls":                          {0.9, 0.5, 0.02, true, better},
		"less than the floor":                        {0.98, 0, 0.001, false, same},
		"less than the noise":                        {0.95, 0, 0.3, false, same},
	} {
		t.Run(name, func(t *testing.T) {
			base, tree := pairs(rand.New(rand.NewPCG(1, 2)), 12, c.ratio, c.shared, c.own)
			ratio, low, high, v := measure{less: c.less, base: base, tree: tree}.moved()
			if v != c.want {
				t.Errorf("%s, not %s: %g, %g to %g", v, c.want, ratio, low, high)
			}
			if low > c.ratio || high < c.ratio || ratio < low || ratio > high {
				t.Errorf("%g, %g to %g are not about %g", ratio, low, high, c.ratio)
			}
		})
	}
}

// One pair in which the machine did something else neither hides a move nor makes one.
func TestMoved_WildPair(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, wild := range []float64{0.01, 100} {
		base, tree := pairs(random, 12, 1, 0, 0.02)
		tree[5] *= wild
		if ratio, _, _, v := (measure{base: base, tree: tree}).moved(); v != same {
			t.Errorf("%s by one pair: %g", v, ratio)
		}

		base, tree = pairs(random, 12, 0.8, 0, 0.02)
		tree[5] *= 1.2
		if ratio, _, _, v := (measure{base: base, tree: tree}).moved(); v != worse {
			t.Errorf("%s for one pair: %g", v, ratio)
		}
	}
}

// Of equal programs it says seldom that one is slower, however large the noise.
func TestMoved_FalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const runs = 5000
	alarms := 0
	for range runs {
		base, tree := pairs(random, 12, 1, 0.3, 0.2)
		if _, _, _, v := (measure{base: base, tree: tree}).moved(); v != same {
			alarms++
		}
	}
	if float64(alarms) > 2*doubt*runs {
		t.Errorf("%d of %d", alarms, runs)
	}
}

func TestMoved_Fact(t *testing.T) {
	for size, want := range map[float64]verdict{40: same, 41: same, 42: worse, 38: better} {
		if _, _, _, v := (measure{less: true, base: []float64{40}, tree: []float64{size}}).moved(); v != want {
			t.Errorf("40 to %g MB: %s, not %s", size, v, want)
		}
	}
}

func TestComparison_Prints(t *testing.T) {
	c := comparison{measures: []*measure{
		{name: "size", unit: "MB", less: true, base: []float64{40}, tree: []float64{30}},
		{name: "stream", skipped: "the base has no | stream"},
	}}

	var text, page bytes.Buffer
	if c.print(&text, &page) {
		t.Error("worse, though nothing is")
	}
	for _, want := range []string{"size", "0.75", "better", "SKIPPED: the base has no | stream"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, &text)
		}
	}
	if want := `SKIPPED: the base has no \| stream`; !strings.Contains(page.String(), want) {
		t.Errorf("no %q in %s", want, &page)
	}

	c.measures = append(c.measures, &measure{name: "time", unit: "ms", less: true, base: []float64{1}, tree: []float64{2}})
	if !c.print(&text, &page) {
		t.Error("a time has doubled, and nothing is worse")
	}
}
