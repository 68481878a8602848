package limit

import "golang.org/x/sys/unix"

// established is the state of a TCP connection whose sides are both open.
const established = 1

// halfClosed reports whether the other side of a TCP connection has closed it, though not all that it sent has been read.
func halfClosed(fd int) bool {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	return err == nil && info.State != established
}
