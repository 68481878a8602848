package main

import (
	"fmt"
	"slices"
	"strings"
)

// reading is what one measurement gave.
type reading struct {
	value float64
	units int64
	cpu   float64 // µs of the server's processor time for one unit: steady where others use the machine, too

	allocations float64 // of the server for one unit; 0 where it does not count them
}

// bound is what is asked of a number. The zero value asks nothing.
type bound struct {
	sign  string // ≥, ≤ or <
	limit float64
}

func atLeast(limit float64) bound { return bound{"≥", limit} }
func atMost(limit float64) bound  { return bound{"≤", limit} }
func below(limit float64) bound   { return bound{"<", limit} }

func (a bound) String() string {
	if a.sign == "" {
		return ""
	}
	return fmt.Sprintf("%s %g", a.sign, a.limit)
}

// holds says yes or NO; nothing where nothing is asked.
func (a bound) holds(value float64) string {
	ok := false
	switch a.sign {
	case "":
		return ""
	case "≥":
		ok = value >= a.limit
	case "≤":
		ok = value <= a.limit
	case "<":
		ok = value < a.limit
	}

	if ok {
		return "yes"
	}
	return "NO"
}

// row is one measurement beside its reference.
type row struct {
	name      string
	reference func() (reading, error)
	measured  func() (reading, error)
	unit      string
	asked     bound // of the ratio, measured to reference
	absolute  bool  // asked is of what was measured, not of the ratio
}

// heading begins the table of a part.
func (b *bench) heading() {
	fmt.Fprintln(b.out, "| | ratio or result | smallest to largest | asked | holds | measured | reference | unit | server CPU µs, measured / reference | to repeat |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|---|---|")
}

// wants reports whether the row is to be measured in this run.
func (b *bench) wants(name string) bool { return !b.part.alone || strings.Contains(name, b.only) }

// repeat is the command that measures a row alone, or its part where that has no rows that can be.
func (b *bench) repeat(name string) string {
	if !b.part.alone {
		return fmt.Sprintf("`make bench PARTS=%s`", b.part.name)
	}
	return fmt.Sprintf("`make bench PARTS=%s ROW='%s'`", b.part.name, name)
}

// print measures reference and measured in turn, and prints the median of the rounds' ratios. It fails only if what is measured
// does: a row whose reference does is SKIPPED.
func (r row) print(b *bench) error {
	if !b.wants(r.name) {
		return nil
	}

	var references, measured []reading
	for round := range b.rounds + 1 {
		reference, err := r.reference()
		if err != nil {
			b.skipped(r.name, fmt.Sprintf("the reference failed: %v", err))
			return nil
		}

		m, err := r.measured()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if round > 0 { // the first warms caches and connections
			references, measured = append(references, reference), append(measured, m)
		}
	}

	r.report(b, references, measured)
	return nil
}

// report prints the row of readings that were taken in pairs.
func (r row) report(b *bench, references, measured []reading) {
	ratios := make([]float64, len(measured))
	for i := range measured {
		ratios[i] = measured[i].value / references[i].value
	}
	value := func(r reading) float64 { return r.value }
	cpu := func(r reading) float64 { return r.cpu }
	used := ""
	if m := middle(measured, cpu); m > 0 {
		used = fmt.Sprintf("%.1f / %.1f", m, middle(references, cpu))
	}

	ratio := median(ratios)
	judged, asked := ratio, r.asked.String()
	if r.absolute {
		judged, asked = middle(measured, value), fmt.Sprintf("%s %s", r.asked, r.unit)
	}
	holds := r.asked.holds(judged)
	b.judged(r.name, holds, judged)
	fmt.Fprintf(b.out, "| %s | %.3g | %.3g to %.3g | %s | %s | %.5g | %.5g | %s | %s | %s |\n", r.name, ratio, slices.Min(ratios), slices.Max(ratios),
		asked, holds, middle(measured, value), middle(references, value), r.unit, used, b.repeat(r.name))
}

// number prints a row of a number that has no reference: the median of several.
func (b *bench) number(name, unit string, asked bound, values ...float64) {
	if !b.wants(name) {
		return
	}
	spread := ""
	if len(values) > 1 {
		spread = fmt.Sprintf("%.3g to %.3g", slices.Min(values), slices.Max(values))
	}
	value := median(values)
	b.judged(name, asked.holds(value), value)
	fmt.Fprintf(b.out, "| %s | %.4g %s | %s | %s | %s | | | | | %s |\n", name, value, unit, spread, asked, asked.holds(value), b.repeat(name))
}

// result prints a row whose result is given in words.
func (b *bench) result(name, format string, values ...any) {
	fmt.Fprintf(b.out, "| %s | %s | | | | | | | | %s |\n", name, fmt.Sprintf(format, values...), b.repeat(name))
}

// skipped prints a row that cannot be measured here.
func (b *bench) skipped(name, reason string) {
	if !b.wants(name) {
		return
	}
	words := strings.Fields(strings.ReplaceAll(reason, "|", "/"))
	if len(words) > 40 { // the output of a tool that failed
		words = append(words[:40], "…")
	}
	fmt.Fprintf(b.out, "| %s | SKIPPED: %s | | | | | | | | %s |\n", name, strings.Join(words, " "), b.repeat(name))
}

func middle(readings []reading, of func(reading) float64) float64 {
	values := make([]float64, len(readings))
	for i, r := range readings {
		values[i] = of(r)
	}
	return median(values)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
