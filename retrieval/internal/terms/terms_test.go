package terms

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func all(text string) []string {
	var out []string
	Each(text, func(t []byte) { out = append(out, string(t)) })
	return out
}

func TestEach(t *testing.T) {
	for text, want := range map[string]string{
		"The harbour museum opens at 9:30.": "the harbour museum open at 9 30",
		"wifi password: tumbral-5827":       "wifi password tumbral 5827",
		"The cabin's door, Zoë’s café":      "the cabin s door zoe s cafe",
		"QX2291 km²":                        "qx 2291 km",
		"":                                  "",
		strings.Repeat("a", 100):            strings.Repeat("a", 40),
		"closing closes closed close":       "close close close close",
		"opening opens opened open":         "open open open open",
		"libraries library":                 "librari librari",
		"located location locate":           "locat locat locat",
		"runs running run bakery bakeries":  "run run run bakeri bakeri",
		"costs cost tickets ticket":         "cost cost ticket ticket",
		"caresses ponies ties cats feed agreed plastered bled motoring sing":   "caress poni ti cat feed agre plaster bled motor sing",
		"conflated troubled sized hopping tanned falling hissing filing happy": "conflat troubl size hop tan fall hiss file happi",
		"relational conditional rational digitizer formaliti sensibiliti":      "relat condit ration digit formal sensibl",
		"triplicate formative electrical hopeful goodness adjustment adoption": "triplic form electr hope good adjust adopt",
		"probate rate cease controll roll":                                     "probat rate ceas control roll",
	} {
		if got := strings.Join(all(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzEach(f *testing.F) {
	for _, s := range []string{"Opening times", "\xff\xfe", "ÀÉ 123abc", "eed ing ed ss"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		Each(s, func(term []byte) {
			if len(term) == 0 || len(term) > maxTerm || utf8.ValidString(s) && !utf8.Valid(term) {
				t.Fatalf("term %q of %q", term, s)
			}
		})
	})
}
