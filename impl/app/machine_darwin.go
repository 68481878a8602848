package app

import "golang.org/x/sys/unix"

// machineBytes gives the memory of this machine and what is free of the disk that the directory is on.
func machineBytes(dir string) (memory, disk uint64, err error) {
	if memory, err = unix.SysctlUint64("hw.memsize"); err != nil {
		return 0, 0, err
	}
	var files unix.Statfs_t
	if err := unix.Statfs(dir, &files); err != nil {
		return 0, 0, err
	}
	return memory, files.Bavail * uint64(files.Bsize), nil
}
