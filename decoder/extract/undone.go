package extract

import (
	"regexp"
	"strings"
)

// undone reports whether the text around a value takes it back, so that the value alone would say what is not so: "will not charge 60 €",
// "the race on 10 May is cancelled", "was planned for 13 May. It has been moved to 20 May." It returns where what says so ends.
func (p passage) undone(from, to int) (end int, is bool) {
	begin, end := p.sentence(from, to)
	said := p.text[begin:end]
	if cancelled.MatchString(said) && !mayCancel.MatchString(said) || negated(p.text[begin:from]) {
		return end, true
	}
	if next, changed := p.onlyPlanned(begin, from, end); changed {
		return next, true
	}
	return end, false
}

// onlyPlanned reports whether a value is of a plan that the rest of its sentence, or the next one, says has changed. It returns where that
// sentence ends.
func (p passage) onlyPlanned(begin, from, end int) (next int, changed bool) {
	if !wasPlan.MatchString(p.text[begin:from]) {
		return end, false
	}
	if planChanged.MatchString(p.text[from:end]) {
		return end, true
	}
	if _, next = p.sentence(min(len(p.text), end+1), min(len(p.text), end+2)); next <= end || next > p.lineEnd(begin) {
		return end, false
	}
	return next, planChanged.MatchString(p.text[end:next])
}

// negated reports whether what stands before a value in its clause says no. Bounds such as "not before 9:00" say what is so.
func negated(before string) bool {
	if i := strings.LastIndexAny(before, ",;:.()–—"); i >= 0 {
		before = before[i:]
	}
	at := negation.FindStringIndex(before)
	return at != nil && !bound.MatchString(before[at[1]:])
}

var (
	negation  = regexp.MustCompile(`(?i)(?:` + apart(`not|never|cannot|no longer|nicht|niemals|jamais|nunca`) + `|n['’]t )`)
	mayCancel = regexp.MustCompile(`(?i)\b(?:can|may|must|should|could|has to|have to) be (?:cancell?ed|called off)\b`)
	bound     = regexp.MustCompile(`(?i)^ ?(?:only|just|before|after|until|till|later|earlier|more|less|fewer|over|above|below|exceed|vor|nach|mehr|später|nur|yet|far|long|all|always|every)\b`)

	// wasPlan matches what makes the value behind it one of a plan, and planChanged what says that it came otherwise.
	wasPlan     = regexp.MustCompile(`(?i)\b(?:was|were|had been) (?:originally |first |at first |initially )?(?:to (?:be|have|go|come|take|start|open)|planned|scheduled|supposed|due|meant|intended|booked|expected|going to)\b`)
	planChanged = regexp.MustCompile(`(?i)` + apart(`moved|postponed|brought forward|put (?:back|off)|rescheduled|shifted|changed|delayed|held up|cancell?ed|called off|declined|withdrawn?|withdrew|stepped down|fell through|fallen through|instead|in the end|now|only|unfortunately|turned down`))
)
