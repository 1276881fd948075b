package extract

import (
	"slices"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

var (
	// asksToBring matches a question whether one may bring or use something: "can I bring my old tyres".
	asksToBring = lazyregexp.New(`(?i)` + questionStart + `(?:can|may|could|must|should) (?:I|we|you|one|people|guests|visitors|members) (?:(?:also|still) )?(?:bring|take|use|leave|drop off|get|buy|return|recycle|throw away|hand in)(?: along)? ((?:[\pL-]+ ){0,3}?[\pL-]+)(?:\W*$| (?:to|at|in|into|on|onto|with|from|for|there|here|away|along|back|and|or|when|if|after|before|during)\b)`)
	// asksAllowedAt matches a question whether something is allowed somewhere: "are dogs allowed at the pool?".
	asksAllowedAt = lazyregexp.New(`(?i)` + questionStart + `(?:can|may|is|are|am|could)\b.*\b(?:allowed|permitted|welcome|accepted|forbidden|banned|bring|smoke|eat|swim|park|come|use)\b.* (?:at|in|on|into|to|inside) (?:the|my|our) ((?:[\pL-]+ )?[\pL-]+)\W*$`)
	// asksWhoAllows matches a question whether somebody allows something: "does the landlord allow dogs?".
	asksWhoAllows = lazyregexp.New(`(?i)` + questionStart + `(?:do|does|did|will|would) (?:the|my|our) ((?:[\pL-]+ )?[\pL-]+) (?:allow|permit|accept|mind|let|tolerate)\b`)
	// allows matches what says whether something is allowed.
	allows = lazyregexp.New(`(?i)\b(?:allow\pL*|permit\pL*|welcome|accept\pL*|may|must|can|cannot|forbidden|banned|prohibited)\b`)
	// somewhere matches a place or a thing that a sentence names: "on the ferry".
	somewhere = lazyregexp.New(`(?i)\b(?:at|in|on|inside|aboard|into|onto) the ((?:[\pL-]+ )?[\pL-]+)`)
	// anywhere matches what holds for all places: "anywhere in the dunes".
	anywhere = lazyregexp.New(`(?i)\b(?:anywhere|everywhere|whole|entire)\b`)
	// noPlaceWord matches what "in the" or "on the" makes no place: "in the evening", "on the lead".
	noPlaceWord = lazyregexp.New(`(?i)^(?:(?:early|late) )?(?:mornings?|afternoons?|evenings?|nights?|daytime|weekends?|holidays|spring|summer|autumn|winter|season|lead|leash|condition|presence|company|consent|` + aMonth + `)\b`)
	// asksLandlord matches a question about somebody who lets a flat, who may be named in no other way there.
	asksLandlord = lazyregexp.New(`(?i)\b(?:landlord|landlady|lessor)\b`)
	// ofRenting matches the title or a heading of a text about a flat to let: "Tenancy agreement".
	ofRenting = lazyregexp.New(`(?i)\b(?:tenan\pL*|lease|rental|house rules|mietvertrag|hausordnung|bail)\b`)
)

// groupWords returns the content words of what the group of a pattern matches in a question.
func groupWords(pattern *lazyregexp.Regexp, question string) []string {
	m := pattern.FindStringSubmatch(question)
	if m == nil {
		return nil
	}
	return words.Content(m[1])
}

// isOfAnotherThing reports whether a sentence lacks what one wants to bring or use, and another sentence of the passage has
// it.
func (w wants) isOfAnotherThing(c candidate) bool {
	if len(w.brought) == 0 || refers.MatchString(c.said) || words.Shared(w.brought, words.Content(c.title()+" "+c.head+" "+c.said)) > 0 {
		return false
	}
	return words.HasAll(words.Content(c.text[c.body:]), w.brought)
}

// allowedElsewhere reports whether a sentence says what is allowed at a place that the question does not name, and the
// passage does not have the question's place.
func (w wants) allowedElsewhere(c candidate) bool {
	if len(w.allowedAt) == 0 || !c.says(allows) || words.Shared(w.allowedAt, slices.Concat(words.Content(c.text), c.names)) > 0 {
		return false
	}
	m := somewhere.FindStringSubmatch(c.said)
	if m == nil || c.says(anywhere) || noPlaceWord.MatchString(m[1]) || asksLandlord.MatchString(w.question) && c.matches(ofRenting, c.title()+" "+c.head) {
		return false
	}
	place := excluding(words.Content(m[1]), ofAnyDocument)
	return len(place) > 0 && words.Shared(place, w.words) == 0
}
