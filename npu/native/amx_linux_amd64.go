package native

import "golang.org/x/sys/unix"

// allowTiles asks Linux for the state of tile registers, 8 kB that it saves for each thread that uses them.
func allowTiles() bool {
	const requestPermission, tileData = 0x1023, 18 // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
	_, _, err := unix.RawSyscall(unix.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return err == 0
}
