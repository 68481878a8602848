package main

import (
	"errors"
	"fmt"
	"sync"
)

// together is all of it at once, but for the output that readers ask for, which comes first: the stalled uploads of the same key take
// all the room that it has.
func (s *server) together(by settings) (string, error) {
	output, err := s.largeOutput(1)
	if err != nil {
		return "", err
	}
	ready := func(int) (string, error) { return output, nil }
	var all sync.WaitGroup

	errs := make([]error, 6)
	for i, do := range []func() (string, error){
		func() (string, error) { return s.idle(by.idle / 4) },
		func() (string, error) { return s.halfHeaders(by.half / 4) },
		func() (string, error) { return s.halfBodies(by.half / 4) },
		func() (string, error) { return s.uploads(by.uploads / 2) },
		func() (string, error) { return s.readers(by.readers, ready) },
		func() (string, error) {
			for _, d := range documents() {
				if _, err := s.documents(d, by.each/4); err != nil {
					return "", fmt.Errorf("%s: %w", d.name, err)
				}
			}
			return "", nil
		},
	} {
		all.Go(func() { _, errs[i] = do() })
	}

	all.Wait()
	return "all of it ended", errors.Join(errs...)
}
