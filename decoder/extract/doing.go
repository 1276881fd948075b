package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

var (
	asksOption = regexp.MustCompile(`(?i)^\W*(?:and )?(?:which|what) (?:[\pL\pN._-]+ )?(?:options?|flags?|switch|settings?|parameters?|directives?)\b`)
	asksDoer   = regexp.MustCompile(`(?i)^\W*(?:and )?(?:who|by whom was|by whom were) (\pL+)\b`)
	optionName = regexp.MustCompile(`^--?[\pL\pN#?@]`)
)

// option returns the entry of the option that does what a question asks for, "which option creates the home directory" or "how do I create
// a system account": of those whose description begins with a sentence that has all its words, the one with the fewest others.
func (p passage) option(question string) (from, to int, ok bool) {
	which := asksOption.MatchString(question)
	if !which && formOf(question) != steps {
		return 0, 0, false
	}
	wanted := besides(p.besidesNames(decoder.ContentWords(question)), optionWords)
	if len(wanted) < 2 {
		return 0, 0, false
	}
	fewest := 0
	for begin := p.body; begin < len(p.text); begin = p.lineEnd(begin) + 1 {
		end := p.lineEnd(begin)
		label := labelOf(p.text[begin:end])
		if !optionName.MatchString(label) {
			continue
		}
		begin += len(lineMark.FindString(p.text[begin:end]))
		_, first := p.sentence(begin, begin+len(label)+len(": ")+1)
		words := decoder.ContentWords(p.text[begin+len(label) : min(first, end)])
		if len(without(slices.Clone(wanted), words)) > 0 || len(words) > mostOthers*len(wanted) {
			continue
		}
		switch {
		case !ok || len(words) < fewest:
			from, to, ok, fewest = begin, min(first, end), true, len(words)
		case len(words) == fewest:
			return 0, 0, false
		}
	}
	return from, to, ok
}

// mostOthers bounds the words of an option's description, for each that the question has.
const mostOthers = 4

var optionWords = set("option options flag flags switch setting settings parameter parameters directive command line use")

// doer returns who did something: the name behind "by" in a sentence that has the other words of the question, "lzmash was written by …"
// for "who wrote lzmash".
func (p passage) doer(question string) (from, to int, ok bool) {
	m := asksDoer.FindStringSubmatchIndex(question)
	if m == nil {
		return 0, 0, false
	}
	verb := strings.ToLower(question[m[2]:m[3]])
	rest := p.besidesNames(decoder.ContentWords(question[m[1]:]))
	if functional[verb] || len(rest) == 0 {
		return 0, 0, false
	}
	for _, at := range byName.FindAllStringSubmatchIndex(p.text[p.body:], -1) {
		done := strings.ToLower(p.text[p.body+at[2] : p.body+at[3]])
		if done != verb && participles[verb] != done {
			continue
		}
		begin, end := p.sentence(p.body+at[2], p.body+at[5])
		said := decoder.ContentWords(p.text[begin:end])
		if slices.ContainsFunc(rest, func(w string) bool { return !slices.Contains(said, w) }) {
			continue
		}
		if ok {
			return 0, 0, false
		}
		from, to, ok = p.body+at[4], p.body+at[5], true
	}
	return from, to, ok
}

var (
	// byName matches a participle and a name behind "by".
	byName     = regexp.MustCompile(`(\pL+) by ((?:the )?(?:\p{Lu}\. )*\p{Lu}[\pL'’-]+(?: (?:(?:van|von|de|der|den|la|le|of|and|&) )*(?:\p{Lu}\. )*\p{Lu}[\pL'’-]+)*)`)
	functional = set("is was are were does did do has had can could will would may might must should owns")
	// participles are the irregular ones of what people do.
	participles = map[string]string{
		"wrote": "written", "made": "made", "built": "built", "drew": "drawn", "began": "begun", "chose": "chosen", "gave": "given", "led": "led", "ran": "run",
		"sang": "sung", "sold": "sold", "took": "taken", "taught": "taught", "won": "won", "bought": "bought", "brought": "brought", "found": "found", "held": "held",
		"spoke": "spoken", "saw": "seen", "drove": "driven", "broke": "broken", "stole": "stolen", "did": "done", "paid": "paid", "sent": "sent", "wove": "woven",
	}
)
