//go:build !unix

package app

import "io/fs"

// Elsewhere the modes and owners of files say nothing.
func openToOthers(fs.FileInfo) bool { return false }

func checkOwner(string, string, fs.FileInfo) error { return nil }

func giveToOwner(...string) error { return nil }

// errLocked says that a server has the directory.
type errLocked struct{ dir, who string }

func (e errLocked) Error() string { return "another berth is serving from " + e.dir }

// lock does nothing: elsewhere nothing stops a second server.
func lock(string, string) (unlock func() error, err error) { return func() error { return nil }, nil }
