package phone

import (
	"strings"
	"testing"
)

// On the simulated phones, as in the paper, inputs keep the graph's size and time for any number of tasks, masking pays for
// each in time, and a graph for each task pays when it switches. All figures say that they are simulated.
func TestAdapterFigures(t *testing.T) {
	list, err := AdapterFigures(16, []int{1, 4, 8})
	if err != nil || len(list) != 2*2*3*3 {
		t.Fatal(len(list), err)
	}
	at := map[string]map[int]AdapterFigure{}
	for _, f := range list {
		key := f.Chip + f.Shape + " " + f.Approach
		if at[key] == nil {
			at[key] = map[int]AdapterFigure{}
		}
		at[key][f.Tasks] = f
		if !f.Simulated || f.OverToken < 1 || f.OverFirst < 1 {
			t.Errorf("%+v", f)
		}
	}
	for key, n := range at {
		one, eight := n[1], n[8]
		switch {
		case strings.HasSuffix(key, "inputs"):
			if one.Graphs != eight.Graphs || one.Token != eight.Token || eight.Stored <= one.Stored || eight.Switch != 0 || eight.OverToken > 1.14 {
				t.Errorf("%s: %+v and %+v", key, one, eight)
			}
		case strings.HasSuffix(key, "masked"):
			if one.Graphs >= eight.Graphs || one.Token >= eight.Token || eight.Switch != 0 {
				t.Errorf("%s: %+v and %+v", key, one, eight)
			}
		default:
			if one.Graphs >= eight.Graphs || one.Token != eight.Token || eight.Switch <= 1 {
				t.Errorf("%s: %+v and %+v", key, one, eight)
			}
		}
	}
}

// Of each of the paper's tables on adapters, streams, forecasts and rewritten graphs there are figures with a prediction.
func TestSamsungTables(t *testing.T) {
	list, err := SamsungTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"1:", "2:", "3:", "6,", "7,", "10:"} {
		n := 0
		for _, f := range list {
			if strings.HasPrefix(f.Figure, "Samsung Table "+table) && f.Predicted.Known {
				n++
			}
		}
		if n < 2 {
			t.Errorf("%d figures of Table %s", n, table)
		}
	}
}
