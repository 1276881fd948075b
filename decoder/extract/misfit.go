package extract

import (
	"slices"
	"strings"

	"tandem/internal/words"
	"tandem/model/span"
)

// misfit is a reason why a candidate is not what a question asks for. A small reader points next to the right words
// although the thing itself is missing there.
type misfit struct {
	name    string
	applies func(w wants, c candidate) bool
	cost    float64 // to the candidate, in nats

	valuesOnly    bool // only where a value answers, not a sentence
	perSentence   bool // applies looks at the sentence alone, so its verdict holds for all candidates there
	sentenceFails bool // the sentence, with the heading above it, cannot answer either
}

// What misfits cost, in nats.
const (
	wrongKind  = 3 // a thing of another kind
	echoed     = 2 // only what the question says, or the wrong part of the right sentence
	wrongPart  = 3 // what is said of another subject or another time
	over       = 9 // what the text says was so until some time
	otherEntry = 6 // the day of something else: a reader takes the day below a sentence for sure
)

// misfits are the reasons, each below an example. The costs of all that apply to a candidate add up.
var misfits = []misfit{
	// The kind: what is asked for is something else.

	// "How loud is the pump?": not "wheels" in "The pump has wheels."
	{name: "no number", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.number && !(c.dated && !c.titled) && !c.has(aNumber, c.said)
	}},
	// "When is the water off in Mill Lane?": not "on the square" in "On 2 May the water is off in Mill Lane and on the square."
	{name: "no time in it", valuesOnly: true, cost: echoed, applies: func(w wants, c candidate) bool {
		return w.time && !c.dated && c.has(aTime, c.said) && !c.has(aTime, c.value)
	}},
	// "How much did the disk cost?": not "old" in "The disk in bay 2 is of 20 February 2026, the one in bay 1 is old."
	{name: "no number in it", valuesOnly: true, cost: echoed, applies: func(w wants, c candidate) bool {
		return (w.number || w.measure) && !c.dated && c.has(aNumber, c.said) && !c.has(aNumber, c.value)
	}},
	// "At what pressure do I refill it?": not "2 bar" in "Refill to 2 bar."
	{name: "up to which, not at which", valuesOnly: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.measure && !asksGoal.MatchString(w.question) && c.isGoal(w)
	}},
	// "What is Mr Lund's number?": not "phone" in "Mr Lund, phone 555 1204."
	{name: "no digit", valuesOnly: true, cost: wrongKind, applies: func(w wants, c candidate) bool {
		return w.digits && (!c.has(aNumber, c.value) || aMeasure.MatchString(c.value))
	}},
	// "What is the code of the padlock?": not "Dilip" in "Dilip has the new code."
	{name: "no code", valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.passcode && !mayBePasscode.MatchString(c.value)
	}},
	// "What does a lesson cost?": not "The invoice (no. 24-31) was paid" in "The invoice (no. 24-31) was paid. Lessons:
	// 31 an hour."
	{name: "no price", valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.price && !aPrice.MatchString(c.withColumnNames(c.from, c.from+len(c.value))) && !c.matches(aPrice, c.head)
	}},
	// "How much is breakfast?": not "8.15" in "Breakfast is only for those who come before 8.15."
	{name: "no amount", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.money && !w.mayNameAmount(c.head+"\n"+c.withColumnNames(c.begin, c.end))
	}},
	// "Where is the meeting?": not "19:00" in "Meeting: 3 May, 19:00, laundry."
	{name: "no place", valuesOnly: true, cost: wrongKind, applies: func(w wants, c candidate) bool {
		return w.noPlace(c.value)
	}},
	// "How heavy is the sack?": not "3 weeks" in "The sack weighs 9 kg and lasts 3 weeks."
	{name: "another measure", valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: wants.hasWrongMeasure},
	// "When can I call Ada?": not "0555 016 218" in "Ada: 0555 016 218, from 9 to 5"
	{name: "no time but a number to call", valuesOnly: true, cost: wrongKind, applies: func(w wants, c candidate) bool {
		return w.time && asksCall.MatchString(w.question) && callNumber.MatchString(c.value) &&
			!beginsWithDate.MatchString(c.value) && !aClock.MatchString(c.value)
	}},
	// "When was the roofer paid?": not "410 euros" in "Paid the roofer 410 euros."
	{name: "no time but money", valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.time && onlyMoney.MatchString(c.value) && !c.says(upToMoney) && c.dayAbove(c.begin) == ""
	}},
	// "Which office is Ada in?": not "clerk" in "Job: clerk"
	{name: "no room but a role", perSentence: true, valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return asksRoom.MatchString(w.question) && !asksPost.MatchString(w.question) && ofRoles.MatchString(labelOf(c.said))
	}},
	// "How much is the train?": not "22.12" in "Train to Ulm, 22.12. 11:17"
	{name: "no price but a date", valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return (w.price || w.cost) && !w.time && c.isDottedDate()
	}},
	// "Who owns the pond?": not "K-32" in "Sample | Place / K-32 | pond"
	{name: "no person but an identifier", valuesOnly: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.person && onlyIdentifiers.MatchString(c.value) && c.rowAt(c.begin, c.end) >= 0 && w.namesNobody(c.value, c.columnAt(c.from, c.from+len(c.value)))
	}},
	// "Which bus goes to the pier?": not "£7" in "A taxi to the pier is £7. Bus 14 goes there."
	{name: "no thing but money", valuesOnly: true, cost: wrongKind, applies: func(w wants, c candidate) bool {
		return w.noMoney && onlyMoney.MatchString(c.value)
	}},
	// "What colour is the barrow?": not "the shed" in "The barrow stands by the shed."
	{name: "another shape", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.lacksShape(c.head + "\n" + c.withColumnNames(c.begin, c.end))
	}},
	// "Which chair is heavier?": not "oak" in "The oak chair is 9 kg, the ash chair 7 kg." A limit may be the lowest or
	// highest.
	{name: "no comparison", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.compares != "" && !strings.Contains(strings.ToLower(c.text), w.compares) && !(strings.HasSuffix(w.compares, "est") && c.says(aLimit))
	}},
	// "Why is the bridge closed?": not "The bridge is closed for longer" in "The bridge is closed for longer. Divers
	// found cracks."
	{name: "no reason", perSentence: true, cost: echoed, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.form == formReason && !c.says(aReason) && words.HasAll(words.Content(c.said), w.words)
	}},
	// "Which pass includes lockers?": not "Lockers" in the first row of a table, "Pass | Price | Lockers"
	{name: "names of columns", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return c.namesColumns(c.begin)
	}},
	// "When was the mill sold?": not "The mill was sold" in "News. / 4 March 2025 / The mill was sold."
	{name: "the question again", valuesOnly: true, cost: echoed, applies: func(w wants, c candidate) bool {
		said := words.Content(c.value)
		return !w.choice && len(said) > 0 && words.HasAll(w.words, said)
	}},

	// The subject: it is said of something else.

	// "What is the price of a morning?": not "£30" in "A full day is £58, a morning (until 12.45) £33 and an afternoon £30."
	{name: "another's value", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool { return c.isOtherEnumerated(w.words) }},
	// "What does E3 mean?": not "the tap is closed" in "E1: the tap is closed."
	{name: "another code", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.otherLetterCode},
	// "Who teaches year 3?": not "Ada Holm" in "Ada Holm teaches Year 5."
	{name: "another number", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.otherNumber(c.head, c.said) || w.otherNumber(c.title(), "") && !w.hasNumber(c.text)
	}},
	// "How many eggs does the cake need?": not "2" in "Cake / - 2 lemons / - 3 eggs"
	{name: "another's amount", perSentence: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		return len(w.counted) > 0 && c.countsSomethingElse(w.counted)
	}},
	// "What wetness in summer?": not "68 %" in "The dough has 68 % rather than my summer 75 %."
	{name: "the other of two", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		here, there := c.besideOther(w)
		return !w.past && here == 0 && there > 0
	}},
	// "When did the first mill close?": not "1971" in "The last mill closed in 1971."
	{name: "another in turn", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return len(w.ordinals) > 0 && w.otherOrdinal(c.head+"\n"+c.said)
	}},
	// "When does db-new go?": not "28 Feb" in "The box db-old goes on 28 Feb."
	{name: "another identifier", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.otherIdentifier(c.head, c.said)
	}},
	// "Since which version is there --fast?": not "2.0" in "--safe was dropped in 3.0. / Twice as fast since 2.0."
	{name: "another option", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.otherOption},
	// "How much faster is 2.1.0?": not "9 %" in "2.1.0 (May) / Faster by 5 %. / 2.0.0 (April) / Faster by 9 %."
	{name: "another release", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.ofOtherRelease},
	// "Who is deputy manager at the mill?": not "Ada Lund" in "Manager: Ada Lund"
	{name: "another role", perSentence: true, valuesOnly: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return len(w.role) > 0 && !words.HasAll(words.Content(c.text[:c.body]+" "+c.head+" "+c.said), w.role)
	}},
	// "When was Mina vaccinated?": not "2024" in "Emil was vaccinated in 2024. Mina and Emil swim."
	{name: "another name's", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.ofAnotherName},
	// "Which drops does Dad take?": not "Xalan" in "MUM: drops Xalan / DAD: B12"
	{name: "another's line", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.inAnothersLine},
	// "What does the lamp fair cost?": not "9 €" in "- Lamp fair: free / - Open mill: 9 €"
	{name: "another item's", perSentence: true, cost: otherEntry, sentenceFails: true, applies: wants.inOtherItem},
	// "Who is Ada Lund?": not "mill-2" in "Host | Owner / mill-2 | Ada Lund"
	{name: "what somebody has", perSentence: true, cost: wrongKind, sentenceFails: true, applies: wants.isOfTheirThing},
	// "What is the bus of the old mill?": not "22" in "Old mill / Bus: 33 / Red barn / Bus: 22"
	{name: "another's section", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.inOtherSection},
	// "Who has the keys?": not "Ada Lund" in "Ada Lund did not want the keys again, so Per Holm has them."
	{name: "denied", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		return w.person && (denies.MatchString(c.after) || iDeny.MatchString(c.value)) && !asksDenied.MatchString(w.question)
	}},
	// "Who has the key?": not "Ada" in "Ada: who has the key?? need it"
	{name: "only asked", valuesOnly: true, cost: wrongPart, sentenceFails: true, applies: wants.onlyAsked},
	// "Who can't come?": not "Ada" in "Ada comes at 9:00."
	{name: "not denied", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.denied && w.affirms(c.said) && !saysNot.MatchString(c.head+"\n"+c.said)
	}},
	// "Can children take it?": not "children" in "Keep out of the reach of children."
	{name: "out of reach", perSentence: true, cost: wrongKind, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.child && c.says(outOfReach)
	}},
	// "Can I bring tyres?": not "Asbestos is not accepted." beside "Tyres cost 4 €."
	{name: "another thing", perSentence: true, cost: wrongPart, applies: wants.isOfAnotherThing},
	// "Are dogs allowed at the pool?": not "Dogs are not allowed on the ferry."
	{name: "allowed elsewhere", perSentence: true, cost: wrongPart, sentenceFails: true, applies: wants.allowedElsewhere},
	// "When does the boat to Vaasa sail?": not "9:00" in "Boat 7: Vaasa – Umeå, 9:00"
	{name: "the way back", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		row := c.rowAt(c.begin, c.end)
		return w.otherWay(c.said) || w.toElsewhere(c.head, c.said) || row >= 0 && c.goesBack(w, row)
	}},
	// "When is the weir turned off?": not "April" in "The weir is turned on in April."
	{name: "the opposite", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.saysOpposite(c.head + "\n" + c.withColumnNames(c.begin, c.end))
	}},
	// "Who came on 3 May?": not "Ada" in "5 May / Ada came."
	{name: "another date", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return len(w.dates) > 0 && w.otherDate(c)
	}},
	// "What did a saw cost in 2022?": not "31" below the title "Prices 2024"
	{name: "another year", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return len(w.years) > 0 && w.otherYear(c)
	}},
	// "Are dogs allowed on Tuesdays?": not "Fridays" in "Dogs? / Yes, on Fridays."
	{name: "yes, but another day", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.form == formSentence && saysYes.MatchString(c.said) && w.yesOfOtherDay(c.said)
	}},
	// "When does the mill close?": not "Mondays" in "The mill closes at 5. It is closed on Mondays."
	{name: "closed then, not closing", valuesOnly: true, cost: otherEntry, applies: func(w wants, c candidate) bool {
		return asksClosing.MatchString(w.question) && isClosed.MatchString(c.before())
	}},
	// "When did the mill move to the hill?": not "12 May" in "30 April / The mill has moved to the hill. / 12 May / The
	// dog is ill."
	{name: "the day of something else", valuesOnly: true, cost: otherEntry, applies: func(w wants, c candidate) bool {
		return w.time && onlyDate.MatchString(c.value) && c.isDayOfOtherEntry(c.from, w.words)
	}},

	// The time: it was so, or will not be.

	// "When is the next oil change?": not "12 April" in "Oil change every year, last on 12 April." All of that may answer.
	{name: "the last, not the next", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		return w.turn == nextTurn && c.says(comesAgain) && c.isOver()
	}},
	// "When is the next oil change?": not "12 April" in "Oil change: last on 12 April."
	{name: "only the last", valuesOnly: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.turn == nextTurn && !c.says(comesAgain) && c.isOver()
	}},
	// "When was the last oil change?": not "12 April" in "Next oil change: 12 April"
	{name: "the next, not the last", valuesOnly: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.turn == lastTurn && (c.isAhead() || c.tellsOnlyOfNext())
	}},

	// "What does a lesson cost?": not "28 €" in "A lesson was 28 €; since May it is 31 €."
	{name: "of before", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		return !w.past && c.isFormer()
	}},
	// "What is Bo's dose?": not "50 µg" in "Bo takes 75 µg. It was 50 µg until February." A reader takes it for sure.
	{name: "until some time", valuesOnly: true, cost: over, applies: func(w wants, c candidate) bool {
		return !w.past && c.says(wasUntil) && heldOnce(c.said, c.from-c.begin, c.from-c.begin+len(c.value))
	}},
	// "Where was the walk before?": not "Ulm" in "The walk was moved to Ulm."
	{name: "only what came after", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return w.old && c.says(changedTo) && len(formerValuesIn(c.said, w.question)) == 0 && !c.says(usedTo) && !wasOfOld.MatchString(strings.TrimSpace(c.nextSentence()))
	}},
	// "When is the walk?": not "3 May" in "Your walk with Ada on 3 May is cancelled."
	{name: "cancelled", perSentence: true, valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		return c.says(cancelled) && !asksCancelled.MatchString(w.question)
	}},
	// "When is the walk?": not "3 May" in "The walk was moved from 3 May to 10 May."
	{name: "out of date", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool {
		here, there := c.besideOther(w)
		return !w.past && !asksHandOver.MatchString(w.question) && c.outdates(w.question) && (here == 0 || there > 0)
	}},
	// "What broke the lamp?": not "the wind" in "We blamed the wind. That was wrong. It was a cat."
	{name: "taken back", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return !w.past && c.isTakenBack()
	}},
	// "Who takes the photos?": not "Ada Lund" in "- Photos: ~~Ada Lund~~ Per Holm"
	{name: "struck out", valuesOnly: true, cost: wrongPart, applies: func(w wants, c candidate) bool { return !w.past && c.isStruckOut(c.from, c.value) }},
	// "Should I buy a lamp?": not "~~Buy a lamp~~" in "- ~~Buy a lamp~~"
	{name: "all struck out", perSentence: true, cost: wrongPart, sentenceFails: true, applies: func(w wants, c candidate) bool {
		return !w.past && strings.Contains(c.said, strike) && !strings.ContainsFunc(struckOut.ReplaceAllString(c.said[len(lineMark.FindString(c.said)):], ""), isWordRune)
	}},
}

// misfit returns what the misfits of a span cost, and whether its sentence, with the heading above it, cannot answer.
func (w wants) misfit(p passage, s span.Span, all sentenceCache) (cost float64, sentenceFails bool) {
	for _, m := range w.misfits(p, s, all) {
		cost, sentenceFails = cost+m.cost, sentenceFails || m.sentenceFails
	}
	return cost, sentenceFails
}

// misfits returns the reasons why a span is not what the question asks for: those of its sentence, then its own.
func (w wants) misfits(p passage, s span.Span, all sentenceCache) []misfit {
	c := p.candidate(s, all)
	if !c.judged {
		c.misfits, c.judged = w.applying(c, true), true
	}
	return append(slices.Clip(c.misfits), w.applying(c, false)...)
}

// applying returns the misfits that apply to a candidate, of those that judge its sentence alone or of the others.
func (w wants) applying(c candidate, perSentence bool) (out []misfit) {
	for _, m := range misfits {
		if m.perSentence == perSentence && (!m.valuesOnly || w.form == formValue) && m.applies(w, c) {
			out = append(out, m)
		}
	}
	return out
}
