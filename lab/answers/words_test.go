package answers

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tandem/decoder/ground"
)

func TestF1(t *testing.T) {
	for _, c := range []struct {
		answer, accepted string
		want             float64
	}{
		{"tumbral-5827", "tumbral-5827", 1},
		{"The Museum opens at 9:30!", "museum opens at 930", 1},
		{"It opens at nine.", "at nine", 2. * 2 / (4 + 2)},
		{"no no no", "no", 2. * 1 / (3 + 1)},
		{"yes", "no", 0},
		{"", "no", 0},
		{"the", "", 1},
		{"3.412,77 €", "341277 €", 1},
		{"ÖPTÜM, İzmir", "öptüm i̇zmir", 0.5}, // Go lowers İ to one rune, which is not the decomposed form
		{"Кирилл", "кирилл", 1},
	} {
		for _, got := range []float64{F1(c.answer, c.accepted), F1(c.accepted, c.answer)} {
			if math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%q and %q: F1 %v, want %v", c.answer, c.accepted, got, c.want)
			}
		}
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct {
		text, value string
		want        bool
	}{
		{"It opens at 9:30.", "9:30", true},
		{"It opens at 19:30.", "9:30", false},
		{"It opens at 9:301.", "9:30", false},
		{"The balance is 3.412,77 €.", "3.412,77 €", true},
		{"The balance is 3.412,77 €.", "412,77 €", false},
		{"It costs EUR 14.", "14 €", true},
		{"It costs €14 a month.", "EUR 14", true},
		{"UB-64201\n$38.84", "$38.84", true},
		{"12 € 14", "12 €", true},
		{"It costs 14 dollars.", "14 €", false},
		{"It costs 14\u00a0€.", "14 €", true},
		{"Fri 18:30–19:30, 25 m pool", "18:30", true},
		{"Ms GUDRUN Pietsch", "Gudrun Pietsch", true},
		{"Gudrun and Pietsch", "Gudrun Pietsch", false},
		{"Jürgen Müller", "Jurgen Muller", false},
		{"東京都に住む", "東京都に住む", true},
		{"+44 113 496 0822", "44 113 496 0822", true},
		{"the treasurer and the boat warden", "treasurer and boat warden", true},
		{"platform A", "A", true},
		{"Anna", "A", false},
		{"anything", "", false},
		{"", "x", false},
	} {
		if Contains(c.text, c.value) != c.want {
			t.Errorf("%q in %q: %v", c.value, c.text, !c.want)
		}
	}
}

func TestContainsSentence(t *testing.T) {
	const row = "| Aqua jogging | Thu | 9:15–10:00 | diving pool | 15 | 70 € | Gudrun Pietsch |"
	for _, c := range []struct {
		text, sentence string
		accepted       []string
		want           bool
	}{
		{"Swimming\nAqua jogging, Thu, 9:15–10:00, diving pool, 15, 70 €, Gudrun Pietsch", row, nil, true},
		{"Course: Aqua jogging; Day: Thu; Time: 9:15–10:00; Pool: diving pool; Places: 15; Fee: 70 €; Instructor: Gudrun Pietsch", row, nil, true},
		{"Aqua jogging, Thu, 9:15–10:00", row, []string{"Gudrun Pietsch"}, false},
		{"Courses\n10:00, diving pool, 15, 70 €, Gudrun Pietsch", row, []string{"Gudrun Pietsch"}, true}, // half of it, with the answer
		{"Courses\n10:00, diving pool, 15, 70 €", row, []string{"Gudrun Pietsch"}, false},
		{"15, 70 €, Gudrun Pietsch", row, []string{"Gudrun Pietsch"}, false}, // less than half
		{"Gudrun Pietsch", row, []string{"Gudrun Pietsch"}, false},
		{"Family: 290 €", "<tr><td>Family</td><td>290&nbsp;€</td></tr>", nil, true},
		{"Family: 230 €", "<tr><td>Family</td><td>290&nbsp;€</td></tr>", nil, false},
		{"dive 7: 8, 14.6, 11.8, 9", "7,8,14.6,11.8,9", nil, true},
		{"dive 7: 8, 14.6, 11.8, 9", "7,8,14.6,11.9,6", nil, false},
		{"", "x", nil, false},
		{"x", "", nil, false},
	} {
		if ContainsSentence(c.text, c.sentence, c.accepted) != c.want {
			t.Errorf("%q in %q: %v", c.sentence, c.text, !c.want)
		}
	}
}

func TestInvented(t *testing.T) {
	read := []string{
		"Dentist\nJürgen Müller’s number is +49 561 555-2209; he opens at 9:40–17:20.",
		"Account\nThe IBAN is DE66 5205 0000, the balance 3.412,77 €. The wifi password is tumbral-5827.",
	}
	for _, c := range []struct {
		answer string
		want   []string
	}{
		{"The dentist opens at 9:40.", nil},
		{"Is it open? The \"Dentist\" opens (9:40–17:20)!", []string{"open"}},
		{"He opens at 9.", []string{"9"}}, // a cut number
		{"He opens at 19:40.", []string{"19:40"}},
		{"The balance is 412,77 €.", []string{"412,77"}},
		{"The balance is 3.412.77 €.", []string{"3.412.77"}},
		{"Jürgen Müller's", nil},
		{"Jürgen", nil},
		{"Jurgen", []string{"Jurgen"}},
		{"J]\ufffdrgen Mquare", []string{"J]\ufffdrgen", "Mquare"}},
		{"Demirta\x80", []string{"Demirta\x80"}},
		{"\ufffd", []string{"\ufffd"}},
		{"tumbral-5827, not tumbral-5829", []string{"tumbral-5829"}},
		{"password: tumbral", nil},
		{"Mül", []string{"Mül"}},
		{"üller", []string{"üller"}},
		{"I don’t know.", nil},
		{"9:40\nDas weiß ich nicht.", nil},
		{"Das weiß Eva.", []string{"Das", "weiß", "Eva"}},
		{"unknown €", nil},
		{"", nil},
	} {
		if got := Invented(c.answer, "When is the dentist's practice there?", read); !slices.Equal(got, c.want) {
			t.Errorf("%q: invented %q, want %q", c.answer, got, c.want)
		}
	}
	if got := Invented("The practice", "When is the dentist's practice there?", nil); len(got) > 0 {
		t.Errorf("words of the question: %q", got)
	}
}

// Whatever a passage says can be said after it, and nothing is invented.
func FuzzInvented(f *testing.F) {
	f.Add("Kıbrıs Şehitleri Cad. 48, kat 3")
	f.Add("14.06.2025!! Leo's ok till 2028")
	f.Add("café 東京 №5 – “q” 1'000.50")
	f.Fuzz(func(t *testing.T, passage string) {
		if got := Invented(passage, "", []string{passage}); len(got) > 0 {
			t.Errorf("%q in %q", got, passage)
		}
		if want := strings.TrimSpace(passage); len(tokens(want)) > 0 && !Contains(passage, want) {
			t.Errorf("%q does not contain itself", passage)
		}
	})
}

func TestSentenceAt(t *testing.T) {
	const text = "Prof. J. K. Lang leads it. He lives at Gärtnerstr. 11 now! Since when?\n- a list line. \"Yes.\" The end"
	for word, want := range map[string]string{
		"Lang": "Prof. J. K. Lang leads it.", "11": "He lives at Gärtnerstr. 11 now!", "when": "Since when?", "list": "- a list line.", "end": "The end",
	} {
		if got := sentenceAt(text, strings.Index(text, word)); got != want {
			t.Errorf("around %q: %q, want %q", word, got, want)
		}
	}
	if got := strings.Join(sentencesOf(text), " "); got != strings.ReplaceAll(text, "\n", " ") {
		t.Errorf("the sentences together: %q", got)
	}
}

// Every word that a grounded context may write of its own is a function word.
func TestListedWords(t *testing.T) {
	for _, w := range ground.Words() {
		if !functionWords[strings.ToLower(w)] {
			t.Errorf("%q is no function word", w)
		}
	}
}
