// Package storetest is the one suite that every store must pass.
package storetest
