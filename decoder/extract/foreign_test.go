package extract

import (
	"slices"
	"testing"

	"tandem/aggregator"
	"tandem/decoder/question"
)

// The words that any question is made of are read in English, with or without accents; what a question is about stays as it is.
func TestInEnglish(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"Wie viel kostet die Kurtaxe für Kinder?", "how much is the Kurtaxe for Kinder?"},
		{"Und wie lange ist das Freibad geöffnet?", "how long is the Freibad geöffnet?"},
		{"Darf man im See baden?", "may one in the See baden?"},
		{"bis wann müssen wir die Schlüssel zurückgeben", "until when must we the Schlüssel zurückgeben?"},
		{"Was ist die PIN von Ömer's Karte?", "what is the PIN of Ömer's Karte?"},
		{"À quelle heure part le dernier bac ?", "at what time part the dernier bac?"},
		{"Où est la clé de l’atelier ?", "where is the clé of the atelier?"},
		{"Qu'est-ce que Léa apporte ?", "what Léa apporte?"},
		{"Les chiens sont-ils admis sur la plage aujourd’hui ?", "is it true that the chiens are admis on the plage aujourd'hui?"},
		{"Y a-t-il un médecin au village ?", "is there a médecin at the village?"},
		{"¿Cuántos días tarda el envío a Cádiz?", "how many días tarda the envío to Cádiz?"},
		{"donde esta la llave del garaje", "where is the llave of the garaje?"},
		{"¿La biblioteca cierra a las 20:30?", "is it true that the biblioteca cierra to the 20:30?"},
	} {
		if got, _, _ := inEnglish(c.question); got != c.want {
			t.Errorf("%q: %q, want %q", c.question, got, c.want)
		}
	}
}

// English questions, and those of other languages, come back as they were.
func TestInEnglishLeavesOthers(t *testing.T) {
	for _, q := range []string{
		"Was Peter in Berlin?", "Was the man in the hat an actor?", "Who wrote Das Kapital?", "What is the price of la carte?",
		"When does Die Brücke open?", "die release date", "Comment on the draft", "hat size of Ole", "Do I need a tent?",
		"Quanto costa la camera?", "Hur mycket kostar det?", "何時に開きますか", "", "¿?", "wifi password mum",
	} {
		if got, _, _ := inEnglish(q); got != q {
			t.Errorf("%q: %q", q, got)
		}
	}
}

// Each part of a question is read in English, and its form is that of the English question.
func TestForeignQuestion(t *testing.T) {
	d := open(t, config(0), "Warum ist der Steg gesperrt?", notes("Hafen\nDer Steg ist gesperrt, weil Bohlen fehlen."))
	if want := []string{"why is the Steg gesperrt?"}; !slices.Equal(d.clauses, want) || d.parts[0].form != formReason {
		t.Errorf("%q, form %d", d.clauses, d.parts[0].form)
	}
	if d.Finish(t.Context(), d.cfg.Tokenizer.EOGs()[:1]) != nil || len(question.Asked{Text: "Warum?"}.Clauses()) != 1 {
		t.Error("no single part")
	}
}

// The pair refuses in the question's language if that is sure, the whole answer in one, and in English otherwise.
func TestRefusesInItsLanguage(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"Wer hat die Mondfähre gestrichen?", "Das weiß ich nicht."},
		{"Qui a peint le plafond de l'opéra ?", "Je ne sais pas."},
		{"¿Quién pintó el techo de la ópera?", "No lo sé."},
		{"Who painted the ceiling of the opera?", "I don't know."},
		{"Was war declared in Ruritania?", "I don't know."},
		{"Wer malte die Oper? Und wann war die Mondlandung?", "Das weiß ich nicht.\nDas weiß ich nicht."},
	} {
		device, cloud := open(t, config(0), c.question, deviceNotes), open(t, config(0), c.question, cloudNotes)
		if got := answer(t, aggregator.Rule{Greedy: true}, device, cloud); got != c.want {
			t.Errorf("%s: %q, want %q", c.question, got, c.want)
		}
		for _, p := range device.Parts() {
			if p.Nothing < 0.2 || len(p.Otherwise) > 0 {
				t.Errorf("%s: a refusal with %+v", c.question, p)
			}
		}
	}
}
