//go:build !unix

package app

import "os"

// lock only makes the directory: elsewhere nothing stops a second server.
func lock(dir string) (unlock func() error, err error) {
	return func() error { return nil }, os.MkdirAll(dir, 0o700)
}
