package faulttest

import (
	"testing"

	"github.com/berthdev/berth/store/internal/statements"
)

// FailStatements has fail decide of every statement of every store of this process, until the test ends, whether it fails. Tests beside it
// would see that, too: it is for those that run alone.
func FailStatements(t testing.TB, fail func(query string) error) {
	statements.Fail.Store(&fail)
	t.Cleanup(func() { statements.Fail.Store(nil) })
}
