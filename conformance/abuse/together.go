package main

import (
	"errors"
	"fmt"
	"sync"
)

// together is all of it at once.
func (s *server) together(by settings) (string, error) {
	var all sync.WaitGroup
	errs := make([]error, 6)
	for i, do := range []func() (string, error){
		func() (string, error) { return s.idle(by.idle / 4) },
		func() (string, error) { return s.halfHeaders(by.half / 4) },
		func() (string, error) { return s.halfBodies(by.half / 4) },
		func() (string, error) { return s.uploads(by.uploads / 2) },
		func() (string, error) { return s.readers(by.readers, s.largeOutput) },
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
