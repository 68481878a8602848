package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// unmapProgram gives back the pages of the program's own file that are mapped into the process. A start touches most of them once,
// the system maps their neighbours with each, and hardly any is needed again; what is comes back from the system's cache when it
// is touched. Only what was never written to is given back, since all else would be lost: code and constants of a program without
// relocations.
func unmapProgram() {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = maps.Close() }()

	var start, end uint64 // of the mapping that is read about; none where it is not to be given back
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 6 && strings.Contains(fields[0], "-"):
			start, end = 0, 0
			if first, last, _ := strings.Cut(fields[0], "-"); fields[5] == self && !strings.Contains(fields[1], "w") {
				start, _ = strconv.ParseUint(first, 16, 64)
				end, _ = strconv.ParseUint(last, 16, 64)
			}
		case len(fields) >= 2 && fields[0] == "Anonymous:" && fields[1] == "0" && end > start:
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(start), uintptr(end-start), syscall.MADV_DONTNEED)
		}
	}
}
