package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tandem/cmd/internal/cli"
	"tandem/internal/meter"
	"tandem/npu/phone/sim"
)

// Where Android and Linux show a Qualcomm chip and the way to its NPU. All below a root that tests replace.
const (
	chipFile  = "sys/devices/soc0/machine"
	modelFile = "sys/firmware/devicetree/base/model"
)

var (
	// Device nodes of FastRPC, by which programs call the NPU's DSP.
	rpcNodes = []string{"dev/fastrpc-cdsp", "dev/fastrpc-cdsp-secure", "dev/adsprpc-smd", "dev/adsprpc-smd-secure"}
	// The vendor's library for it, which ggml's Hexagon backend loads.
	rpcLibraries = []string{"vendor/lib64/libcdsprpc.so", "system/vendor/lib64/libcdsprpc.so", "usr/lib/libcdsprpc.so", "usr/lib/aarch64-linux-gnu/libcdsprpc.so"}
)

// phoneChecks says what this machine has of a phone: its chip, the way to an NPU, a battery that tells its
// power. Nothing here is broken where it is missing: a laptop has none of it.
func phoneChecks(root string) []cli.Check {
	checks := []cli.Check{checkChip(root), checkNPU(root), checkBattery(filepath.Join(root, meter.Root))}
	return checks
}

// text reads a short file of the kernel's.
func kernelText(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) > 256 {
		return ""
	}
	return strings.TrimSpace(string(bytes.TrimRight(data, "\x00\n")))
}

func checkChip(root string) cli.Check {
	c := cli.Check{Name: "chip", State: cli.Noted}
	name := kernelText(filepath.Join(root, chipFile))
	if name == "" {
		name = kernelText(filepath.Join(root, modelFile))
	}
	if name == "" {
		c.Detail = fmt.Sprintf("not told by this system (%s)", runtime.GOOS)
		c.Hint = "a phone's pace can be simulated: edge ask --soc " + strings.Join(sim.Names(), "|")
		return c
	}
	c.State, c.Detail = cli.OK, name
	for _, known := range sim.Names() {
		if strings.Contains(strings.ToLower(name), known) {
			if s, err := sim.Open(known); err == nil {
				c.Detail += fmt.Sprintf(": %s, %s, which this program can also simulate (--soc %s)", s.Name, s.NPU, known)
			}
		}
	}
	return c
}

func checkNPU(root string) cli.Check {
	c := cli.Check{Name: "npu", State: cli.Noted}
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
		c.Detail = "no Hexagon NPU: no device node of FastRPC"
		return c
	case len(nodes) == 0:
		c.Detail = "a Hexagon NPU that this user may not open: " + strings.Join(shut, ", ")
		c.Hint = "run from the adb shell, whose user may, rather than from an app"
	case len(libraries) == 0:
		c.Detail = "a Hexagon NPU at " + strings.Join(nodes, ", ") + ", but no libcdsprpc.so of the vendor's"
	default:
		c.State = cli.OK
		c.Detail = fmt.Sprintf("a Hexagon NPU at %s, by %s", strings.Join(nodes, ", "), strings.Join(libraries, ", "))
		c.Hint = "it computes through ggml's Hexagon libraries: docs/phone.md"
	}
	return c
}

func checkBattery(root string) cli.Check {
	b, err := meter.FindBattery(root)
	if err != nil {
		return cli.Check{Name: "battery", State: cli.Noted, Detail: strings.TrimPrefix(err.Error(), "energy: ")}
	}
	watts, err := b.Watts()
	if err != nil {
		return cli.Check{Name: "battery", State: cli.Noted, Detail: err.Error()}
	}
	c := cli.Check{Name: "battery", State: cli.OK, Detail: fmt.Sprintf("%s draws %.2f W now: edge ask --energy", b.Name(), watts)}
	if b.Charging() {
		c.Hint = "it is being charged: unplug it before measuring"
	}
	return c
}
