// Package berthtest gives a test a server of its own.
package berthtest

import (
	"context"
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

// Verify fails the test for each expectation that the requests which came to the server do not meet, with the request that comes nearest.
func Verify(t testing.TB, s *berth.Server, expectations ...berth.Expectation) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // which has ended in what t.Cleanup runs
	result, err := s.Journal().Verify(ctx, berth.Verification{Expectations: expectations})
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	for _, f := range result.Failures {
		t.Errorf("%s", f.Says)
		if f.Nearest == nil {
			continue
		}
		for _, d := range f.Nearest.Differences {
			t.Errorf("  the nearest request, number %d: %s is %s, expected %s", f.Nearest.Number, d.Member, d.Found, d.Expected)
		}
	}
}
