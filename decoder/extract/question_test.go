package extract

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
)

// Words of several languages are found between blanks, whatever letters they begin and end with, and not within other words.
func TestWholeWords(t *testing.T) {
	for name, c := range map[string]struct {
		pattern   *lazyregexp.Regexp
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

// Candidates are compared with the beginning of a question, however long it is.
func TestLongQuestion(t *testing.T) {
	for _, word := range []string{"Anna Bert ", "Zoë", "ä"} {
		d := open(t, config(0), "When did "+strings.Repeat(word, 60_000/len(word)), deviceNotes)
		if c := d.clauses[0]; len(c) > maxClause || len(c) < maxClause-10 || !utf8.ValidString(c) || len(d.parts[0].clause) > 2*maxClause {
			t.Errorf("%q: %d bytes are read", word, len(c))
		}
	}
}
