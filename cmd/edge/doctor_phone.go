package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tandem/cmd/internal/doctor"
	"tandem/internal/meter"
	"tandem/npu/phone/sim"
)

// Where Android and Linux name the chip. All paths are below a root that tests replace.
const (
	chipFile  = "sys/devices/soc0/machine"
	modelFile = "sys/firmware/devicetree/base/model"
)

var (
	// Device nodes of FastRPC, through which programs call Qualcomm's NPU.
	rpcNodes = []string{"dev/fastrpc-cdsp", "dev/fastrpc-cdsp-secure", "dev/adsprpc-smd", "dev/adsprpc-smd-secure"}
	// The vendor's FastRPC library, which ggml's Hexagon backend loads.
	rpcLibraries = []string{"vendor/lib64/libcdsprpc.so", "system/vendor/lib64/libcdsprpc.so", "usr/lib/libcdsprpc.so", "usr/lib/aarch64-linux-gnu/libcdsprpc.so"}
)

// phoneChecks looks for the parts of a phone: a known chip, access to an NPU, a battery that reports its power. Most
// machines have none of them, so a missing one is only noted.
func phoneChecks(root string) []doctor.Check {
	return []doctor.Check{checkChip(root), checkNPU(root), checkBattery(filepath.Join(root, meter.Root))}
}

// kernelText returns the text of a short file of the kernel; "" if it cannot be read.
func kernelText(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) > 256 {
		return ""
	}
	return strings.TrimSpace(string(bytes.TrimRight(data, "\x00\n")))
}

func checkChip(root string) doctor.Check {
	c := doctor.Check{Name: "chip", State: doctor.Noted}
	name := kernelText(filepath.Join(root, chipFile))
	if name == "" {
		name = kernelText(filepath.Join(root, modelFile))
	}
	if name == "" {
		c.Detail = fmt.Sprintf("unknown: this system (%s) does not name it", runtime.GOOS)
		c.Hint = "simulate a phone's pace: edge ask --soc " + strings.Join(sim.Names(), "|") + " (the built-in decoder answers then, not the reader)"
		return c
	}
	c.State, c.Detail = doctor.OK, name
	for _, known := range sim.Names() {
		if strings.Contains(strings.ToLower(name), known) {
			if s, err := sim.Open(known); err == nil {
				c.Detail += fmt.Sprintf(": %s, %s, which this program can also simulate (--soc %s)", s.Name, s.NPU, known)
			}
		}
	}
	return c
}

func checkNPU(root string) doctor.Check {
	c := doctor.Check{Name: "npu", State: doctor.Noted}
	var nodes, shut, libraries []string
	for _, n := range rpcNodes {
		path := filepath.Join(root, n)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if f, err := os.Open(path); err != nil {
			shut = append(shut, "/"+n)
		} else {
			f.Close()
			nodes = append(nodes, "/"+n)
		}
	}
	for _, l := range rpcLibraries {
		if _, err := os.Stat(filepath.Join(root, l)); err == nil {
			libraries = append(libraries, "/"+l)
		}
	}
	switch {
	case len(nodes) == 0 && len(shut) == 0:
		c.Detail = "no Hexagon NPU: no FastRPC device node"
		return c
	case len(nodes) == 0:
		c.Detail = "a Hexagon NPU that this user may not open: " + strings.Join(shut, ", ")
		c.Hint = "run from the adb shell, whose user may, not from an app"
	case len(libraries) == 0:
		c.Detail = "a Hexagon NPU at " + strings.Join(nodes, ", ") + ", but no libcdsprpc.so from the vendor"
	default:
		c.State = doctor.OK
		c.Detail = fmt.Sprintf("a Hexagon NPU at %s, by %s", strings.Join(nodes, ", "), strings.Join(libraries, ", "))
		c.Hint = "to use it, install ggml's Hexagon libraries: docs/phone.md"
	}
	return c
}

func checkBattery(root string) doctor.Check {
	b, err := meter.FindBattery(root)
	if err != nil {
		return doctor.Check{Name: "battery", State: doctor.Noted, Detail: strings.TrimPrefix(err.Error(), "energy: ")}
	}
	watts, err := b.Watts()
	if err != nil {
		return doctor.Check{Name: "battery", State: doctor.Noted, Detail: err.Error()}
	}
	c := doctor.Check{Name: "battery", State: doctor.OK, Detail: fmt.Sprintf("%s supplies %.2f W now; edge ask --energy measures an answer", b.Name(), watts)}
	if b.Charging() {
		c.Hint = "it is charging: unplug it before measuring"
	}
	return c
}
