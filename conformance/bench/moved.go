package main

import (
	"math"
	"slices"
)

// doubt is how often a comparison of two equal programs says of one measure that it moved, at most. A run has some forty.
const doubt = 0.002

// leastRounds is how many pairs it takes to say anything with so little doubt: that all of n point the same way by chance has
// the probability 2 * 2^-n.
const leastRounds = 10

// floor is the smallest effect that counts: two builds of one source differ by some of it, by how their code and their data lie.
const floor = 0.03

// measure is what was read of the base and of the working tree, in pairs.
type measure struct {
	name, unit string
	less       bool // is better
	base, tree []float64
	skipped    string // why there is nothing
}

// verdict is what became of a measure.
type verdict string

const (
	same   verdict = "no"
	better verdict = "better"
	worse  verdict = "WORSE"
)

// moved gives the ratio of the working tree to the base with its interval, and whether that is a move: the interval is without 1, and the
// ratio at least the floor away from it. A measure of one pair is a fact, such as a size, and has no interval.
func (m measure) moved() (ratio, low, high float64, v verdict) {
	if len(m.base) == 1 {
		ratio = m.tree[0] / m.base[0]
		low, high = ratio, ratio
	} else {
		ratio, low, high = ratioOf(m.base, m.tree)
	}

	switch more := low > 1 && ratio >= 1+floor; {
	case !more && (high >= 1 || ratio > 1/(1+floor)):
		return ratio, low, high, same
	case more == m.less:
		return ratio, low, high, worse
	default:
		return ratio, low, high, better
	}
}

// ratioOf estimates the ratio of values to those of the base with which they were taken in pairs, and the interval that holds it but for the
// doubt: the estimate of Hodges and Lehmann, and the interval that belongs to the signed-rank test of Wilcoxon, both over the logarithms of
// the pairs' ratios. They ask of the noise only that it hits both sides alike, and a few wild pairs move them little.
func ratioOf(base, tree []float64) (ratio, low, high float64) {
	logs := make([]float64, len(base))
	for i := range base {
		logs[i] = math.Log(tree[i] / base[i])
	}

	var means []float64 // of every two, and of each with itself
	for i, a := range logs {
		for _, b := range logs[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	middle := (means[(len(means)-1)/2] + means[len(means)/2]) / 2
	cut := leastRank(len(logs))
	if cut < 0 {
		return math.Exp(middle), 0, math.Inf(1)
	}

	return math.Exp(middle), math.Exp(means[cut]), math.Exp(means[len(means)-1-cut])
}

// leastRank gives the largest sum of the ranks of those of n pairs that point one way which is too small to be chance; -1 if none is.
func leastRank(n int) int {
	ways := make([]float64, n*(n+1)/2+1) // in how many ways a sum comes about
	ways[0] = 1
	for rank := 1; rank <= n; rank++ {
		for sum := len(ways) - 1; sum >= rank; sum-- {
			ways[sum] += ways[sum-rank]
		}
	}

	all, least := 0.0, -1
	for sum, w := range ways {
		if all += w; 2*all/math.Pow(2, float64(n)) > doubt {
			break
		}
		least = sum
	}
	return least
}
