#!/bin/sh
# Runs the tests of netem, and of the command "edge netem", on a kernel that has sch_netem: Debian's, in an emulated machine.
# Needs no KVM and no root. The exit status is 77 where QEMU or the kernel's package is not to be had.
#
#   netem/vm.sh                                 the tests whose names contain Kernel
#   netem/vm.sh -test.v -test.run Replaces      with flags of the tests' programs
#
# Needs Debian on amd64, with Go and: apt-get install --no-install-recommends qemu-system-x86 cpio busybox-static
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- -test.v -test.run Kernel

absent() { echo "SKIPPED: $*"; exit 77; }
for tool in qemu-system-x86_64 cpio apt-get dpkg-deb; do
	command -v $tool >/dev/null || absent "$tool is not installed"
done
[ "$(dpkg --print-architecture)" = amd64 ] || absent "the emulated machine is for amd64"
busybox=$(command -v busybox || true)
[ -n "$busybox" ] || absent "busybox is not installed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
image=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
[ -n "$image" ] || absent "apt knows no kernel of Debian (apt-get update)"
(cd "$work" && apt-get download -qq "$image" >apt.txt 2>&1) || absent "apt cannot fetch $image"
dpkg-deb -x "$work"/linux-image-*.deb "$work/kernel"
release=$(ls "$work/kernel/lib/modules")

# The first file system: a shell, the tests' programs and the modules, which depend on no other.
root=$work/root
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/tmp"
cp "$busybox" "$root/bin/busybox"
for module in net/sched/sch_netem net/sched/sch_tbf drivers/net/veth; do
	cp "$work/kernel/lib/modules/$release/kernel/$module.ko" "$root/"
done
CGO_ENABLED=0 go test -c -ldflags='-s -w' -o "$root/netem" ./netem
CGO_ENABLED=0 go test -c -ldflags='-s -w' -o "$root/edge" ./cmd/edge
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
export HOME=/tmp
PATH=/bin
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
echo 3 >/proc/sys/kernel/printk
for module in /*.ko; do
	busybox insmod $module
done
busybox ip link set lo up
echo
echo "kernel $(busybox uname -r)"
status=0
for test in /netem /edge; do
	$test "$@" || status=$?
done
echo
echo "exit status $status"
busybox poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"

timeout 400 qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 1024 -nographic -no-reboot -nic none \
	-kernel "$work/kernel/boot/vmlinuz-$release" -initrd "$work/initrd" \
	-append "console=ttyS0 quiet panic=-1 -- $*" </dev/null >"$work/log" 2>&1 || echo "qemu: exit status $?"
# The firmware may leave escape codes, or a line without an end, before the first line of init.
tr -d '\r' <"$work/log" | LC_ALL=C sed -n 's/.*kernel \([0-9]\)/kernel \1/; /^kernel [0-9]/,/^exit status/p' | tee "$work/said"
tr -d '\r' <"$work/log" | grep -aqx 'exit status 0' || { tail -n 40 "$work/log" | cat -v; echo "FAILED in the emulated machine"; exit 1; }
if grep 'SKIP' "$work/said"; then
	echo "FAILED: the emulated machine skipped a test"
	exit 1
fi
