package meter

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// supply writes a power supply below root.
func supply(t testing.TB, root, name string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(root, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for f, text := range files {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindBattery(t *testing.T) {
	if _, err := FindBattery(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "Android") {
		t.Errorf("no folder: %v", err)
	}
	root := t.TempDir()
	supply(t, root, "ac", map[string]string{"type": "Mains\n", "online": "1\n"})
	if _, err := FindBattery(root); err == nil || !strings.Contains(err.Error(), "no battery") {
		t.Errorf("mains alone: %v", err)
	}
	supply(t, root, "bms", map[string]string{"type": "Battery\n", "voltage_now": "odd\n"})
	if _, err := FindBattery(root); err == nil || !strings.Contains(err.Error(), "not a number") {
		t.Errorf("a battery without numbers: %v", err)
	}
	// A phone discharges with a negative current; microamperes and microvolts.
	supply(t, root, "battery", map[string]string{"type": "Battery\n", "status": "Discharging\n", "voltage_now": "4000000\n", "current_now": "-1500000\n"})
	b, err := FindBattery(root)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := b.Watts(); err != nil || w != 6 || b.Name() != "battery" || b.Charging() {
		t.Errorf("%s: %v W, %v, charging %v", b.Name(), w, err, b.Charging())
	}
	// A laptop reports power.
	supply(t, root, "battery", map[string]string{"power_now": "7500000\n", "status": "Charging\n"})
	if w, err := b.Watts(); err != nil || w != 7.5 || !b.Charging() {
		t.Errorf("%v W, %v", w, err)
	}
	supply(t, root, "battery", map[string]string{"power_now": "7500000000\n"})
	if _, err := b.Watts(); err == nil || !strings.Contains(err.Error(), "units") {
		t.Errorf("7500 W: %v", err)
	}
}

// Energy is power over time. Above subtracts that of idling, but is never below 0. A battery that disappears is an error.
func TestMeasure(t *testing.T) {
	root := t.TempDir()
	set := func(micro string) {
		supply(t, root, "battery", map[string]string{"type": "Battery", "power_now": micro})
	}
	set("2000000")
	b, err := FindBattery(root)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		idle := b.Measure(ctx, Every)
		if idle.Err != nil || math.Abs(idle.Watts-2) > 1e-9 || idle.Took != 2*time.Second || idle.Samples < 20 {
			t.Errorf("idle: %+v", idle)
		}
		set("5000000")
		stop := b.Start(t.Context(), Every)
		time.Sleep(10 * time.Second)
		work := stop()
		if math.Abs(work.Joules-50) > 1e-6 || math.Abs(work.Above(idle)-30) > 1e-6 {
			t.Errorf("work: %+v, above idle %v J", work, work.Above(idle))
		}
		if above := idle.Above(work); above != 0 {
			t.Errorf("idling takes %v J more than work", above)
		}
		// Half of the time at 5 W, half at 1 W.
		stop = b.Start(t.Context(), Every)
		time.Sleep(5*time.Second + 50*time.Millisecond)
		set("1000000")
		time.Sleep(5 * time.Second)
		if r := stop(); math.Abs(r.Joules-30) > 0.5 {
			t.Errorf("a step in power: %+v", r)
		}
		stop = b.Start(t.Context(), Every)
		time.Sleep(time.Second)
		os.Remove(filepath.Join(root, "battery", "power_now"))
		time.Sleep(time.Second)
		if r := stop(); r.Err == nil {
			t.Errorf("no error after the battery disappeared: %+v", r)
		}
	})
}

func TestPeakMemory(t *testing.T) {
	if n, ok := highWater("Name:\tedge\nVmHWM:\t  12345 kB\nVmRSS:\t 1 kB\n"); !ok || n != 12345<<10 {
		t.Errorf("%d, %v", n, ok)
	}
	for _, bad := range []string{"", "VmHWM:", "VmHWM: x kB", "VmHWM: 1 MB", "VmHWM: -4 kB\n"} {
		if n, ok := highWater(bad); ok {
			t.Errorf("%q gives %d", bad, n)
		}
	}
	if n, _ := PeakMemory(); n < 1<<20 {
		t.Errorf("peak memory of %d bytes", n)
	}
}

func FuzzHighWater(f *testing.F) {
	f.Add("VmHWM:\t  12345 kB\n")
	f.Add("VmHWM: 99999999999999999999 kB")
	f.Fuzz(func(t *testing.T, s string) {
		if n, ok := highWater(s); ok && n <= 0 {
			t.Fatalf("%q gives %d", s, n)
		}
	})
}
