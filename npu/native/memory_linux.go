package native

import "golang.org/x/sys/unix"

// adviseHuge asks the kernel for huge pages, because weights are read sequentially.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
