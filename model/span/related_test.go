package span

import "testing"

func TestHead(t *testing.T) {
	l := tiny()
	l.relations = relations{"rat": "rodent8", "rate": "price5", "stop": "end6", "baby": "child8", "find": "seek7", "go": "walk4"}
	l.irregular = map[string]string{"found": "find"}
	for low, want := range map[string]string{
		"rats": "rat", "rates": "rate", "stopped": "stop", "babies": "baby", "found": "find", "going": "go", "best": "", "as": "", "ss": "", "é": "",
	} {
		if got := l.head(low); got != want {
			t.Errorf("head of %q: %q, want %q", low, got, want)
		}
	}
}

func TestRelatedWordsCount(t *testing.T) {
	l := tiny()
	l.relations = relations{"rodent": "rat8 mouse3", "rat": "rodent8"}
	p, q := l.analyse("Rats were here.\nWe meet at noon.", 420), l.analyse("any rodents?", 40)
	f, g := features(q, p, .7, l.relations)
	if f[0][21] != .8 || f[0][24] != 1 || f[6][24] != 0 || g[1][6] != .8 || g[1][7] != .8 {
		t.Errorf("rats for rodents: %v, elsewhere %v, question %v", f[0][21:], f[6][21:], g[1][6:9])
	}
	without, _ := features(q, p, .7, nil)
	for k, v := range without[0][21:] {
		if v != 0 {
			t.Errorf("feature %d is %v without related words", 21+k, v)
		}
	}
}
