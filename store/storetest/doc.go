// Package storetest is the one suite that every store must pass, and the clock that it sets.
package storetest
