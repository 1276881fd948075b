package phone

import "testing"

// On the simulated phones one pass serves up to 32 streams in hardly more time than one stream, so eight take little
// more than one.
func TestStreamFigures(t *testing.T) {
	eight, err := StreamFigures(8, 16, 16)
	if err != nil || len(eight) != 4 {
		t.Fatal(len(eight), err)
	}
	one, err := StreamFigures(1, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range eight {
		if !f.Simulated || f.Faster < 4 || f.Faster > 8 || f.Steps < f.Step || one[i].Faster != 1 || one[i].Together > f.Together {
			t.Errorf("%+v and %+v", f, one[i])
		}
	}
	if _, err := StreamFigures(0, 1, 16); err == nil {
		t.Error("no streams are accepted")
	}
}
