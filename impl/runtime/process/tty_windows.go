package process

import (
	"os"
	"syscall"

	"github.com/berthdev/berth/impl/runtime"
)

func openTTY(*syscall.SysProcAttr, runtime.Size) (ours, theirs *os.File, err error) {
	return nil, nil, errWindows
}

func resize(*os.File, runtime.Size) error { return errWindows }
