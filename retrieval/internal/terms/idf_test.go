package terms

import "testing"

func TestParseRefusesDamagedTables(t *testing.T) {
	for _, bad := range []string{"", "x", "10\nx y", "10\n11 y"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is accepted as statistics", bad)
		}
	}
}
