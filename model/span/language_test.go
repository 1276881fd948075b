package span

import (
	"strings"
	"testing"
	"unicode"

	"tandem/npu/native"
)

// Each list says what a word is once, in small letters.
func TestDictionaries(t *testing.T) {
	for name, list := range map[string]string{"German": germanList, "French": frenchList, "Spanish": spanishList} {
		seen := map[string]bool{}
		for line := range strings.Lines(list) {
			english, forms, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			if !ok || english == "" || strings.Contains(english, " ") || forms == "" {
				t.Errorf("%s: %q: want an English word, a colon and words", name, line)
			}
			for _, form := range strings.Split(forms, " ") {
				if form == "" || form != lower(form) || strings.ContainsFunc(form, func(r rune) bool { return !unicode.IsLetter(r) }) || seen[form] {
					t.Errorf("%s: %q in %q is empty, no word in small letters, or there twice", name, form, line)
				}
				seen[form] = true
			}
		}
	}
}

func TestLanguageOf(t *testing.T) {
	r := open(t)
	for text, want := range map[string]Language{
		"The rent is due on the first of each month, and the deposit is kept in the bank.":              English,
		"Die Miete ist am ersten jedes Monats fällig, und die Kaution liegt auf der Bank.":              German,
		"Le loyer est dû le premier de chaque mois, et la caution est déposée à la banque.":             French,
		"El alquiler se paga el primer día de cada mes, y la fianza está depositada en el banco.":       Spanish,
		"| Datum | Betrag | Zweck |\n|---|---|---|\n| 3. Mai | 40 € | Miete |\n| 4. Mai | 7 € | Brot |": German,
		"| Course | Day | Time | Fee |\n|---|---|---|---|\n| Seepferdchen | Mo | 16:00 | 84 € |":        English,
		"Jürgen Müller, Gärtnerstr. 11, came to the meeting and paid for the coffee.":                   English,
		"wifi: Quitte-7412": English,
		"":                  English,
	} {
		if got := r.lexicon.analyse(text, 100).language; got != want {
			t.Errorf("%q: language %d, want %d", text, got, want)
		}
	}
}

// What is read as English stays where it is in the text, and English text is read as it is.
func TestTranslatedWordsKeepTheirPlaces(t *testing.T) {
	r := open(t)
	const text = "Die Kaution beträgt 2.070 € und wird am 3. Juli an Frau Özgün zurückgezahlt."
	p := r.Passage(text)
	end := 0
	for _, w := range p.text.words {
		if text[w.begin:w.end] != w.text || text[end:w.begin] != w.gap {
			t.Errorf("%q stands at %d to %d", w.text, w.begin, w.end)
		}
		end = w.end
	}
	if got := p.English(); !strings.Contains(got, "Kaution deposit beträgt") || !strings.Contains(got, "3. Juli july an") || strings.Contains(got, "Özgün ö") {
		t.Error(got)
	}
	for _, w := range p.text.words {
		if w.sentence > 0 {
			t.Errorf("%q is in sentence %d: an ordinal number ends none", w.text, w.sentence)
		}
	}
	for _, w := range r.Passage(museum).text.words {
		if w.read != w.low || w.same != w.low {
			t.Errorf("%q is read as %q", w.text, w.read)
		}
	}
}

// A question finds what a passage says in another language, and what it says in its own.
func TestReadIn(t *testing.T) {
	r := open(t)
	german := r.Passage("Mietvertrag\n\nDie Wohnung liegt im zweiten Stock. Die Kaution beträgt 2.070 € und ist bei Einzug zu zahlen. Haustiere sind nicht erlaubt.")
	french := r.Passage("Le gîte est prêt à partir de 16 heures. Vous devez partir avant 10 heures.")
	spanish := r.Passage("La piscina abre todos los días a las 10:15. El socorrista se llama Iker Zubiri.")
	for _, c := range []struct {
		language Language
		question string
		passage  *Passage
		want     string
	}{
		{German, "how much is the Kaution?", german, "2.070 €"},
		{English, "How much is the deposit?", german, "2.070 €"},
		{Spanish, "at what time abre the piscina?", spanish, "10:15"},
		{English, "When does the pool open?", spanish, "10:15"},
		{German, "when öffnet the Schwimmbad?", spanish, "10:15"},
		{French, "at what time must one partir?", french, "10 heures"},
	} {
		got, err := r.ReadIn(t.Context(), c.language, c.question, []*Passage{c.passage})
		if err != nil {
			t.Fatal(err)
		}
		best, text := got[0].Best(1), ""
		for _, w := range c.passage.text.words {
			text += w.gap + w.text
		}
		if len(best) == 0 || !strings.Contains(text[best[0].Begin:best[0].End], c.want) || got[0].None > 0.5 {
			t.Errorf("%s: %v, no answer %.2f", c.question, best, got[0].None)
		}
	}
}

// Words of other languages that mean the same are related.
func TestMeanings(t *testing.T) {
	r := open(t)
	for word, others := range map[string][]string{
		"deposit":    {"kaution", "fianza"},
		"kaution":    {"deposit", "fianza"},
		"schlüssel":  {"key", "llave", "llaves"},
		"schlussel":  {"key", "llave"},
		"gift":       {"regalo"}, // not poison
		"zubirikeit": nil,
	} {
		got := r.Related(word)
		for _, other := range others {
			if got[other] != translated {
				t.Errorf("%s: %s counts %v", word, other, got[other])
			}
		}
		if others == nil && len(got) > 0 {
			t.Errorf("%s: %v", word, got)
		}
	}
}

func open(t *testing.T) *Reader {
	t.Helper()
	r, err := New(shipped(t), native.New(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
