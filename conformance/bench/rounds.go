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
}

// row is one measurement beside its reference.
type row struct {
	name      string
	reference func() (reading, error)
	measured  func() (reading, error)
	unit      string
}

// header begins a table of rows.
func header() {
	fmt.Println("| | ratio, median | smallest to largest | measured | reference | unit | server CPU µs | reference |\n|---|---|---|---|---|---|---|---|")
}

// print measures reference and measured in turn, and prints the median of the rounds' ratios.
func (r row) print(b *bench) error {
	if !strings.Contains(r.name, b.only) {
		return nil
	}
	var ratios, references, measured, cpuReferences, cpuMeasured []float64
	for round := range b.rounds + 1 {
		reference, err := r.reference()
		if err != nil {
			return fmt.Errorf("%s: reference: %w", r.name, err)
		}
		m, err := r.measured()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		if round == 0 {
			continue // warms caches and connections
		}
		ratios = append(ratios, m.value/reference.value)
		references, measured = append(references, reference.value), append(measured, m.value)
		cpuReferences, cpuMeasured = append(cpuReferences, reference.cpu), append(cpuMeasured, m.cpu)
	}
	fmt.Printf("| %s | %.3g | %.3g–%.3g | %.5g | %.5g | %s | %.1f | %.1f |\n", r.name, median(ratios), slices.Min(ratios), slices.Max(ratios),
		median(measured), median(references), r.unit, median(cpuMeasured), median(cpuReferences))
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
