// Package spelling finds the name that may have been meant by one that there is not.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// Closest gives the names, those first that differ the least from the one that was written, and else in the order of the alphabet.
func Closest(written string, names []string) []string {
	distances := map[string]int{}
	for _, name := range names {
		distances[name] = Distance(strings.ToLower(written), strings.ToLower(name))
	}
	return slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
}

// Distance is how many letters are to be added, taken away or replaced to make b of a.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}

	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, row[j]+1, before+1)
		}
	}

	return row[len(b)]
}
