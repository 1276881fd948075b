package native

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adviseHuge asks the kernel for huge pages, because weights are read sequentially.
func adviseHuge(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// memoryLeft returns how many bytes of memory are available to processes, counting cached file pages that can be dropped,
// and how many there are in total, within the limits of the machine and of the control group.
func memoryLeft() (left, all int64, known bool) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0, false
	}
	left, all = 1<<10*field(info, "MemAvailable:"), 1<<10*field(info, "MemTotal:")
	const group = "/sys/fs/cgroup/memory."
	limit, used, stat := number(group+"max"), number(group+"current"), []byte(nil)
	if limit > 0 && limit < all {
		stat, _ = os.ReadFile(group + "stat")
		all, left = limit, min(left, limit-used+field(stat, "inactive_file")+field(stat, "active_file"))
	}
	return left, all, all > 0
}

// field returns the number after a name at the beginning of a line, 0 if there is none.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

// number returns the number that a file holds, 0 if it holds none.
func number(file string) int64 {
	text, _ := os.ReadFile(file)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
