package passages

import "testing"

// A place does not say twice what a title and its headings have in common.
func TestPlace(t *testing.T) {
	for title, want := range map[string]string{
		"Choir: Concert": "Choir: Concert",
		"Wenlock Water Sailing Club – Members' handbook: Members' handbook":       "Wenlock Water Sailing Club – Members' handbook",
		"Wenlock Water Sailing Club – Members' handbook: MEMBERS' HANDBOOK: Fees": "Wenlock Water Sailing Club – Members' handbook: Fees",
		"Zoo | Visit: Zoo: Opening hours: Opening hours.":                         "Zoo | Visit: Opening hours",
		"Handbook: Handbook – 2025":                                               "Handbook – 2025",
		"Trip to Brittany: Trip to Brittany, August 2026: Packing":                "Trip to Brittany, August 2026: Packing",
		"Fee: Fees":         "Fee: Fees",
		"The zoo: Zoo shop": "The zoo: Zoo shop",
		" Zoo ":             "Zoo",
		"":                  "",
		"***: ***":          "***: ***",
	} {
		if got := Place(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
