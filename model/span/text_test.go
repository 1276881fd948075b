package span

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// tiny is a lexicon that knows a few words.
func tiny() *lexicon {
	return &lexicon{
		row: map[string]int32{"the": 1, "museum": 2}, idf: []float32{.1, .6},
		stop: map[string]bool{"the": true, "at": true}, abbreviations: map[string]bool{"dr": true},
		irregular: map[string]string{"bought": "buy"}, suffixes: []string{"ing", "es", "s", "e"},
		fold: map[rune]rune{'ü': 'u'}, buckets: 10000,
		relations: relations{"open": "close5 museum3", "museum": "open3"},
	}
}

func wordsOf(s string) (out []string) {
	for _, w := range tiny().analyse(s, 100).words {
		out = append(out, s[w.begin:w.end])
	}
	return out
}

func TestWords(t *testing.T) {
	for s, want := range map[string]string{
		"It opens at 9:40.":            "It opens at 9:40 .",
		"1,200.50 or 2,50 or 3.5.2024": "1,200.50 or 2,50 or 3.5.2024",
		"1.200,50 €":                   "1.200,50 €",
		"12,3.50":                      "12 , 3.50",
		"1,2,3":                        "1 , 2 , 3",
		"1,2345":                       "1 , 2345",
		"a.b@c.org":                    "a . b @ c . org",
		"Jürgen Müller":                "Jürgen Müller",
		"会議 かな":                        "会 議 か な",
		"snake_case e-mail":            "snake _ case e - mail",
		"٣٫٥ ١٢":                       "٣ ٫ ٥ ١٢",
		"a\xffb":                       "a \xff b",
		"":                             "",
	} {
		if got := strings.Join(wordsOf(s), " "); got != want {
			t.Errorf("%q: words %q, want %q", s, got, want)
		}
	}
}

func TestStems(t *testing.T) {
	for w, want := range map[string]string{"opens": "open", "opening": "open", "bought": "buy", "müller": "muller", "bus": "bus", "9:40": "9:40", "running": "run"} {
		if got := tiny().stem(w); got != want {
			t.Errorf("stem of %q is %q, want %q", w, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for s, want := range map[string]int{
		"Ask Dr. Kim. She knows.": 2, "It costs 3.50 today. Really?": 2, "One\ntwo": 2, "He said \"No.\" Then he left.": 2, "See p. 5.": 1, "Ask at Yalı Cad. 48, please.": 1, "Rome. 48 people came.": 2, "It opens at 9 am. 48 people came.": 2, "what? no": 1,
	} {
		words := tiny().analyse(s, 100).words
		if got := words[len(words)-1].sentence + 1; got != want {
			t.Errorf("%q: %d sentences, want %d", s, got, want)
		}
	}
}

func TestLayout(t *testing.T) {
	text := tiny().analyse("Prices\n\n| Item | Small |\n|---|---|\n| Tea | 2,50 |\nwifi: heron\n- [x] fix it", 100)
	at := func(w string) *word {
		i := slices.IndexFunc(text.words, func(x word) bool { return x.text == w })
		return &text.words[i]
	}
	if h := at("2,50").header; h < 0 || text.words[text.pieces[h][0]+1].text != "Small" {
		t.Errorf("the column of 2,50 is headed by piece %d of %v", h, text.pieces)
	}
	if text.title < 0 || at("Tea").heading != text.title || at("Tea").base[12] != 1 {
		t.Error("the table is not under its heading")
	}
	if at("wifi").base[15] != 1 || at("heron").base[16] != 1 || at("heron").keyed < 0 {
		t.Error("wifi is not the key of heron")
	}
	if at("fix").base[10] != 1 {
		t.Error("an item of a list is not recognised")
	}
}

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"password", "passwrod", true}, {"password", "passport", true}, {"coffee", "cofee", true}, {"rent", "tent", false}, {"tea", "teas", false}, {"open", "oepn", true}, {"garden", "harden", false}} {
		if got := alike([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("alike(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

// FuzzAnalyse checks on any text that words are in order, do not overlap and cover everything but spaces, and that
// matching it with any question stays in range.
func FuzzAnalyse(f *testing.F) {
	f.Add("The harbour museum opens at 9:40.", "when does the museum open")
	f.Add("| a | b |\n|--|\n| 1,5 | 2 |\n\n# x\nkey = v", "b of a")
	f.Add("\xff\xfe- [ ] 1.\t\t;;,,:/", "١٢,٣")
	l := tiny()
	f.Fuzz(func(t *testing.T, passage, question string) {
		p, q := l.analyse(passage, 420), l.analyse(question, 40)
		end := 0
		for _, w := range p.words {
			if w.begin < end || w.end <= w.begin {
				t.Fatalf("word %q from %d to %d after %d", w.text, w.begin, w.end, end)
			}
			for _, r := range passage[end:w.begin] {
				if !isSpace(r) {
					t.Fatalf("%q belongs to no word", r)
				}
			}
			if valid := utf8.ValidString(passage); valid && !utf8.ValidString(passage[w.begin:w.end]) {
				t.Fatalf("word %q cuts a rune", passage[w.begin:w.end])
			}
			end = w.end
		}
		fp, fq := features(q, p, .7, l.relations)
		for _, x := range [][][matchFeatures]float32{fp, fq} {
			for _, row := range x {
				for k, v := range row {
					if !(v >= 0 && v <= 1.01) && k != 13 && k != 14 && k != 31 {
						t.Fatalf("feature %d is %v", k, v)
					}
				}
			}
		}
	})
}
