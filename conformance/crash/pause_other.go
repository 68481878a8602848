//go:build !unix

package main

import (
	"errors"
	"os"
)

// canPause reports whether a process can be paused here.
const canPause = false

func stopProcess(*os.Process) error { return errors.ErrUnsupported }

func continueProcess(*os.Process) error { return errors.ErrUnsupported }
