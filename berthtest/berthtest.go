// Package berthtest gives a test a server of its own.
package berthtest

import (
	"testing"

	"github.com/berthdev/berth"
)

// Start starts a server that is closed when the test ends. A server that cannot be started, or not closed, fails the test.
func Start(t testing.TB, o berth.Options) *berth.Server {
	t.Helper()
	s, err := berth.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start berth: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close berth: %v", err)
		}
	})
	return s
}
