package extract

import (
	"regexp"
	"strings"
)

// withWhatUndoes replaces a value that its sentence, or the next one, takes back by those sentences. The value alone would be wrong: "will not charge 60 €", "the race on 10 May is cancelled", "was planned for 13 May. It has been moved to 20 May."
func (p passage) withWhatUndoes(texts []weighed) []weighed {
	for i, t := range texts {
		if t.quote.From == t.quote.To {
			continue
		}
		begin := t.at
		from, to, end := begin+t.quote.From, begin+t.quote.To, begin+len(t.quote.Text)
		if next, changed := p.onlyPlanned(begin, from, end); changed {
			end = next
		} else if !negated(p.text[begin:from]) && !inNeither(p.text[begin:end], from-begin, to-begin) && !cancelledIn(p.text, begin, from, to, end) {
			continue
		}
		texts[i].text = p.antecedent(begin) + unmarked(p.cells(begin, end))
	}
	return texts
}

// onlyPlanned reports whether a value is of a plan that the rest of its sentence, or the next one, says has changed. It returns where that
// sentence ends.
func (p passage) onlyPlanned(begin, from, end int) (next int, changed bool) {
	plan := wasPlan.FindStringIndex(p.text[begin:from])
	if plan == nil || planChanged.MatchString(p.text[begin+plan[1]:from]) { // what it was changed to
		return end, false
	}
	if planChanged.MatchString(p.text[from:end]) {
		return end, true
	}
	if _, next = p.sentence(min(len(p.text), end+1), min(len(p.text), end+2)); next <= end || next > p.lineEnd(begin) {
		return end, false
	}
	said := strings.TrimSpace(p.text[end:next])
	return next, goesOnAbout.MatchString(said) && planChanged.MatchString(said)
}

// negated reports whether what stands before a value in its clause says no. Bounds such as "not before 9:00" say what is so.
func negated(before string) bool {
	if at := clauseEnd.FindAllStringIndex(before, -1); at != nil {
		before = before[at[len(at)-1][0]:]
	}
	at := negation.FindStringIndex(before)
	return at != nil && !conditional.MatchString(before) && !bound.MatchString(before[at[1]:]) && !boundOf.MatchString(before)
}

// inNeither reports whether a value is one of those of which a sentence says that neither is so: "Neither Ann nor Bob has a car."
func inNeither(said string, from, to int) bool {
	for _, m := range neither.FindAllStringIndex(said, -1) {
		if m[0] < to && from <= m[1] {
			return true
		}
	}
	return false
}

// cancelledIn reports whether the clause of a value says that it does not take place.
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
	// neither matches up to where the second of two that are denied begins.
	neither     = regexp.MustCompile(`(?i)\b(?:neither\b[^.;:!?]*? nor|weder\b[^.;:!?]*? noch)(?: (?:the|a|an|in|on|at|to|with|for|my|our|his|her|der|die|das|ein|eine))*(?: |$)`)
	negation    = regexp.MustCompile(`(?i)(?:` + apart(`not|never|cannot|no longer|nicht|niemals|jamais|nunca`) + `|n['’]t )`)
	clauseEnd   = regexp.MustCompile(`(?i)[,;:.()–—]|\b(?:but|and|or|so|sondern|aber|und|mais|et|pero|y)\b`)
	conditional = regexp.MustCompile(`(?i)\b(?:if|unless|when|whoever|wenn|falls|si)\b`)

	// bound matches behind a negation what makes it none of the value, and boundOf what does so before the value.
	bound   = regexp.MustCompile(`(?i)^ ?(?:only|just|before|after|until|till|later|earlier|more|less|fewer|over|above|below|exceed|vor|nach|mehr|später|nur|yet|far|long|all|always|every|forget|wait|hesitate|miss)\b`)
	boundOf = regexp.MustCompile(`(?i)\b(?:before|after|until|till|since|than|below|over|above|under|beyond|without|except|exceeds?|vor|nach|bis|seit|als|avant|après|depuis|que|antes de|hasta|desde)(?: \pL+){0,2} *$`)

	// wasPlan matches what makes the value behind it one of a plan, and planChanged what says that it came otherwise.
	wasPlan     = regexp.MustCompile(`(?i)\b(?:was|were|had been) (?:originally |first |at first |initially )?(?:to (?:be|have|go|come|take|start|open)|planned|scheduled|supposed|due|meant|intended|booked|expected|going to)\b`)
	planChanged = regexp.MustCompile(`(?i)` + apart(`moved|postponed|brought forward|put (?:back|off)|rescheduled|shifted|delayed|held up|cancell?ed|called off|declined|withdrawn?|withdrew|stepped down|fell through|fallen through|instead|in the end|(?:is|are) now|(?:can|will)(?: now)? only|turned down`))
	goesOnAbout = regexp.MustCompile(`(?i)^(?:it|this|that|she|he|they|because|due to|owing to|but|unfortunately|sadly|however|now|instead|in the end)\b`)

	isCancelled = regexp.MustCompile(`(?i)\b(?:is|are|was|were|been|wurde|wird|ist|est|été|fue|sido) (?:\pL+ )?(?:cancell?ed|called off|abgesagt|annulée?s?|supprimée?s?|cancelad[oa]s?|suspendid[oa]s?)|entfällt|fällt aus`)
	mayCancel   = regexp.MustCompile(`(?i)\b(?:can|cannot|may|must|should|could|has to|have to)(?: not)? be (?:cancell?ed|called off)\b`)

	// asksUndone matches a question for what is not so, or was planned.
	asksUndone = regexp.MustCompile(`(?i)\b(?:not|never|no longer|cannot|cancell?ed|called off|planned|originally|at first|supposed)\b|n['’]t\b`)
)
