package history

import (
	"slices"
	"time"
)

// Sample is how something stood from a time on, until the next sample.
type Sample[T any] struct {
	At time.Time // of day
	Is T
}

// series are samples, oldest first.
type series[T any] struct{ samples []Sample[T] }

// add adds a sample, unless it is as the last one, and forgets those that were over a Span ago, and those that are not before it: of the same
// moment the last one counts, and where the clock was set back, what is to come has not been.
func (s *series[T]) add(at time.Time, v T, same func(a, b T) bool) {
	for n := len(s.samples); n > 0 && !s.samples[n-1].At.Before(at); n-- {
		s.samples = s.samples[:n-1]
	}
	if n := len(s.samples); n == 0 || !same(s.samples[n-1].Is, v) {
		s.samples = append(s.samples, Sample[T]{at, v})
	}
	old := 0
	for old+1 < len(s.samples) && (at.Sub(s.samples[old+1].At) >= Span || len(s.samples)-old > int(Span/Tick)) {
		old++ // the next one held before the Span began
	}
	s.samples = slices.Delete(s.samples, 0, old)
}

// all gives the samples; of nil none.
func (s *series[T]) all() []Sample[T] {
	if s == nil {
		return nil
	}
	return slices.Clone(s.samples)
}

// keep adds a sample to the series of the key, unless there are enough others.
func keep[K comparable, T any](all map[K]*series[T], key K, at time.Time, v T, same func(a, b T) bool) {
	if all[key] == nil {
		if len(all) >= Most {
			return
		}
		all[key] = &series[T]{}
	}
	all[key].add(at, v, same)
}

// forget forgets the series of what is no more.
func forget[K comparable, T any](all map[K]*series[T], is func(K) bool) {
	for key := range all {
		if !is(key) {
			delete(all, key)
		}
	}
}
