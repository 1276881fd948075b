package office

import "testing"

// A form of months shows their names; with figures or hours an "m" is something else. Codes keep their leading zeros and the marks
// between their figures.
func TestForms(t *testing.T) {
	for _, c := range [][3]string{
		{"mmmm", "45306", "January"},
		{"mmm", "45306", "Jan"},
		{"[$-409]mmmm;@", "45306", "January"},
		{"MM", "45306.5", "January"},
		{"mmmm", "1", "January"}, // of 1900
		{`mmmm\ yyyy`, "45306", "January 2024"},
		{"mmm-yy", "45306", "Jan 2024"},
		{`d\ mmmm`, "45306", "2024-01-15"},
		{"dd/mm/yyyy hh:mm", "45306.5", "2024-01-15 12:00"},
		{"mm:ss", "0.5", "12:00"},
		{"[h]:mm", "1.5", "36:00"},
		{`0 "m"`, "45306", "45306 m"},
		{"0 m", "45306", "45306"},
		{"yyyy-mm-dd", "59", "1900-02-28"},
		{"yyyy-mm-dd", "61", "1900-03-01"},
		{"mmmm", "-1", "-1"},
		{"00000", "1067", "01067"},
		{"00000", "1067.5", "01067.5"},
		{"00000;@", "123456", "123456"},
		{`00000\-0000`, "21393045", "02139-3045"},
		{"000-00-0000", "78051120", "078-05-1120"},
		{"(000) 000-0000", "2065550100", "(206) 555-0100"},
		{`"D-"00000`, "1067", "D-01067"},
		{"00.0", "4.25", "04.2"},
		{"###-####", "5550100", "555-0100"},
		{"###-####", "100", "100"},
		{"0", "7", "7"},
		{"#,##0", "1234567", "1234567"},
		{"#,##0.00", "7.5", "7.5"},
		{"# ?/?", "0.5", "0.5"},
		{"0.00E+00", "1234", "1234"},
		{"0E+00", "1234", "1234"},
		{"##0.0E+0", "12345", "12345"},
		{"#,##0_);(#,##0)", "12", "12"},
	} {
		styles := cellStyles{forms: []numberForm{formOf(c[0])}}
		if got := styles.shown(c[1], "0", false); got != c[2] {
			t.Errorf("%s in %s: %q, want %q", c[1], c[0], got, c[2])
		}
	}
	own := cellStyles{}
	own.forms = append(own.forms, own.form("17"))
	if got, want := own.shown("1", "0", true), "Jan 1904"; got != want {
		t.Errorf("form 17: %q, want %q", got, want)
	}
}
