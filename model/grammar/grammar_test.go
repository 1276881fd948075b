package grammar

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"tandem"
	"tandem/model/vocabulary"
)

// bytesOnly is a vocabulary of the 256 bytes and an end.
var bytesOnly = func() *vocabulary.Vocabulary {
	pieces := make([]string, 257)
	for b := range 256 {
		pieces[b+1] = string([]byte{byte(b)})
	}
	return vocabulary.New(pieces, 0)
}()

// derives reports whether a grammar derives a text.
func derives(g *Grammar, text string) bool {
	m := NewMatcher(g, bytesOnly)
	return m.Next(m.Start(), []byte(text)).MayEnd()
}

func mustParse(t testing.TB, text string) *Grammar {
	t.Helper()
	g, err := Parse(text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return g
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ grammar, derived, other string }{
		{`root ::= "yes" | "no"`, "yes no", "y yesno maybe"},
		{`root ::= [a-c]+ "!"?`, "a abc! ccc", "! d abc!!"},
		{`root ::= [^a-y]{2,3}`, "zz ZZZ é9", "z za zzzz"},
		{`root ::= "a"{2} "b"{1,} | "c"{0,1}`, "aab aabbb c", "aa ab cc"},
		{"root ::= list # a comment\nlist ::= \"[\" (item (\",\" item)*\n  )? \"]\"\nitem ::= \"x\" | list", "[] [x] [x,[x,x],[]]", "[ [x [,x] x"},
		{"root ::= \"a\" |\n  \"b\"\n  | \"c\"", "a b c", "ab d"},
		{`root ::= "\x41\u00e9\U0001F600\n\\\""`, "Aé😀\n\\\"", "Aé😀n"},
		{"root ::= word word\nword ::=\n\"x\" | ", "x xx", "xxx y"},
		{"root ::= a-b_2 \".\"\na-b_2::=.", "é. ..", "é ..."},
		{`root ::= [a\]\-^]+`, "]-^a", `\ b`},
		{`root ::= [-a]+`, "-a", "b"},
		{`root ::= ("" | "a")* "b"`, "b aab", "a"},
		{"root ::= \"a\" root | \"b\"", "b aaab", "a ba"},
		{"root ::= x* y*\nx ::= y*\ny ::= \"y\"", "y yyyy", "x"},
		{"root ::= (\"a\" | \"b\") + [c] {2}\n", "acc abbacc", "acac cc"},
		{`root ::= "a" ((""{16384}){16384}){16384,}`, "a", "aa"}, // which is no work
		{"root ::=\r\n  sum\r\nsum ::= term ([-+*/] term)* # left to right\r\nterm ::= [0-9]+ | [a-z] [a-z0-9_]* | \"(\" sum \")\"", "1+2 a_1*(b-2)/3", "1+ (1 A"},
		{`root ::= value
value ::= list | text | ("true" | "null") ws
list ::=
  "[" ws (
    value
    ("," ws value)* # more
  )? "]" ws
text ::= "\"" (
  [^"\\\x7F\x00-\x1F] |
  "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) # escapes
)* "\"" ws

ws ::= | "\t" | "\n" [\t]{0,20}
`, "[] [true,\n\t[null,\"\\u00e9\\\"é#|\"]]\n", `[true,] ["\x"] ["` + "\t\"]"},
		{"root ::= move \"-\" move\nmove ::= (pawn | piece | castle) [+#]?\npiece ::= [NBKQR] [a-h]? [1-8]? \"x\"? [a-h] [1-8]\npawn ::= ([a-h] \"x\")? [a-h] [1-8] (\"=\" [NBKQR])?\ncastle ::= \"O-O\" \"-O\"?", "e4-Nf6 O-O-O-exd8=Q#", "e4-e9 O-e4"},
		{"root ::= kana+ ([\\u3000、] kana+)*\nkana ::= [ぁ-ゟ] | [ァ-ヿ]", "すし テスト、あ", "a 、あ 漢"},
		{"root ::= (\"/*\" ([^*] | \"*\" [^/])* \"*/\" | \"//\" [^\\n]* \"\\n\" | \"- \" [^\\r\\n\\x85\\u2028]+)", "/*a*b*/ //é\n", "/*a //x -\u0085"},
	} {
		g := mustParse(t, c.grammar)
		for text := range strings.SplitSeq(c.derived, " ") {
			if !derives(g, text) {
				t.Errorf("%s\ndoes not derive %q", c.grammar, text)
			}
		}
		for text := range strings.SplitSeq(c.other, " ") {
			if derives(g, text) {
				t.Errorf("%s\nderives %q", c.grammar, text)
			}
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct{ form, derived, other string }{
		{" {} ", `{"a": 1}`, `1`},
		{`{"type": "null"}`, `null`, `1`},
		{"/^a/b\"\\n$/\n", "a/b\"\n", "xa/b\"\n"},
		{"/a|b/", "b", "ab"},
		{"root ::= " + Quote("a\r\n\"\\\t\x00é#"), "a\r\n\"\\\t\x00é#", "a"},
	} {
		g, err := Of(c.form)
		if err != nil || !derives(g, c.derived) || derives(g, c.other) {
			t.Errorf("%q: %v", c.form, err)
		}
	}
	for form, want := range map[string]string{
		"":        "grammar: it has no rule root: begin with root ::= …",
		"/":       "pattern: want / at its end",
		"/^^/":    "pattern: ^ and $ are supported at its ends only",
		"/(?i)a/": "pattern: (?i) is not supported",
	} {
		if _, err := Of(form); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", form, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "it has no rule root: begin with root ::= …",
		"# nothing":                            "it has no rule root: begin with root ::= …",
		"root ::= a":                           "line 1: there is no rule a",
		"root = \"a\"":                         `line 1: want ::= after root, but got "="`,
		"root ::= \"a\"\n\"b\"":                `line 2: want the name of a rule, but got "\"b\""`,
		"root ::= \"a\nb\"":                    `line 1: a literal needs a " at its end`,
		"root ::= [a":                          "line 1: a class needs a ] at its end",
		"root ::= []":                          "line 1: a class needs a character",
		"root ::= [z-a]":                       `line 1: the range 'z' to 'a' goes backwards`,
		"root ::= \"a\"\nroot ::= \"b\"":       "line 2: there are two rules root",
		"root ::= (\"a\"":                      "line 1: want ) but got the end of the line",
		"root ::= \"a\" )":                     `line 1: the rule root cannot go on with ")"`,
		"root ::= * \"a\"":                     `line 1: the rule root cannot go on with "*"`,
		`root ::= "\q"`:                        `line 1: \q is no escape`,
		`root ::= "\uD800"`:                    `line 1: \uD800 is no character`,
		`root ::= "a"{3,2}`:                    "line 1: {3,2} goes backwards",
		`root ::= "a"{99999}`:                  "line 1: more than 65536 repetitions: for no limit, leave the second number out",
		`root ::= "a"{x}`:                      `line 1: want a number after { but got "x}"`,
		`root ::= (("a"{9999}){9999})`:         fmt.Sprintf("it is too large: its rules have more than %d places when their repetitions are written out", maxNodes),
		"root ::= root \"a\" | \"b\"":          "the rule root begins with itself: let it begin with something else, or use * or +",
		"root ::= a\na ::= \"x\"? root":        "the rule root begins with itself: let it begin with something else, or use * or +",
		"root ::= \"a\"\nb ::= \"x\" b":        "no text fits the rule b, which always needs itself again",
		"root ::= \"\xff\"":                    "it is not UTF-8",
		"root ::= " + strings.Repeat("(", 300): fmt.Sprintf("line 1: more than %d parentheses are open", maxNested),
	} {
		if _, err := Parse(text); err == nil || err.Error() != "grammar: "+want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

// A class is the same as Go's, for every character, and never takes bytes that are no character.
func TestClasses(t *testing.T) {
	for _, class := range []string{"[a-z]", "[^a]", "[é-ü]", "[ࠀ-\\uFFFF]", "[^\\U00010000-\\U0010FFFF]", "[a-\\U0010FFFF]", "[\\u07FF\\u0800\\uD7FF\\uE000]"} {
		g := mustParse(t, "root ::= "+class)
		want := regexp.MustCompile("^(?s:" + regexp.MustCompile(`\\[uU]([0-9A-F]+)`).ReplaceAllString(class, `\x{$1}`) + ")$")
		m := NewMatcher(g, bytesOnly)
		start := m.Start()
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if !utf8.ValidRune(r) {
				continue
			}
			if got := m.Next(start, []byte(string(r))).MayEnd(); got != want.MatchString(string(r)) {
				t.Fatalf("%s: %U: %v", class, r, got)
			}
		}
		for range 20_000 {
			b := make([]byte, 1+rand.IntN(4))
			for i := range b {
				b[i] = byte(rand.IntN(256))
			}
			if m.Next(start, []byte(b)).MayEnd() && !utf8.Valid(b) {
				t.Fatalf("%s takes % x", class, b)
			}
		}
	}
}

// write writes a text with random tokens that the matcher allows, until it may end and chance ends it.
func write(t testing.TB, g *Grammar, v *vocabulary.Vocabulary, pieces []string, r *rand.Rand, most int) (text string, ended bool) {
	t.Helper()
	m := NewMatcher(g, v)
	at := m.Start()
	for range most {
		mask, err := m.Allowed(at)
		if err != nil {
			t.Fatalf("after %q: %v", text, err)
		}
		n := r.IntN(mask.Size())
		var token tandem.Token
		for token = range mask.All() {
			if n--; n < 0 {
				break
			}
		}
		if token == v.Ends[0] {
			return text, true
		}
		if at = m.Next(at, []byte(pieces[token])); at.Lost() {
			t.Fatalf("%q was allowed after %q, and is refused", pieces[token], text)
		}
		text += pieces[token]
	}
	return text, false
}

// The tokens that are allowed are exactly those whose bytes can be taken.
func TestAllowed(t *testing.T) {
	pieces := []string{"", "a", "b", "ab", "abab", "ba", "é", "\xc3", "\xa9", "c", "cc", "bc"}
	v := vocabulary.New(pieces, 0)
	for _, text := range []string{`root ::= ("ab" | "é")+ "c"*`, `root ::= [^b]*`, `root ::= "a" root "b" | "c"`, `root ::= "ab"{2,5}`} {
		g := mustParse(t, text)
		r := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			m := NewMatcher(g, v)
			at := m.Start()
			for range 8 {
				mask, err := m.Allowed(at)
				if err == ErrStuck {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if mask.Has(0) != at.MayEnd() {
					t.Fatalf("%s: may end: %v", text, at.MayEnd())
				}
				for i, p := range pieces[1:] {
					if got := !m.Next(at, []byte(p)).Lost(); got != mask.Has(tandem.Token(i+1)) {
						t.Fatalf("%s: %q allowed %v, taken %v", text, p, !got, got)
					}
				}
				if after := m.Next(at, []byte(pieces[1+r.IntN(len(pieces)-1)])); !after.Lost() {
					at = after
				}
				if r.IntN(4) == 0 {
					m.forget() // the state stays valid
				}
			}
		}
	}
}

// Whatever is written by the grammar of JSON objects is JSON.
func TestJSON(t *testing.T) {
	pieces := []string{"", "{", "}", "[", "]", "\"", ":", ",", " ", "\n", "\\", "u", "n", "l", "a", "é", "\xf0\x9f", "\x98", "\x80", "0", "1", "-", ".", "e", "true", "fal", "se", "null", "\",\"", "\": ", "{\"", "]}", "\x01"}
	v := vocabulary.New(pieces, 0)
	r := rand.New(rand.NewPCG(3, 4))
	ended := 0
	for range 400 {
		text, is := write(t, JSONObject(), v, pieces, r, 60)
		if !is {
			continue
		}
		ended++
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if ended < 100 {
		t.Errorf("only %d texts ended", ended)
	}
}

// manyPieces returns as many pieces as Qwen2.5 has tokens.
func manyPieces() []string {
	r := rand.New(rand.NewPCG(1, 2))
	known := map[string]bool{"": true}
	pieces := []string{""}
	for b := range 256 {
		pieces = append(pieces, string([]byte{byte(b)}))
	}
	for len(pieces) < 151_936 {
		b := make([]byte, 1+r.IntN(10))
		for i := range b {
			b[i] = " eeetaoinshrdlucmfwypvbgkjqxz"[r.IntN(29)]
		}
		if r.IntN(30) == 0 {
			b[r.IntN(len(b))] = "\",:{}[]0123456789.-"[r.IntN(19)]
		}
		if !known[string(b)] {
			known[string(b)] = true
			pieces = append(pieces, string(b))
		}
	}
	return pieces
}

// What the tokens that may follow cost with 152,000 tokens, of which most may follow within a string: at first, and again.
func BenchmarkAllowed(b *testing.B) {
	v := vocabulary.New(manyPieces(), 0)
	for _, c := range []struct{ name, text string }{{"string", `{"name": "Ann`}, {"structure", `{"name"`}} {
		b.Run(c.name+", first", func(b *testing.B) {
			for b.Loop() {
				m := NewMatcher(JSONObject(), v)
				if _, err := m.Allowed(m.Next(m.Start(), []byte(c.text))); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+", again", func(b *testing.B) {
			m := NewMatcher(JSONObject(), v)
			at := m.Next(m.Start(), []byte(c.text))
			for b.Loop() {
				if _, err := m.Allowed(at); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A grammar that reads a text in too many ways is an error, not hours of work.
func TestAmbiguous(t *testing.T) {
	for _, text := range []string{
		`root ::= "a" root "b" | " " root | [a-z] root [a-z] | [a-z] root "x" | "c"`,
		"root ::= (" + strings.Repeat("[a-z] | ", 3000) + `"x")*`,
	} {
		m := NewMatcher(mustParse(t, text), bytesOnly)
		at, err := m.Start(), error(nil)
		for range 100 {
			if _, err = m.Allowed(at); err != nil {
				break
			}
			at = m.Next(at, []byte("a"))
		}
		if err != ErrAmbiguous || at.Lost() {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
