package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/model/span"
)

var (
	// asksAbout matches whom or what a question asks about by name, after its verb: "when did Emil", "is Annika".
	asksAbout = lazyregexp.New(`^\W*(?:(?i:when|where|what|which|how|why|since|until|and|but|so|from|for|at|in|on)\b[^,;?]*? )?(?i:did|does|do|has|have|had|is|was|will|can|could|should|may|must) (\p{Lu}[\pL-]+(?: \p{Lu}[\pL-]+)*)(?:\?| \p{Ll}|$)`)
	// andMore matches a second name: " and Ann".
	andMore = lazyregexp.New(`^ (?:and|or|und|oder|et|ou)\b`)
	// isPassive matches a verb in the passive voice: "was founded".
	isPassive = lazyregexp.New(`(?i)\b(?:was|were|is|are|been)\b`)
	// ofAThing matches what stands after a verb that is done to something that the text has named: " the company" after
	// "founded".
	ofAThing = lazyregexp.New(`^ (?:the|this|that|der|die|das|den)\b`)
	// saidOf matches the name with which a sentence begins, before its verb: "Emil swims".
	saidOf = lazyregexp.New(`^\W*(\p{Lu}[\pL-]+(?: \p{Lu}[\pL-]+)*) (\p{Ll}\pL*)`)
	// ofOthers matches what may stand for somebody other than the subject of a sentence: "them", "both".
	ofOthers = lazyregexp.New(`(?i)` + apart(`he|him|she|her|it|they|them|their|we|us|our|both|each other|everybody|everyone|all|too|also|neither|other|others`))
)

// ofSame matches a pronoun that stands for the subject of the clause before: "Jonas has none, he is …".
var ofSame = lazyregexp.New(`, (?:and |so |but )?(?:he|she)\b`)

// askedAbout returns the words of the name that a question asks about, in lower case.
func askedAbout(question string) []string {
	m := asksAbout.FindStringSubmatchIndex(question)
	if m == nil || andMore.MatchString(question[m[3]:]) {
		return nil
	}
	called := strings.Fields(strings.ToLower(question[m[2]:m[3]]))
	if slices.ContainsFunc(called, func(w string) bool { return noName.MatchString(w) || len(words.Content(w)) == 0 }) {
		return nil
	}
	return called
}

// ofAnotherName reports whether a sentence is about somebody other than the one that the question names, though the
// passage speaks of both. Where the sentence has a pronoun or a second name, it may be about that one all the same, and
// what somebody does to "the company" may be done to the one who is asked about.
func (w wants) ofAnotherName(c candidate) bool {
	if len(w.about) == 0 || w.person {
		return false
	}
	here := strings.ToLower(c.title() + " " + c.head + " " + c.said)
	if slices.ContainsFunc(w.about, func(n string) bool { return strings.Contains(here, n) }) || ofOthers.MatchString(ofSame.ReplaceAllString(c.said, "")) {
		return false
	}
	m := saidOf.FindStringSubmatchIndex(c.said)
	if m == nil {
		return false
	}
	name, verb := c.said[m[2]:m[3]], c.said[m[4]:m[5]]
	switch {
	case andMore.MatchString(" "+verb) || len(words.Content(name)) == 0 || noName.MatchString(name):
		return false
	case ofAThing.MatchString(c.said[m[1]:]): // it may be what the question asks about
		return false
	case isPassive.MatchString(w.question) && words.Shared(words.Content(verb), w.words) > 0: // who did it
		return false
	}
	return !hasAnyWord(name, letterWords(w.question)) && (w.people[name] || c.isName(name)) && c.tellsOf(w.about, name)
}

// onlyAsked reports whether somebody in a chat only asks what the candidate seems to say: it stands in the question there,
// or is the one who asks. What follows the question may answer it.
func (w wants) onlyAsked(c candidate) bool {
	from, to := c.askedInSpeech(c.begin, c.end)
	switch {
	case from == to:
		return false
	case from <= c.from && c.from < to:
		return true
	}
	rest := c.text[to:max(to, c.end)]
	return w.person && c.from < from && !answersSelf(rest) && words.Shared(words.Content(c.text[from:to]), w.words) > words.Shared(words.Content(rest), w.words)
}

// inAnothersLine reports whether a candidate stands in a line that begins with somebody's name, and another line begins with
// the name of the one that the question asks about: "DAD: …". What the first one says of the other is no such line.
func (w wants) inAnothersLine(c candidate) bool {
	begin := c.lineStart(c.begin)
	here := c.nameOfLine(begin)
	if here == "" {
		return false
	}
	asked := letterWords(w.question)
	if hasAnyWord(here, asked) {
		return false
	}
	said := letterWords(c.text[begin:c.lineEnd(begin)])
	for begin := range c.lines() {
		if other := c.nameOfLine(begin); hasAnyWord(other, asked) {
			return !hasAnyWord(other, said) && w.isPerson(c, other) && w.isPerson(c, here)
		}
	}
	return false
}

// nameOfLine returns what may be the name with which the line at an offset begins, or "".
func (p passage) nameOfLine(at int) string {
	if m := aPersonsLine.FindStringSubmatch(p.text[at:p.lineEnd(at)]); m != nil {
		return m[1]
	}
	return ""
}

// isPerson reports whether a word at the beginning of a line is somebody's name.
func (w wants) isPerson(c candidate, name string) bool {
	return kin[strings.ToLower(name)] || w.people[name] || c.isName(name)
}

// aPersonsLine matches the name with which a line begins, before a colon: "- Ada: ".
var aPersonsLine = lazyregexp.New(`^\W*(\p{Lu}\pL+): `)

// kin are names for members of a family.
var kin = words.Set(`mum mam mom mummy mommy mother dad daddy father granny gran nan nana grandma grandmother oma grandpa grandad granddad grandfather opa
	mama mamma papa mutter vater maman mère père mamá papá madre padre sister brother aunt auntie uncle`)

// peopleIn returns the capitalized words within sentences of English passages, which are mostly names.
func peopleIn(known []passage) map[string]bool {
	all := map[string]bool{}
	for _, p := range known {
		if p.read.Language() != span.English {
			continue
		}
		for _, m := range withinSentence.FindAllStringSubmatch(p.text[p.body:], -1) {
			all[m[1]] = true
		}
	}
	return all
}

// withinSentence matches a word with a capital within a sentence: "by Emil".
var withinSentence = lazyregexp.New(`[\p{Ll}\d,] (\p{Lu}\p{Ll}[\pL-]*)`)

// isName reports whether a word at the beginning of a sentence is a name: the passage has it within a sentence, too, or
// with a thing that belongs to it.
func (p passage) isName(name string) bool {
	pattern := lazyregexp.New(`(?:[\p{Ll}\d,] |\()` + regexp.QuoteMeta(name) + `\b|\b` + regexp.QuoteMeta(name) + `['’]s\b|\b` + regexp.QuoteMeta(name) + ` \pL+[^.!?\n]* (?:his|her)\b`)
	return pattern.MatchString(p.text[p.body:])
}

// tellsOf reports whether the passage speaks of a name, and other is not another name of the same person.
func (p passage) tellsOf(name []string, other string) bool {
	own, body := regexp.QuoteMeta(strings.Join(name, " ")), p.text[p.body:]
	if regexp.MustCompile(`(?i)\b(?:` + own + ` ` + regexp.QuoteMeta(other) + `|` + regexp.QuoteMeta(other) + ` ` + own + `)\b`).MatchString(body) {
		return false
	}
	if calledSo := lazyregexp.New(`(?i)(?:\b(?:called|call|calls|named|nicknamed|known as|alias|nee|née|genannt)\b[^.!?\n]{0,20}? |[("“„])` + regexp.QuoteMeta(other) + `\b`); calledSo.MatchString(body) {
		return false
	}
	if calledSo := lazyregexp.New(`(?i)\b` + regexp.QuoteMeta(other) + `\b[^.!?\n]{0,40} (?:called|call|calls|named|nicknamed) ` + own + `\b`); calledSo.MatchString(body) {
		return false // "Granny, as they called Ann"
	}
	if begins := 3; len(other) >= begins && len(name[0]) >= begins && strings.EqualFold(other[:begins], name[0][:begins]) {
		return false // "Susi", "Susanne"
	}
	if isSurname(body, strings.Fields(other)[0]) || isSurname(body, capitalOf(body, name[0])) {
		return false // who has more names may be called by another one
	}
	return regexp.MustCompile(`(?i)(?:^|[^\pL])` + own + `(?:$|[^\pL])`).MatchString(body)
}

// isSurname reports whether a name stands after another one somewhere in a text.
func isSurname(text, name string) bool {
	if name == "" {
		return false
	}
	behind := lazyregexp.New(`(\p{Lu}\p{Ll}+) ` + regexp.QuoteMeta(name) + `(?:$|[^\pL])`)
	return slices.ContainsFunc(behind.FindAllStringSubmatch(text, -1), func(m []string) bool { return len(words.Content(m[1])) > 0 })
}

// capitalOf returns a word with the capital that it has in a text, or nothing.
func capitalOf(text, word string) string {
	for _, m := range aName.FindAllString(text, -1) {
		for w := range strings.FieldsSeq(m) {
			if w = words.WithoutPossessive(w); strings.EqualFold(w, word) {
				return w
			}
		}
	}
	return ""
}

// asksWhoNot matches a question about who is not or does not: "who can't come?".
var asksWhoNot = lazyregexp.New(`(?i)` + questionStart + `who (?:(?:is|are|was|were|has|have|had|do|does|did|will|would|could|can) not\b|(?:is|are|was|were|has|have|had|do|does|did|would|could|ca)n['’]?t\b|won['’]?t\b|cannot\b|can['’]?t\b)`)

// saysNot matches what may say so of somebody: "not", "absent", "still owes".
var saysNot = lazyregexp.New(`(?i)\b(?:not|no|cannot|never|nobody|none|nor|neither|without|except|but|only|apolog\pL+|absen\pL+|excuse\pL*|sorry|miss\pL*|unable|away|off|out|sick|ill|declin\pL+|refus\pL+|fail\pL*|owes?|owing|unpaid|outstanding|still|yet|late|overdue|exempt|free|besides|apart|bar|non|lack\pL*|skip\pL*|gave up|drop\pL*|pending|regret\pL*|leave|holiday|abst\pL+|allerg\pL+|quit|stop\pL*|cancel\pL*|withdr\pL+|forg\pL+)\b|n['’]t\b`)

// affirms reports whether a sentence has all words of a question about who does not, except those that say not.
func (w wants) affirms(said string) bool {
	asked := words.Content(notDoing.ReplaceAllString(w.question, ""))
	for i := range asked {
		asked[i] = strings.TrimSuffix(asked[i], "ing")
	}
	return len(asked) > 0 && words.HasAll(words.Content(said), asked)
}

// notDoing matches the words of such a question that say not, or little: "can't", "get".
var notDoing = lazyregexp.New(`(?i)\b(?:\pL+n['’]t|can(?:not|['’]?t)?|get|got|any ?more|yet)\b`)

// denies matches what says, after a name, that somebody is not or no longer the one: " did not want to", " stepped
// down".
var denies = lazyregexp.New(`(?i)^,? (?:(?:did|does|do|has|have|had|is|was|are|were|will|would|could|can) not\b|(?:did|does|do|has|have|had|is|was|are|were|would|could|ca)n['’]t\b|won['’]t\b|no longer\b|never\b|(?:is |has |was )?(?:step(?:s|ped|ping) down|resign(?:s|ed|ing)|retir(?:es|ed|ing)|withdr(?:aws|ew)))`)

// iDeny matches what speakers say who are not the one that is asked for: "I cannot find it".
var iDeny = lazyregexp.New(`(?i)^I (?:cannot|(?:do|did|have|had|could|would|will|can|am|was) not|(?:do|did|have|had|could|would|ca|was)n['’]t|won['’]t|never)\b`)

// asksDenied matches a question for such a one: "who no longer comes?".
var asksDenied = lazyregexp.New(`(?i)\bnot\b|n['’]t\b|\bno longer\b|\bnever\b|step|resign|retir|withdr`)
