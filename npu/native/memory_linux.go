package native

import "golang.org/x/sys/unix"

// adviseHuge asks for large pages, since weights are read in order.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
