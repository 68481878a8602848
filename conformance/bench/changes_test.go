package main

import (
	"strings"
	"testing"
)

func TestFailure_NamesTheTestsThatFailedAboveTheEnd(t *testing.T) {
	t.Parallel()
	out := "ok  \ta\n--- FAIL: TestX (0.01s)\n    --- FAIL: TestX/y (0.00s)\n        x_test.go:5: 1 is not 2\nFAIL\tb\n" + strings.Repeat("ok  \tc\n", 1000) + "make: *** [test] Error 1\n"
	said := string(failure([]byte(out)))
	if !strings.HasPrefix(said, "--- FAIL: TestX (0.01s)\n    --- FAIL: TestX/y (0.00s)\n        x_test.go:5: 1 is not 2\n") || !strings.HasSuffix(said, "Error 1\n") {
		t.Error(said)
	}
	if strings.Contains(said, "ok  \ta") {
		t.Error("the beginning is no failure")
	}
	if said := string(failure([]byte("short"))); said != "short" {
		t.Error(said)
	}
}
