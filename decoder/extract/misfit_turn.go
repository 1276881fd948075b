package extract

import (
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/model/span"
)

// turn is which time a question asks for of something that comes again.
type turn uint8

const (
	anyTurn  turn = iota
	nextTurn      // "when is the next oil change?"
	lastTurn      // "when was the last oil change?"
)

// turnOf returns which time a question asks for.
func turnOf(question string) turn {
	past := happened.MatchString(question)
	switch {
	case !asksTime.MatchString(question):
	case !past && asksNext.MatchString(question):
		return nextTurn
	case past && asksLast.MatchString(question):
		return lastTurn
	}
	return anyTurn
}

var (
	asksNext = lazyregexp.New(`(?i)\b(?:next|upcoming|coming|due)\b`)
	asksLast = lazyregexp.New(`(?i)\b(?:last|latest|most recent(?:ly)?|previous)\b`)
)

// isOver reports whether a value is the time at which something was: the last one, or that of an entry in a log.
func (c candidate) isOver() bool {
	if c.isAhead() {
		return false
	}
	before := c.clauseBefore()
	if c.says(lastOfMonth) {
		return false
	}
	if lastHere.MatchString(before) && !lastDay.MatchString(before) || lastBehind.MatchString(c.after) || lastIn.MatchString(c.value) {
		return true
	}
	return !c.says(toCome) && (c.says(isDone) || c.matches(ofThePast, c.head) || c.matches(ofThePast, c.title()))
}

// tellsOnlyOfNext reports whether a sentence says when something comes next, and nothing of what was.
func (c candidate) tellsOnlyOfNext() bool {
	return nextThingIn(c.said) != "" && !c.says(asksLast) && !c.says(happened) && !c.says(isDone)
}

// isAhead reports whether a value is the time of what comes next.
func (c candidate) isAhead() bool {
	return nextHere.MatchString(beside.ReplaceAllString(c.clauseBefore(), "")) || nextThingIn(c.value) != ""
}

// nextThingIn returns the word after "next" in a text, but not what something stands next to; "" if there is none.
func nextThingIn(text string) string {
	if m := nextThing.FindStringSubmatch(beside.ReplaceAllString(text, "")); m != nil {
		return m[1]
	}
	return ""
}

// clauseBefore returns what stands before the value in its clause.
func (c candidate) clauseBefore() string {
	before := c.before()
	return before[strings.LastIndexAny(before, ".;,()|")+1:]
}

// isOfOtherNext reports whether a sentence tells of something else that comes next than the question.
func (w wants) isOfOtherNext(said string) bool {
	thing := nextThingIn(said)
	return thing != "" && !anyNext[strings.ToLower(thing)] && words.Shared(excluding(w.words, nextWords), words.Content(said)) == 0
}

// withItsTurn replaces the time of another turn, or of something else that comes next, by its sentence, which says of
// what the time is: "every three months, last on 15 May".
func (p passage) withItsTurn(w wants, t answerText) answerText {
	c := p.candidate(span.Span{Begin: t.at + t.quote.From, End: t.at + t.quote.To}, newSentenceCache(patternCache{}))
	if c.isOver() || w.isOfOtherNext(t.quote.Text) {
		t.text = p.saySentences(t.at, t.at+len(t.quote.Text))
	}
	return t
}

var (
	// lastHere matches before a time what makes it that of the last turn: "last on ", "the last one was on ".
	lastHere = lazyregexp.New(`(?i)(?:^|[^\pL])(?:last|previous(?:ly)?|most recent(?:ly)?|zuletzt|letzte[rsnm]?|derni(?:er|ère)s?|últim[oa]s?)(?: \pL+){0,4}:? *$`)
	// lastDay matches what is last of one turn: "the last day to book".
	lastDay = lazyregexp.New(`(?i)\blast (?:day|date|chance|call|moment|orders?|entr(?:y|ies))\b`)
	// lastIn matches a time that says the same itself: "last on 3 May".
	lastIn = lazyregexp.New(`(?i)^(?:last|zuletzt|en dernier)\b`)
	// lastBehind matches the same behind it, " (last)", or how long after it the next one is due: ", to be done again after a year".
	lastBehind = lazyregexp.New(`(?i)^,? ?(?:\((?:last|done|erledigt|fait)\b|(?:was|were) the (?:last|previous)\b|for the last time\b)|^,?(?: to be| must be| is| lasts| holds| valid)[^.;]{0,30} ` + interval)
	// nextHere matches before a time what makes it that of the next turn.
	nextHere = lazyregexp.New(`(?i)(?:^|[^\pL])(?:next|upcoming|nächste[rsnm]?|prochaine?s?|próxim[oa]s?)(?: \pL+){0,4}:? *$`)
	// nextThing matches what comes next: "next inspection".
	nextThing = lazyregexp.New(`(?i)\bnext (\pL+)`)

	// beside matches what says where something is: "next to".
	beside = lazyregexp.New(`(?i)\bnext (?:to|door)\b`)
	// lastOfMonth matches a day that comes again each month or year: "the last Friday of March".
	lastOfMonth = lazyregexp.New(`(?i)\blast (?:(?:working |business )?day|weekend|week|` + aWeekdayName + `) (?:of|in) `)

	// isDone matches what says that something was done: "replaced".
	isDone = lazyregexp.New(`(?i)` + apart(`done|serviced|replaced|swept|inspected|vaccinated|cleaned|tested|checked|repaired|refilled|renewed|erledigt|gewartet|ersetzt|geprüft|effectuée?s?|remplacée?s?`))
	// ofThePast matches a heading of what was done, "Service log", but not one of something else, "History club", "Logs".
	ofThePast = lazyregexp.New(`(?im)(?:\b(?:log|logbook|history|protokoll|done|completed|historique|historial)|\pL ?logs)(?: *$| *[^\pL\s]| (?:of|for|from|since|in|until|von|der|des|du|de)\b)`)
	// toCome matches what says that something is yet to be, or is so always: "due", "will".
	toCome = lazyregexp.New(`(?i)` + apart(`next|due|will|be|is|are|shall|should|must|planned|scheduled|booked|appointments?|upcoming|coming|again|nächste\pL?|fällig|geplant|wird|werden|ist|sind|prochaine?s?|prévue?s?|est|sont|próxim[oa]s?`))
	// comesAgain matches what says how often, or after which time, something is due: "every three months".
	comesAgain = lazyregexp.New(`(?i)` + apart(`every|each|yearly|annual|annually|monthly|weekly|quarterly|(?:once|twice|times) (?:an?|per)|`+interval+`|alle|jährlich|monatlich|tou(?:s|tes) les|chaque|cada`))
)

// interval is a part of patterns: how long after something the next is due, or for how long it holds.
const interval = `(?:after|every|for) (?:\d+|an?|one|` + numbersFromTwo + `) (?:days?|weeks?|months?|years?)`

// nextWords say of a thing only that it comes next.
var nextWords = words.Set("next due")

// anyNext has words that stand for whatever comes next: "next appointment".
var anyNext = words.Set("one appointment date time day visit meeting session turn term on is in at due week month year")
