package extract

import (
	"math"
	"path/filepath"
	"slices"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// replace lets a sentence answer that says what has become of this side's likeliest value: "moved from 3 May to 10
// May", or "is now on 10 May", after "3 May". The sentence is about the same thing, so it is right if the value was,
// and the value is out of date.
func (d *Decoder) replace(s *part, ends []tandem.Token) {
	best := s.best()
	was := &s.contexts[best]
	if s.form != formValue || best == len(s.contexts)-1 || len(was.texts) == 0 || asksHandOver.MatchString(s.clause) {
		return
	}
	said := was.texts[0].quote
	said.Passage = best
	if replaces(said.Text, said.Text[said.From:said.To], s.clause) {
		return
	}
	q, ok := s.replacement(said)
	if !ok {
		return
	}
	now := &s.contexts[q.Passage]
	now.texts = d.spell(s.form, []answerText{{text: unmarked(flat(q.Text)), p: 1, quote: q}}, ends)
	if r := was.r; q.Passage != best {
		was.r, now.r = min(r, now.r)-outdatedBy, r
	}
}

// outdatedBy is by how many nats, at least, a value that is out of date is less likely than the one in its place.
const outdatedBy = 1

// replacement returns the sentence that says what has become of another's value: the first such sentence, or the one in the
// latest document of its series.
func (s *part) replacement(was decoder.Quote) (found decoder.Quote, ok bool) {
	for i, c := range s.contexts[:len(s.contexts)-1] {
		for _, n := range c.near {
			q := n.quote
			q.Passage = i
			sure := c.answers * math.Exp(n.odds)
			switch {
			case strings.Contains(q.Text, "\n") || !s.putsRight(was, q, sure) && !s.newer(was, q, sure) && !s.movedInChat(was, q):
			case !ok || s.laterInSeries(found, q):
				found, ok = q, true
			}
		}
	}
	// The reader may point at what was so, or at the time of a message.
	if sameValue(found.Text[found.From:found.To], was.Text[was.From:was.To], s.clause) || ok && s.movedInChat(was, found) {
		found.From, found.To = 0, len(found.Text)
	}
	return found, ok
}

// ofOneText reports whether two sentences are of one document, or of two of a series, and not of two things there: a
// question that names the section of the first asks nothing about the section of the second.
func (s *part) ofOneText(a, b decoder.Quote) bool {
	if s.laterInSeries(a, b) {
		return true
	}
	old, now := s.known[a.Passage], s.known[b.Passage]
	here, there := old.sectionHead(old.at(a)), now.sectionHead(now.at(b))
	named := words.Content(here)
	other := here != there && len(named) > 0 && words.HasAll(words.Content(s.clause), named) && !addition.MatchString(there)
	return old.source == now.source && !other
}

// at returns the offset of a quote of the passage, or where its text begins.
func (p passage) at(q decoder.Quote) int {
	return p.body + max(0, strings.Index(p.text[p.body:], q.Text))
}

// laterInSeries reports whether the second of two sentences is in a later document of the series of the first.
func (s *part) laterInSeries(a, b decoder.Quote) bool {
	return inSeries(s.known[a.Passage].source, s.known[b.Passage].source)
}

// inSeries reports whether the names of two files differ in their dates alone, and the second has the later one: "fees
// 2022.md" and "fees 2024.md".
func inSeries(before, after string) bool {
	before, after = strings.ToLower(filepath.Base(before)), strings.ToLower(filepath.Base(after))
	old, now := dateInName.FindString(before), dateInName.FindString(after)
	return old != "" && len(old) == len(now) && old < now && strings.Replace(before, old, "", 1) == strings.Replace(after, now, "", 1)
}

// laterNamed reports whether the names of two files have dates, and the second the later one: "boat log 2023.txt" and "boat
// 2024.md".
func laterNamed(before, after string) bool {
	old, now := dateInName.FindString(filepath.Base(before)), dateInName.FindString(filepath.Base(after))
	return old != "" && now != "" && old[:4] < now[:4]
}

// dateInName matches the date in the name of a file, with the year first, or two years: "2024", "2024-05-03", "2023-24".
var dateInName = lazyregexp.New(`(?:19|20)\d\d(?:[-_. ]?(?:0[1-9]|1[0-2])(?:[-_. ]?[0-3]\d)?|[-_](?:20)?\d\d\b)?`)

// putsRight reports whether a sentence about the question's topic says that the value of another is no longer so. sure
// is the reader's probability that the sentence answers. If it may, or both are in one passage, where one answer rules out
// the other, a telling word makes the topic within one document.
func (s *part) putsRight(was, q decoder.Quote, sure float64) bool {
	if !replaces(q.Text, was.Text[was.From:was.To], s.clause) {
		return false
	}
	topic := words.Content(s.clause)
	return s.sharedWith(q, topic) >= min(len(topic), fewestShared(topic)) ||
		(sure > maybeRead || was.Passage == q.Passage) && s.ofOneText(was, q) && s.sharedWith(q, excluding(topic, ofAnyDocument)) > 0
}

// sharedWith counts the words of a topic that a sentence has, with what stands around it. A title names the topic only if
// the sentence has another word of it: "the tour is moved" in "Mill: news" is not about the mill's fee.
func (s *part) sharedWith(q decoder.Quote, topic []string) int {
	around, other := s.wordsAround(q), words.Without(topic, words.Content(s.known[q.Passage].title()))
	if len(other) > 0 && words.Shared(other, around) == 0 {
		return 0
	}
	return words.Shared(topic, around)
}

// replaces reports whether a sentence says that a value is no longer so: it has the value where it names the former
// one.
func replaces(sentence, value, question string) bool {
	return replacesAny(formerValuesIn(sentence, question), sentence, value, question)
}

// formerValuesIn returns the former values that a sentence names: for a question for somebody, also those in whose place another
// comes.
func formerValuesIn(sentence, question string) (all []string) {
	patterns := []*lazyregexp.Regexp{outdated}
	if asksPerson.MatchString(question) && !standsInFor(sentence, question) {
		patterns = append(patterns, handsOver)
	}
	for _, pattern := range patterns {
		for _, m := range pattern.FindAllStringSubmatch(sentence, -1) {
			all = append(all, strings.Join(m[1:], ""))
		}
	}
	return all
}

// standsInFor reports whether a sentence says that somebody comes in another's place only at times that a question does not
// name: "during the holidays".
func standsInFor(sentence, question string) bool {
	times := forAWhile.FindAllString(sentence, -1)
	return len(times) > 0 && words.Shared(words.Content(strings.Join(times, " ")), words.Content(question)) == 0
}

// replacesAny is replaces for a sentence whose former values are known.
func replacesAny(olds []string, sentence, value, question string) bool {
	if slices.ContainsFunc(olds, func(old string) bool { return sameValue(old, value, question) }) {
		return true
	}
	before, after, ok := cutInstead(sentence)
	return ok && mentions(before, value, question) && !mentions(after, value, question)
}

// supersedes reports whether a sentence says that another value of the same kind is no longer so, or that its own value
// is new.
func supersedes(q decoder.Quote, question string) bool {
	value := q.Text[q.From:q.To]
	for _, old := range formerValuesIn(q.Text, question) {
		alike := (len(numbers(old)) > 0) == (len(numbers(value)) > 0)
		if alike && len(valueWords(old, question)) > 0 && !sameValue(old, value, question) {
			return true
		}
	}
	if _, after, ok := cutInstead(q.Text); ok && mentions(after, value, question) {
		return true
	}
	about := words.Content(question)
	if isNew.MatchString(q.Text) && !isNew.MatchString(question) && words.Shared(about, words.Content(q.Text)) > 0 {
		return true
	}
	return !newThing.MatchString(question) && slices.ContainsFunc(newThing.FindAllStringSubmatch(q.Text, -1), func(m []string) bool {
		return words.Shared(words.Content(m[1]), about) > 0
	})
}

var (
	// isNew matches a sentence that says what has changed or is put right: "costs now", "went up to", "correction".
	isNew = lazyregexp.New(`(?i)\b(?:(?:costs?|lives?|works?|opens?|closes?|starts?|meets?) now|now (?:costs?|lives?|works?|opens?|closes?|starts?|meets?)|(?:goes|go|went|rises?|increases?|increased|raised|dropped|drops?|reduced|lowered) (?:up |down )?to|correction|corrected|korrektur|ab sofort)\b`)

	// newThing matches a new thing: "the new price".
	newThing = lazyregexp.New(`(?i)\b(?:new|neue[rnms]?|nouve(?:au|lle)|nuev[oa]) ([\pL-]+)`)
)

// outdated matches what names a former value: "instead of 9:40", "moved from 3 to 10 May", "no longer on Fridays",
// "for '3 May' read 10 May".
var outdated = lazyregexp.New(`(?i)(?:, (?:and )?(?:not|nicht)|\b(?:instead of|rather than|no longer|not any more|formerly|previously|until now|up to now|used to be|an?statt|bisher|nicht mehr|au lieu d[eu']|jusqu'ici|en lugar del?|en vez del?|antes)) +([^,;()]{1,40})` +
	`|(?:\((?:was|before:?|formerly:?|previously:?|until now:?|until then:?|up from|down from|bisher|bis dahin|jusqu'alors|statt) +|\buntil [^,;.()]{1,30} it was +)((?:[^,;()]|,\d){1,40})` +
	`|, (?:and |but )?(?:not|nicht|pas) (?:the |at |on |in )?([£€$]?\d[^,;()]{0,40}|(?-i:\p{Lu})[^,;.()]{0,40})` +
	`|\d\S{0,6}(?: \pL{1,9}\.?){0,2} (?:not|nicht|pas) (?:at |on )?([£€$]?\d[^,;()]{0,40})` + // without a comma, between two numbers
	`|\b` + aWeekdayName + `s? (?:not|nicht|pas) (?:on )?(` + aWeekdayName + `s?)\b` +
	`|\bfor ["“”„«‘']([^"“”„«»’]{1,60})["“”»’'],? (?:please )?read ` +
	`|\b(?:moved|changed|postponed|shifted|rescheduled|brought forward|verlegt|verschoben|geändert|reportée?|déplacée?|aplazad[oa]|cambiad[oa])[^,;:.]{0,40}? (?:from|von|vom|de|du|del) +((?:[^,;()]|, ){1,40}?) (?:to|until|auf|au|à|al?)(?:[^\pL\pN]|$)`)

// handsOver matches what names somebody in whose place another comes, with the name as a group: "takes over the keys
// from Ada", "in Ada's place", "Ada has left;".
var handsOver = lazyregexp.New(`(?:^|[^\pL])(?:` +
	`(?:(?:takes?|took|taken|taking)(?: [^.;:()]{1,60}?)?? over(?: [^.;:()]{1,60}?)?? from|(?:replac|reliev)(?:es|ed|ing)|succe(?:eds|eded|eding)|in (?:the )?place of|successor (?:of|to)|` +
	`(?:übernimmt|übernahm|übernehmen)(?: [^.;:()]{1,60}?)?? von|anstelle von|Nachfolger(?:in)? von|ersetzt|löst|` +
	`(?:reprend|reprennent)(?: [^.;:()]{1,60}?)?? de|remplace|succède à|à la place de|prend la (?:relève|suite) de) (?:Mr |Mrs |Ms |Dr |Herrn |Frau |M\. |Mme )?(` + personName + `)|` +
	`(?:in|an) (` + personName + `)(?:['’]s place|['’]s stead|s Stelle)|` +
	`(` + personName + `),? (?:` +
	`(?:hands|handed|passes|passed|übergibt|übergab|passe|transmet)(?: [^.;:()]{1,60}?)?? (?:to|an|à) (?:\p{Lu}|me |us |mich |uns )|` +
	`(?:(?:is|was|has been|will be) (?:replaced|succeeded|relieved) by|wird (?:von|durch) [^.;:()]{1,40} (?:ersetzt|abgelöst)|est remplacée? par) |` +
	`(?:has |had |is |hat |ist |a )?(?:left|quit|resigned|retired|stepped down|moved (?:away|on)|gone|aufgehört|ausgeschieden|démissionné)(?: (?:the|our) (?:team|company|club|firm|board|house|office|project|group|choir|band))?(?:[;,–—-]|[.]? *$| and | so )))`)

// forAWhile matches at which times somebody stands in for another: "during the holidays", "on Fridays", "for two weeks".
var forAWhile = lazyregexp.New(`(?i)\b(?:(?:during|while) [^.;,]{1,40}|(?:on|in) [\pL ]{1,30}\bonly\b|temporarily|on ` + aWeekdayName + `s\b|for (?:the )?(?:an?|one|` + numbersFromTwo + `|few|\d+|day|week|month)(?: (?:days?|weeks?|months?))?\b|vorübergehend|während [^.;,]{1,40}|pendant [^.;,]{1,40})`)

// asksHandOver matches a question for whoever hands something over: "who left?".
var asksHandOver = lazyregexp.New(`(?i)` + questionStart + `who(?:['’]s| is| was| has| had| will)? (?:left|leav\pL+|quits?|hand(?:s|ed|ing)?|pass(?:es|ed|ing)?|resign\pL*|retir\pL*|step\pL*|gone|moved|replaced by|succeeded by|relieved by)\b`)

// personName is a part of patterns for the names of somebody: "Ada Lund".
const personName = `\p{Lu}[\p{Ll}-]+(?: \p{Lu}[\p{Ll}-]+){0,2}`

// instead matches the word for what comes in the place of something, at the end of a clause: "Come on 10 May instead."
var instead = lazyregexp.New(`(?i)(?:^|[^\pL\pN])(instead|stattdessen|à la place|en su lugar)(?: *[.,;!)]| *$)`)

// cutInstead divides a sentence that ends with "instead" into what was so and what is so.
func cutInstead(sentence string) (before, after string, ok bool) {
	at := instead.FindStringSubmatchIndex(sentence)
	if at == nil {
		return "", "", false
	}
	comma := strings.LastIndexAny(sentence[:at[2]], ",;")
	if comma < 0 {
		return "", "", false
	}
	return sentence[:comma], sentence[comma:], true
}

// newer reports whether a sentence announces a value in the place of another sentence's, or is in a later document of its
// series. It must be about the question's topic, and its passage must have all words of the question that the other
// sentence has: the notice about the late boat is not about the early one. In a series it must have those of the other
// passage: the April bill is not about March.
func (s *part) newer(was, q decoder.Quote, sure float64) bool {
	old, now := s.known[was.Passage], s.known[q.Passage]
	later := s.laterInSeries(was, q) && !ofYear.MatchString(s.clause) && !otherLabel(was.Text, q.Text)
	if asksPast.MatchString(s.clause) || !later && (!now.announces(q) || old.announces(was) && !laterNamed(old.source, now.source)) || !s.comparable(was, q) {
		return false
	}
	topic := words.Content(s.clause)
	if s.sharedWith(q, topic) < fewestShared(topic) {
		return false
	}
	said, says := words.Content(was.Text), words.Content(now.text)
	if later {
		said = slices.DeleteFunc(words.Content(old.text), asksCost.MatchString)
	}
	asked := slices.DeleteFunc(topic, func(w string) bool { return !words.Has(said, w) })
	missing := len(unmentioned(asked, says))
	switch {
	case missing == 0:
		return sure > surelyRead || s.ofOneText(was, q) && words.HasAll(s.wordsAround(q), asked)
	case s.ofOneText(was, q):
		return sure > mostSurelyRead && 2*missing <= len(asked)
	}
	return false
}

// movedInChat reports whether a message says that what a message above it in the same passage names has another time:
// "sweep moved to Friday" below "chimney sweep comes on Thursday". What it names before that word, the other names, too,
// and so does the question: the practice of the choir is not its concert.
func (s *part) movedInChat(was, q decoder.Quote) bool {
	p := s.known[q.Passage]
	old, now := p.at(was), p.at(q)
	moved := isMoved.FindStringIndex(q.Text)
	if moved == nil || was.Passage != q.Passage || now <= old || !p.isSpeech(old) || !p.isSpeech(now) || asksPast.MatchString(s.clause) {
		return false
	}
	head := len(speaker.FindString(q.Text))
	if head > moved[0] || !aTime.MatchString(was.Text[was.From:was.To]) || !aTime.MatchString(q.Text[moved[1]:]) {
		return false
	}
	subject := words.Content(q.Text[head:moved[0]])
	return len(subject) > 0 && words.HasAll(words.Content(was.Text), subject) && words.HasAll(words.Content(s.clause), subject)
}

// isMoved matches what a chat says of something that has another time: "sweep moved to ".
var isMoved = lazyregexp.New(`(?i) (?:is |has been |was )?(?:moved|postponed|shifted|rescheduled|verschoben|reportée?) (?:to|until|auf|à|au) `)

// fewestShared returns how many words of a question a sentence must have, with what stands around it, to be about its topic.
func fewestShared(topic []string) int {
	return max(minTopicWords, int(math.Ceil(minTopicShare*float64(len(topic)))))
}

// otherLabel reports whether two lines have different labels: "Hive A: 8 frames" and "Hive B: 4 frames".
func otherLabel(a, b string) bool {
	a, b = labelOf(a), labelOf(b)
	return a != "" && b != "" && !strings.EqualFold(a, b)
}

// announcesAbout reports whether a sentence that has all words of the question, with its title, announces its value.
// The value that it replaces may stand in a document of the other side.
func (p passage) announcesAbout(w wants, q decoder.Quote) bool {
	has := words.Content(p.text[:p.body] + q.Text)
	all := len(w.words) >= minTopicWords && words.HasAll(has, w.words)
	return all && p.announces(q) && !replaces(q.Text, q.Text[q.From:q.To], w.question)
}

// comparable reports whether two values differ and are of one kind: both amounts of money, both times of the day, or
// neither.
func (s *part) comparable(a, b decoder.Quote) bool {
	x, y := a.Text[a.From:a.To], b.Text[b.From:b.To]
	return ofMoney.MatchString(x) == ofMoney.MatchString(y) && ofDay.MatchString(x) == ofDay.MatchString(y) && disagree(s.clause, x, b)
}

// announces reports whether a sentence says that its value is new, without the former one: "is now £31", "moved to
// 3:15", "from 14 July the boat leaves at 8", or anything below "Addendum". The date of the change is no such value.
func (p passage) announces(q decoder.Quote) bool {
	dates := inForceFrom.FindAllStringIndex(q.Text, -1)
	if slices.ContainsFunc(dates, func(m []int) bool { return m[0] < q.To && q.From < m[1] }) {
		return false
	}
	before := func(m []int) bool { return m[0] < q.To && q.From-m[1] <= beforeNews }
	if slices.ContainsFunc(append(dates, saysChange.FindAllStringIndex(q.Text, -1)...), before) || nowBehind.MatchString(q.Text[q.To:]) {
		return true
	}
	return addition.MatchString(p.text[p.body:p.at(q)])
}

// Bounds for a sentence that may say what has become of another's value.
const (
	surelyRead     = 0.5 // the least probability, by the reader, that it answers
	mostSurelyRead = 0.9 // the least if it lacks words of the question that the other has
	maybeRead      = 0.1 // the least if it names the other's value
	minTopicShare  = 0.4 // the least share of the question's words that it has with what stands around it
	minTopicWords  = 2   // the fewest such words: "And the bike?" does not say what it asks about it
	beforeNews     = 40  // the most bytes between what announces a value and the value
)

// saysChange matches what stands before a new value: "now", "moved to", "correction: ".
var saysChange = lazyregexp.New(`(?i)` + apart(`now|no more|no longer|instead|from here on`+
	`|(?:mov|chang|rais|ris|increas|reduc|lower|postpon|reschedul|extend|shift|switch|swapp|dropp|shov)(?:es?|s|ed|en|ing)?(?: \pL+){0,5}? (?:to|until|till)`+
	`|put(?: \pL+){0,4}? (?:up|back|forward)(?: to| until| by|:)|(?:goes|go|went|gone|going) (?:up|down|back)(?: to)?`+
	`|(?:update|updated|correction|corrected|change|changed|changes|notice|edit|ps|nb|neu|korrektur|änderung|changement|cambio)\b[^.:;\n]{0,30}[:!–—]`))

// inForceFrom matches the time from which something holds, "from 14 July", but no range of times.
var inForceFrom = lazyregexp.New(`(?i)(?:^|[^\pL])(?:with effect from|effective(?: from)?|as (?:of|from)|starting|from) (?:next (?:week|month|year|season|term)|the same (?:date|day)|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? ` +
	aMonth + `|` + aMonth + `)(?:[^\pL\pN–-]|$)`)

// nowBehind matches what makes the value before it a new one: " now".
var nowBehind = lazyregexp.New(`(?i)^ ?(?:now|instead|from now on)\b`)

// addition matches the heading of what was added to a text and changes what stands above: "Addendum".
var addition = lazyregexp.New(`(?im)(?:^|[.!?] )\W*(?:addend\pL*|amendment|amended|errat\pL+|corrigend\pL+|correction|stop press|p\.?s\b|update|nachtrag|avenant)\b`)

// wasSo matches what says of the value after it that it was so: "was 28 €".
var wasSo = lazyregexp.New(`(?i)` + apart(`was|were|used to|had|cost|originally|at first|first|initially|war|waren|kostete|était|coûtait|era|costaba`))

// isNow matches what says of another value that it is so: "now 31 €".
var isNow = lazyregexp.New(`(?i)\b(?:now|since|as of|from now on|today|currently|jetzt|seit|désormais|depuis|ahora|desde)\b`)
