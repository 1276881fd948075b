package ground

import (
	"slices"
	"strings"
	"testing"
)

// Telephone numbers are found whole, and dates, times and lists of numbers are none.
func TestTelephones(t *testing.T) {
	for text, want := range map[string]string{
		"Call +49 (0)561/12 34-56 now":      "+49 (0)561/12 34-56",
		"(0561 12345)":                      "0561 12345",
		"(555) 123-4567, or write":          "(555) 123-4567",
		"at 0561 555 7310.":                 "0561 555 7310",
		"in Paris +33 1 42 68 53 00":        "+33 1 42 68 53 00",
		"(call 0561 123456) today":          "0561 123456",
		"on 05.03.1968 2000 came":           "",
		"06:00 - 08:00 0130":                "",
		"the codes 0471 (door) and 03 (van": "",
		"in 1950 1951 1952":                 "",
		"0561 123456: the desk":             "0561 123456",
		"0 1 2 3 4 5 6 7":                   "",
		"é0561 123456":                      "",
		"0561 123456é":                      "",
	} {
		var got []string
		for _, r := range telephones(text) {
			got = append(got, text[r[0]:r[1]])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// What touches a value is not cut off it; what only sets it off is.
func TestInsideSigns(t *testing.T) {
	for text, want := range map[string][]string{
		"*4711#":       {"*4711#"},
		"dial *#06# !": {"dial", "*#06#", "!"},
		"**12**":       {"*", "*", "12", "*", "*"},
		"*Anna*":       {"*", "Anna", "*"},
		"ask @anna_k":  {"ask", "@anna_k"},
		"5 % of 3.00€": {"5 %", "of", "3.00€"},
		"3 €\n9:20":    {"3 €", "9:20"},
	} {
		var got []string
		inside, from := Inside(text), 0
		for at := 1; at <= len(text); at++ {
			if !inside[at] {
				if s := strings.TrimSpace(text[from:at]); s != "" {
					got = append(got, s)
				}
				from = at
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
