package native

import "golang.org/x/sys/unix"

// adviseHuge asks for large pages: weights are read from end to end.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
