package extract

import (
	"regexp"
	"strings"
	"testing"

	"tandem/retrieval/passages"
)

// What is counted must be spoken of, under one of its names; people, and measures, have too many.
func TestUncounted(t *testing.T) {
	for _, c := range []struct {
		question string
		want     bool
	}{
		{"How many bicycles are in the shed?", true},
		{"How many canoes are in the shed?", false},
		{"How many heavy canoes are there?", false},
		{"How many berries grow by the shed?", false},
		{"How many people sleep in the shed?", false},
		{"How many days is the shed closed?", false},
		{"What is in the shed?", false},
	} {
		p := config(0).passage(passages.Passage{Title: "Shed", Text: "Three canoes and 40 paddles. A berry bush hides the door."})
		none := func(string) map[string]float64 { return nil }
		if got := wantsOf(c.question).uncounted(p, none); got != c.want {
			t.Errorf("%s %v, want %v", c.question, got, c.want)
		}
		also := func(string) map[string]float64 { return map[string]float64{"paddle": 0.5} }
		if wantsOf(c.question).uncounted(p, also) {
			t.Errorf("%s: a related word does not count", c.question)
		}
	}
}

// Words of several languages are found between blanks, whatever letters they begin and end with, and not within other words.
func TestWholeWords(t *testing.T) {
	for name, c := range map[string]struct {
		pattern   *regexp.Regexp
		has, lack string
	}{
		"was so":    {wasSo, "was used_to war était coûtait costaba", "wash étaits"},
		"is now":    {isNow, "now désormais desde", "know nowhere"},
		"instead":   {instead, "instead stattdessen à_la_place en_su_lugar", "instead_of là_la_place"},
		"cancelled": {cancelled, "canceled cancelled called_off abgesagt entfällt fällt_aus annulé annulée supprimé supprimée cancelado canceladas suspendida", "uncancelled cancelador"},
		"a time": {aTime, `3 may noon Montag Sonntags Mittwoch Feiertage Tag Tagen Woche Wochen wochentags Monat monatlich Jahr Jahren Uhr Stunde Stunden Abend abends Mittwochabend
			Nacht Mitternacht Mittag vormittags Januar März Mai Juni Dezember jour jours semaines mois année années heures midi matin soir lundi lundis
			día días semana mes meses año años hora horas mañana tarde noche lunes domingos février août enero agosto`,
			"James mail stage vintage community diary media junior heureux smart"},
		"a number": {aNumber, `3 two half ein eine einen kein keine zwei drei fünf zwölf dreizehn vierzig zweihundert tausend kostenlos bis lang lange un une deux sept dix
			gratuit gratuite jusqu'au uno una dos ocho diez gratis hasta`, "community being reindeer language bistro under Septet"},
	} {
		for _, w := range strings.Fields(c.has) {
			if w = strings.ReplaceAll(w, "_", " "); !c.pattern.MatchString(w) || !c.pattern.MatchString("Il "+w+".") {
				t.Errorf("%s does not match %q", name, w)
			}
		}
		for _, w := range strings.Fields(c.lack) {
			if w = strings.ReplaceAll(w, "_", " "); c.pattern.MatchString(w) {
				t.Errorf("%s matches %q", name, w)
			}
		}
	}
}
