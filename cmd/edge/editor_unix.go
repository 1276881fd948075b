//go:build unix

package main

import "golang.org/x/sys/unix"

// typedAhead returns what was typed on a terminal and not read yet. It does not wait.
func typedAhead(fd int) (keys []byte) {
	buf := make([]byte, 4096)
	for len(keys) < 1<<16 {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); err != nil || n == 0 || ready[0].Revents&unix.POLLIN == 0 {
			break
		}
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			break
		}
		keys = append(keys, buf[:n]...)
	}
	return keys
}
