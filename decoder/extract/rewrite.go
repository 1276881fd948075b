package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// rewrites change what is said with a value that alone would be wrong or mean little. Each sees what those before it
// have made of the text, and none depends on the reader. A value is taken back in the sentence that the reader points
// at, so that comes first. Then two look for a better value elsewhere, and the others judge the one that was found. Of
// two that replace the text, the later one has the last word.
var rewrites = []struct {
	when func(w wants) bool // of the question; nil for all questions
	do   func(p passage, w wants, t answerText) answerText
}{
	// "The trip was planned for 13 May. It has been moved to 20 May." for "13 May"
	{func(w wants) bool { return !asksUndone.MatchString(w.question) }, passage.withWhatUndoes},
	// "When is the class?": "The class ended on 3 May." for "3 May"
	{func(w wants) bool { return w.time }, passage.withItsEnd},
	// "When is the next class?": "Every month, last on 3 May." for "3 May"
	{func(w wants) bool { return w.turn == nextTurn }, passage.withItsTurn},
	// "When did Bob join?": "2021" for "2019" in "Ann joined in 2019, Bob in 2021"
	{nil, passage.inItsClause},
	// "Since when has the club 40 members?": of several months in turn with 40 members, the first
	{nil, passage.firstSince},
	// "Where is the party?": "The party is at 9:00." for "9:00"
	{nil, passage.inSentence},
	// "What did a ticket cost before?": "A ticket costs 9 € now. It was 8 € until May." for "9 €"
	{func(w wants) bool { return w.former }, passage.withFormer},
	// "When did we have lunch with Ada?": "Friday 7 Feb: Lunch with Ada." for "Lunch"
	{func(w wants) bool { return w.time && happened.MatchString(w.question) }, passage.underDay},
}

// rewritten applies the rewrites to texts that answer with a value.
func (p passage) rewritten(w wants, texts []answerText) []answerText {
	for i := range texts {
		for _, r := range rewrites {
			if r.when == nil || r.when(w) {
				texts[i] = r.do(p, w, texts[i])
			}
		}
	}
	return texts
}

// withWhatUndoes replaces a value that its sentence, the next one or the line above its list takes back, by those
// sentences. The value alone would be wrong: "will not charge 60 €", "the race on 10 May is cancelled", "was planned
// for 13 May. It has been moved to 20 May."
func (p passage) withWhatUndoes(_ wants, t answerText) answerText {
	if t.quote.From == t.quote.To {
		return t
	}
	begin := t.at
	from, to, end := begin+t.quote.From, begin+t.quote.To, begin+len(t.quote.Text)
	if next, changed := p.onlyPlanned(begin, from, end); changed {
		end = next
	} else if next, off := p.calledOffNext(begin, end); off {
		end = next
	} else if p.denyingLead(begin) == "" && !negated(p.text[begin:from]) && !inNeither(p.text[begin:end], from-begin, to-begin) && !cancelledIn(p.text, begin, from, to, end) {
		return t
	}
	t.text = p.saySentences(begin, end)
	return t
}

// withItsEnd replaces the time at which something ended by the sentence that says so: it is not the time at which it is.
func (p passage) withItsEnd(w wants, t answerText) answerText {
	ended := endedAt.FindString(t.quote.Text[:t.quote.From])
	if ended != "" && !asksEnd.MatchString(w.question) && words.Shared(words.Content(ended), w.words) == 0 {
		t.text = p.saySentences(t.at, t.at+len(t.quote.Text))
	}
	return t
}

// calledOffNext reports whether the sentence after one goes on about it and says that it does not take place, and where
// that sentence ends.
func (p passage) calledOffNext(begin, end int) (next int, off bool) {
	said, next := p.sentenceAfter(begin, end)
	return next, goesOnAbout.MatchString(said) && isCancelled.MatchString(said) && !mayCancel.MatchString(said)
}

// onlyPlanned reports whether a value belongs to a plan that has changed, as the rest of its sentence or the next one
// says, and where that sentence ends.
func (p passage) onlyPlanned(begin, from, end int) (next int, changed bool) {
	plan := wasPlan.FindStringIndex(p.text[begin:from])
	if plan == nil || planChanged.MatchString(p.text[begin+plan[1]:from]) { // what it was changed to
		return end, false
	}
	if planChanged.MatchString(p.text[from:end]) {
		return end, true
	}
	said, next := p.sentenceAfter(begin, end)
	return next, goesOnAbout.MatchString(said) && planChanged.MatchString(said)
}

// sentenceAfter returns the sentence after the one from begin to end, if it is in the same line, and where it ends. If
// there is none, said is empty and next is end.
func (p passage) sentenceAfter(begin, end int) (said string, next int) {
	_, next = p.sentence(min(len(p.text), end+1), min(len(p.text), end+2))
	if next <= end || next > p.lineEnd(begin) {
		return "", end
	}
	return strings.TrimSpace(p.text[end:next]), next
}

// negated reports whether the clause before a value denies it. Bounds such as "not before 9:00" deny nothing.
func negated(before string) bool {
	if at := clauseEnd.FindAllStringIndex(before, -1); at != nil {
		before = before[at[len(at)-1][0]:]
	}
	at := negation.FindStringIndex(before)
	return at != nil && !conditional.MatchString(before) && !bound.MatchString(before[at[1]:]) && !boundOf.MatchString(before)
}

// inNeither reports whether a value is one of those that a sentence denies: "Neither Ann nor Bob has a car."
func inNeither(said string, from, to int) bool {
	for _, m := range neither.FindAllStringIndex(said, -1) {
		if m[0] < to && from <= m[1] {
			return true
		}
	}
	return false
}

// cancelledIn reports whether the clause of a value says that something does not take place.
func cancelledIn(text string, begin, from, to, end int) bool {
	if i := strings.LastIndexAny(text[begin:from], ";"); i >= 0 {
		begin += i
	}
	if i := strings.IndexAny(text[to:end], ";"); i >= 0 {
		end = to + i
	}
	return isCancelled.MatchString(text[begin:end]) && !mayCancel.MatchString(text[begin:end])
}

var (
	// neither matches what denies two things, up to where the second begins: "neither Ann nor ".
	neither = lazyregexp.New(`(?i)\b(?:neither\b[^.;:!?]*? nor|weder\b[^.;:!?]*? noch)(?: (?:the|a|an|in|on|at|to|with|for|my|our|his|her|der|die|das|ein|eine))*(?: |$)`)
	// negation matches a word that denies: "never", "won't ".
	negation = lazyregexp.New(`(?i)(?:` + apart(`not|never|cannot|no longer|nicht|niemals|jamais|nunca`) + `|n['’]t )`)
	// clauseEnd matches where a clause ends: ", ", " but ".
	clauseEnd = lazyregexp.New(`(?i)[,;:.()–—]|\b(?:but|and|or|so|sondern|aber|und|mais|et|pero|y)\b`)
	// conditional matches what makes a clause a condition: "if it rains".
	conditional = lazyregexp.New(`(?i)\b(?:if|unless|when|whoever|wenn|falls|si)\b`)

	// bound matches after a negation what makes it deny something other than the value: " before 9:00", " only".
	bound = lazyregexp.New(`(?i)^ ?(?:only|just|before|after|until|till|later|earlier|more|less|fewer|over|above|below|exceed|vor|nach|mehr|später|nur|yet|far|long|all|always|every|forget|wait|hesitate|miss)\b`)
	// boundOf matches before a value what makes it a bound, which a negation does not deny: "not smaller than ".
	boundOf = lazyregexp.New(`(?i)\b(?:before|after|until|till|since|than|below|over|above|under|beyond|without|except|exceeds?|vor|nach|bis|seit|als|avant|après|depuis|que|antes de|hasta|desde)(?: \pL+){0,2} *$`)

	// wasPlan matches what makes the value after it one of a plan: "was planned".
	wasPlan = lazyregexp.New(`(?i)\b(?:was|were|had been) (?:originally |first |at first |initially )?(?:to (?:be|have|go|come|take|start|open)|planned|scheduled|supposed|due|meant|intended|booked|expected|going to)\b|(?:\bhad|['’]d) (?:originally |first )?(?:announced|planned|scheduled)\b`)
	// planChanged matches what says that it came otherwise: "postponed", "fell through".
	planChanged = lazyregexp.New(`(?i)` + apart(`moved|postponed|brought forward|put (?:back|off)|rescheduled|shifted|delayed|held up|cancell?ed|called off|declined|withdrawn?|withdrew|stepped down|fell through|fallen through|instead|in the end|(?:is|are) now|(?:can|will)(?: now)? only|turned down|(?:cannot|can['’]t|couldn['’]t|won['’]t) (?:now )?be\b`))
	// goesOnAbout matches a sentence that goes on about the one before it: "It has been moved.".
	goesOnAbout = lazyregexp.New(`(?i)^(?:it|this|that|she|he|they|because|due to|owing to|but|unfortunately|sadly|however|now|instead|in the end)\b`)

	// isCancelled matches what says that something does not take place: "is cancelled", "will not take place".
	isCancelled = lazyregexp.New(`(?i)\b(?:is|are|was|were|been|wurde|wird|ist|est|été|fue|sido) (?:\pL+ )?(?:` + isOff + `)(?:[^\pL]|$)|` + notHeld)
	// endedAt matches what makes the time after it the end of something: "ended on ".
	endedAt = lazyregexp.New(`(?i)\b(?:ended|stopped|ceased|closed down|finished)(?: for good)?(?: on| in| at)?(?: the)? $`)
	// mayCancel matches what only says that it may not, or nearly did not: "may be cancelled".
	mayCancel = lazyregexp.New(`(?i)\b(?:(?:can|cannot|may|must|should|could|has to|have to)(?: not)? be|nearly|almost) (?:` + isOff + `)(?:[^\pL]|$)`)

	// asksUndone matches a question for what is not so, or was planned: "what was cancelled?".
	asksUndone = lazyregexp.New(`(?i)\b(?:not|never|no longer|cannot|` + isOff + `|g[ia]ve up|planned|originally|at first|supposed)\b|n['’]t\b`)
)

const (
	// isOff matches what, after "is" or "was", says that something does not take place.
	isOff = `cancell?ed|called off|given up|scrapped|vacated|abandoned|discontinued|abgesagt|annulée?s?|supprimée?s?|cancelad[oa]s?|suspendid[oa]s?`
	// notHeld matches what says so by itself: "will not take place", "no longer runs".
	notHeld = `(?:\b(?:not|never|no longer)|n['’]t)(?: be)? (?:take place|taking place|go ahead|going ahead|happening|happen|be held|held)\b|\bno longer (?:takes? place|held|runs?|meets?)\b|(?:^|[^\pL])(?:entfällt|fällt aus)(?:$|[^\pL])`
)

// usedTo matches what says that something was so, and is no longer: "used to cost 28 €", "was 28 € until".
var usedTo = lazyregexp.New(`(?i)\b(?:used to (?:be|have|cost|live|open|close|start|meet|run|work|pay|hang|stand)|formerly|previously|originally|at first|(?:was|were|cost) [^,;.]{1,40}? until)\b`)

// wasOfOld matches a sentence that says what the thing of the sentence before it was: "It was 9013 until last summer."
var wasOfOld = lazyregexp.New(`(?i)^(?:(?:it|they) used to (?:be|cost|hang|stand|lie|live)\b|(?:it|they|that|this|he|she) (?:was|were|had been|cost)\b.*\b(?:until|before|previously|formerly|at first|originally|used to)\b|(?:before(?: that)?|until (?:then|[^,;.]{1,30})|previously|formerly|at first|originally),? (?:it|they|he|she) (?:was|were|had|cost|used to)\b)`)

// sinceThen returns where the text ends that shows that a value is new: its sentence says first what used to be so, or
// the next one says what was. ok is false if nothing shows that.
func (p passage) sinceThen(begin, from, end int) (to int, ok bool) {
	said := p.text[begin:max(begin, from)]
	if was := usedTo.FindStringIndex(said); was != nil {
		return end, isNow.MatchString(said[was[1]:])
	}
	next, to := p.sentenceAfter(begin, end)
	return to, !wasSo.MatchString(said) && wasOfOld.MatchString(next)
}

// withFormer replaces a new value, where the question asks for the former one, by the sentences that say both.
func (p passage) withFormer(_ wants, t answerText) answerText {
	if t.quote.From == t.quote.To || len(words.Content(t.quote.Text)) == 0 {
		return t
	}
	if to, ok := p.sinceThen(t.at, t.at+t.quote.From, t.at+len(t.quote.Text)); ok {
		t.text = p.saySentences(t.at, to)
	}
	return t
}

// inSentence replaces a value that cannot be what the question asks for, though the reader points at it, by its
// sentence: a time for a question about a place, a thing for one about a measure, the end of a range of times for one about
// its beginning, what is struck out or held only until some time. If the question asks for somebody and speakers say that
// it is themselves, their name is put before what they say.
func (p passage) inSentence(w wants, t answerText) answerText {
	q := t.quote
	value := q.Text[q.From:q.To]
	m := speaker.FindStringSubmatchIndex(p.text[p.lineStart(t.at):])
	switch {
	case m != nil && w.person && p.text[t.at:t.at+len(q.Text)] == q.Text && saysOfSelf.MatchString(q.Text) && !namesAnother(value):
		t.text = p.text[p.lineStart(t.at)+m[2] : t.at+len(q.Text)]
	case value != "" && (w.noPlace(value) || w.measure && !aNumber.MatchString(value) && aNumber.MatchString(q.Text) || w.otherEnd(q.Text[:q.From], value) || !w.past && (p.isStruckOut(t.at+q.From, value) || heldOnce(q.Text, q.From, q.To))):
		t.text = p.saySentences(t.at, t.at+len(q.Text))
	}
	return t
}

// otherEnd reports whether the question asks for one end of a range of times and the value is the other.
func (w wants) otherEnd(before, value string) bool {
	return asksSince.MatchString(w.question) && (untilHere.MatchString(before) || untilIn.MatchString(value)) ||
		asksUntil.MatchString(w.question) && sinceHere.MatchString(before)
}

// untilHere matches before a value what makes it an end: "until the ".
var untilHere = lazyregexp.New(`(?i)(?:^|[^\pL])(?:until|till|up to|bis(?: zum)?|jusqu'(?:à|en|au)) (?:the |end of |the end of )?$`)

// untilIn matches a value that says itself that it is an end: "until May".
var untilIn = lazyregexp.New(`(?i)^(?:until|till|up to|bis|jusqu'(?:à|en|au)) [^,;]*$`)

// sinceHere matches before a value what makes it a beginning: "since ".
var sinceHere = lazyregexp.New(`(?i)(?:^|[^\pL])(?:since|as of|seit|ab|depuis) (?:the )?$`)

// underDay puts the day in the heading before a sentence, if the question asks when something was and the sentence
// does not say it: below "Friday 7 Feb", "Lunch with Ada."
func (p passage) underDay(_ wants, t answerText) answerText {
	if saysWhen(t.quote.Text) || yetToCome.MatchString(t.quote.Text) {
		return t
	}
	if day := p.dayAbove(t.at); day != "" && t.text != day {
		t.text = day + ": " + unmarked(t.quote.Text)
	}
	return t
}

// saysWhen reports whether a text says when. A number without a unit of time does not.
func saysWhen(text string) bool {
	return aDigitOfTime.MatchString(text) || aTime.MatchString(anyDigits.ReplaceAllString(text, "#"))
}

// yetToCome matches what was only announced, or told, on the day: "will open", "said".
var yetToCome = lazyregexp.New(`(?i)\b(?:will (?:not |now |only |soon |also )?(?:be|open|close|come|go|start|begin|have|take|get|move|arrive|leave|cost|bring|send|build|do|make|pay|stay|meet|end|become|give|see|let|need)|won['’]t|going to|(?:is|are) to|planned?|said|says|told)\b`)

// happened matches a question about what did happen: "when was the roof mended?".
var happened = lazyregexp.New(`(?i)\b(?:did|was|were|have|has|had)\b`) // asks about what did

// anyDigits matches a number: "410".
var anyDigits = lazyregexp.New(`\d+`)

// aDigitOfTime matches figures that are a time: "1984", "9:40", "9 am", "at 9".
var aDigitOfTime = lazyregexp.New(`(?i)\b(?:1[5-9]|20)\d\d\b|\d[:.]\d\d\b|\d ?(?:[ap]\.?m|uhr|h)\b|\d{1,2}[./]\d|\b(?:at|by|until|till|um) \d`)

// saysOfSelf matches what speakers say of themselves: "I bring the grill".
var saysOfSelf = lazyregexp.New(`(?i)(?:^|: |[.!?,] )(?:I|I['’](?:m|ll|ve|d)|me|ich|je|yo)(?:[ .!,]|$)`)

// namesAnother reports whether a value has a name.
func namesAnother(value string) bool {
	return slices.ContainsFunc(aName.FindAllString(value, -1), func(name string) bool { return len(words.Content(name)) > 0 })
}
