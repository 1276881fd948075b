package prompt

import "testing"

func TestRowsOfALine(t *testing.T) {
	for _, test := range []struct {
		line string
		want int
	}{
		{"", 1}, {"1234567", 1}, {"12345678", 2}, {"漢字漢", 1}, {"漢字漢字", 2}, {"a\nb", 2}, {"12345678\n\n", 4},
	} {
		if got := rows([]rune(test.line), 10); got != test.want {
			t.Errorf("%q takes %d rows, want %d", test.line, got, test.want)
		}
	}
	if got := rows(nil, 1); got < 1 {
		t.Errorf("a narrow terminal: %d rows", got)
	}
}
