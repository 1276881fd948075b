package extract

import "testing"

func TestWeekdays(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"open on Mondays and Thursday", "M  T   "},
		{"Tuesday to Friday 10:00, Sun. closed", " TWTF S"},
		{"Sat–Mon", "M    SS"},
		{"Fri 9:00, Mon 10:00", "M   F  "},
		{"Sunny, Friedrich, monday", "M      "},
		{"no day", "       "},
	} {
		days := weekdays(c.text)
		got := []byte("       ")
		for d := range days {
			if days[d] {
				got[d] = "MTWTFSS"[d]
			}
		}
		if string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}
