package kubernetes

import (
	"math"
	"strconv"
	"strings"
)

// quantity is an amount as the API writes it: 2, 500m, 64Gi, 1e3.
type quantity string

// suffixes are what the number of a quantity is multiplied by.
var suffixes = map[string]float64{
	"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

// value gives the amount; 0 for what is none.
func (q quantity) value() float64 {
	text := string(q)
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		return n // with an exponent, too
	}

	end := strings.LastIndexAny(text, "0123456789.") + 1
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0
	}
	return n * suffixes[text[end:]]
}

// units writes an amount with a suffix: units(64, "Gi").
func units(n int64, suffix string) quantity {
	return quantity(strconv.FormatInt(n, 10) + suffix)
}
