package extract

import (
	"regexp"
	"strings"

	"tandem/decoder"
)

var (
	asksBirth = regexp.MustCompile(`(?i)\b(?:born|birth(?:day|date)?)\b`)
	asksDeath = regexp.MustCompile(`(?i)\b(?:dies?|died|death|dead)\b`)
	// lifespan matches a name and the two dates behind it: "Ada Lovelace (10 December 1815 – 27 November 1852)".
	lifespan = regexp.MustCompile(`(\p{Lu}[^()\n.;:]*?) ?\([^()]*?((?:\d{1,2}\.? \pL+,? |\pL+ \d{1,2}, )?\d{3,4}) ?[–—-] ?((?:\d{1,2}\.? \pL+,? |\pL+ \d{1,2}, )?\d{3,4})\)`)
)

// lived returns the date of a person's birth or death from the brackets behind the name, where a question asks for one: no sentence
// says there which date is which.
func (p passage) lived(w wants) (from, to int, ok bool) {
	birth, death := asksBirth.MatchString(w.question), asksDeath.MatchString(w.question)
	if !w.time || birth == death {
		return 0, 0, false
	}
	who := strings.ToLower(strings.Join(nameWords(w.question), " "))
	for _, m := range lifespan.FindAllStringSubmatchIndex(p.text[p.body:], -1) {
		name := decoder.ContentWords(p.text[p.body+m[2] : p.body+m[3]])
		wanted := decoder.ContentWords(who)
		if len(wanted) == 0 || decoder.SharedWords(wanted, name) < len(wanted) {
			continue
		}
		if birth {
			return p.body + m[4], p.body + m[5], true
		}
		return p.body + m[6], p.body + m[7], true
	}
	return 0, 0, false
}

// nameWords returns the words of a question with a capital, without its first.
func nameWords(question string) (out []string) {
	for i, w := range strings.Fields(question) {
		if i > 0 && w != strings.ToLower(w) {
			out = append(out, strings.TrimSuffix(strings.Trim(w, "?.,!"), "'s"))
		}
	}
	return out
}
