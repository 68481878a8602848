// Package statements has tests fail what a store asks of its database, statement by statement. Outside of tests nothing sets it.
package statements

import "sync/atomic"

// Fail, if there is one, is asked before each statement, and its error is the statement's. It is called by many goroutines.
var Fail atomic.Pointer[func(query string) error]
