package documents

import "testing"

// Dots that lead to a value become a colon. Those of somebody who falls silent, and of a form, stay.
func TestLabelled(t *testing.T) {
	for line, want := range map[string]string{
		"Fee ........ 12 euros":                      "Fee: 12 euros",
		"Ada mob .... 0999 554":                      "Ada mob: 0999 554",
		"Crane, per lift, 3 to 6 tonnes........£110": "Crane, per lift, 3 to 6 tonnes: £110",
		"Excess....500":                              "Excess: 500",
		"14.00 ..... Lantern workshop":               "14.00: Lantern workshop",
		"Water, tank fill ........ free":             "Water, tank fill: free",
		"He waited.... and left":                     "",
		"Well.....maybe":                             "",
		"3rd ........":                               "",
		"........ 12":                                "",
		"Name of child ........ Class ......":        "",
		"Fees: crane ...... 12":                      "",
		"Really? ..... yes":                          "",
		"It is said of the mill that in a dry year it stood still ..... and so on": "",
	} {
		if got, ok := labelled(line); got != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
