package extract

import (
	"regexp"
	"slices"
)

// shapes are what must stand in a sentence, or in the heading above it, that answers a question of some words: there is no e-mail address
// without an "@". A reader that knows what is near the right words points there although the thing itself is missing.
var shapes = []struct{ asks, has *regexp.Regexp }{
	{regexp.MustCompile(`(?i)\b(?:what|which)(?: \pL+)? colou?rs?\b`), regexp.MustCompile(`(?i)colou?r|farb|couleur|paint|\bRAL\b|["“„«]|\b(?:black|white|gr[ea]y|red|blue|green|yellow|orange|purple|violet|pink|brown|beige|silver|gold|turquoise|navy|cream|amber|teal|maroon|ivory|bronze|copper|` +
		`transparent|dark|light|pale|bright|schwarz|wei(?:ß|ss)|grau|rot|blau|grün|gelb|braun|noire?|blanc(?:he)?|rouge|bleue?|verte?|jaune|grise?|roj[oa]|azul|verde|amarill[oa]|negr[oa]|blanc[oa])`)},
	{regexp.MustCompile(`(?i)\be-?mail address\b|^\W*what(?:'s| is) \P{Po}*\be-?mail\b`), regexp.MustCompile(`@`)},
	{regexp.MustCompile(`(?i)\b(?:tele)?(?:phone|mobile|fax) number\b|\b(?:call|ring|dial)\b.*\bnumber\b|\bnumber\b.*\b(?:call|ring|dial)\b`), regexp.MustCompile(`\d\D?\d\D?\d`)},
	{regexp.MustCompile(`(?i)\b(?:web ?site|web address|url|homepage)\b`), regexp.MustCompile(`(?i)www\.|https?:|\PL?\pL[\pL\d-]*\.\pL{2,}`)},
	{regexp.MustCompile(`(?i)\bpass(?:word|phrase)\b|\bkennwort\b`), regexp.MustCompile(`(?i)pass|\bpw\b|kennwort|\bcode|\bkey\b|schlüssel|login|credential|secret|contraseña|clave|wi-?fi|wlan`)},
	{regexp.MustCompile(`(?i)\bhow (?:high|tall|deep|wide|thick)\b`), regexp.MustCompile(`(?i)\d|met(?:re|er)|feet|foot|inch|storey|stories|floor|knee|waist|head|half|third|quarter|hundred|thousand|rents?\b|per cent`)},
	{regexp.MustCompile(`(?i)\bhow heavy\b`), regexp.MustCompile(`(?i)\d|kilo|gram|pound|ton|stone|ounce|heavy|light`)},
	{regexp.MustCompile(`(?i)\biban\b`), regexp.MustCompile(`\b[A-Z]{2}\d\d`)},
	{regexp.MustCompile(`(?i)\bcalories\b`), regexp.MustCompile(`(?i)k?cal\b|calorie|\bkj\b`)},
	{regexp.MustCompile(`(?i)\bhow (?:loud|noisy)\b`), regexp.MustCompile(`(?i)\bdb\b|\d ?db|decibel|loud|noise|noisy|quiet|silent`)},
	{regexp.MustCompile(`(?i)\bpass ?(?:word|phrase|code)\b`), regexp.MustCompile(`(?i)pass|\bpwd?\b|code|key|login|log in|wi-?fi|wlan|\bpin\b|kennwort|contraseña|clave`)},
	{regexp.MustCompile(`(?i)\b(?:when|what year|which year)\b.*\b(?:dies?|died|death)\b`), regexp.MustCompile(`(?i)\bdie[ds]?\b|dying|death|dead|kill|drown|murder|perish|passed away|late\b|lived|buried|[†✝]|[–—-] ?(?:\PP{0,16}\b)?\d{3,4}\b|gestorben|starb|\bmort|décéd|\bmuri|fallec`)},
	{regexp.MustCompile(`(?i)^\W*(?:and )?(?:when|what (?:year|day|date)|in (?:what|which) year)\b.*\bborn\b|\b(?:birth ?day|birth ?date|date of birth)\b`), regexp.MustCompile(`(?i)born|birth|\bb\.|geb|\*|` + apart(`née?s?`) + `|nac(?:i|e)|\bturn(?:s|ed|ing)?\b|\bold\b|\b1[5-9]\d\d ?[–—-]|\(\d`)},
}

// shapesOf returns what must stand in the sentence that answers a question.
func shapesOf(question string) (all []*regexp.Regexp) {
	for _, s := range shapes {
		if s.asks.MatchString(question) {
			all = append(all, s.has)
		}
	}
	return all
}

var (

	// asksRole matches a question who has a role. The role is in the sentence that answers.
	asksRole = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*who(?:'s| is| was) (?:the|our|my|your|its|their) ((?:[\pL-]+ ?){2,3}?)(?: ?\?| of\b| at\b| in\b| for\b| here\b| there\b| now\b|$)`)

	// asksDeputy matches a question who has a role below another's: "deputy manager".
	asksDeputy = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*who(?:'s| is| was) (?:the |our |my |your |its |their )?((?:deputy|vice|assistant|senior|junior|honorary) [\pL-]{3,})`)

	// upToMoney matches a sentence that says from or up to which amount something holds: "free over 50 €".
	upToMoney = regexp.MustCompile(`(?i)\b(?:if|when|once|as soon as|over|under|above|below|more|less|from|up to|spend|orders?)\b`)

	// cancelled matches what says that something does not take place; asksCancelled a question about that.
	cancelled     = regexp.MustCompile(`(?i)` + apart(`cancell?ed|called off|abgesagt|entfällt|fällt aus|annulée?s?|supprimée?s?|cancelad[oa]s?|suspendid[oa]s?`))
	asksCancelled = regexp.MustCompile(`(?i)cancel|called off|abgesagt|entfäll|ausgefallen|annul|supprim|suspend|postpone|move`)

	// asksPast matches a question for what was before.
	asksPast = regexp.MustCompile(`(?i)\b(?:was|were|did|had|before|previous(?:ly)?|former(?:ly)?|old|used to|earlier|original(?:ly)?|instead|until|last|from|change[ds]?|move[ds]?|bisher|früher|war|avant|ancien(?:ne)?|antes)\b`)
)

// comparing matches words by which a question compares things: one passage seldom has them all, and a reader that points cannot weigh them.
var comparing = regexp.MustCompile(`(?i)\b((?:cheap|heav[iy]|light|long|short|bigg|larg|small|old|young|fast|slow|high|low|tall|deep|wid|quick|loud)(?:i?er|est)|more expensive|most expensive|dearer|dearest)\b`)

// wrongMeasure is a kind of values that does not answer questions for another, unless they have what answers.
type wrongMeasure struct{ asks, not, unless *regexp.Regexp }

var wrongMeasures = []wrongMeasure{
	{regexp.MustCompile(`(?i)\bhow heavy\b|\bweighs?\b`), regexp.MustCompile(`(?i)` + money + `|` + duration + `|` + calendar + `|` + length), regexp.MustCompile(`(?i)\d ?(?:kg|kilos?|g|grams?|t|tons?|tonnes?|lbs?|pounds?|oz|stone)\b`)},
	{regexp.MustCompile(`(?i)\bhow (?:tall|high|deep|wide|thick|big|large)\b`), regexp.MustCompile(`(?i)` + duration + `|` + calendar), // not money: "how high is the fee"
		regexp.MustCompile(`(?i)\d ?(?:m|cm|mm|km|metres?|meters?|feet|ft|inch(?:es)?|miles?|m²|m2|l|litres?)\b|%`)},
	{regexp.MustCompile(`(?i)\bcosts?\b|\bhow expensive\b|\bprice of\b`), regexp.MustCompile(`(?i)` + calendar + `|\d:\d\d|` + length + `|` + mass), regexp.MustCompile(`(?i)` + money)},
	{regexp.MustCompile(`(?i)\bhow old\b`), regexp.MustCompile(`(?i)` + money + `|` + length + `|` + mass), regexp.MustCompile(`(?i)\b(?:years?|months?|weeks?|days?)\b`)},
	{regexp.MustCompile(`(?i)\bhow (?:far|long)\b`), regexp.MustCompile(`(?i)` + money + `|` + mass), regexp.MustCompile(`(?i)` + duration + `|` + length)},
	{regexp.MustCompile(`(?i)\bhow many\b`), regexp.MustCompile(`(?i)` + money), regexp.MustCompile(`(?i)\bhow many (?:euros?|dollars?|pounds?|cents?|francs?|kroner|kronor)\b`)},
}

// misshapen reports whether a text lacks what must stand in the answer.
func (w wants) misshapen(text string) bool {
	return slices.ContainsFunc(w.shapes, func(has *regexp.Regexp) bool { return !has.MatchString(text) })
}

var (
	// aCode matches what may be a code: it has a digit, a sign, or capitals side by side. asksCode matches a question for one.
	aCode    = regexp.MustCompile(`\d|[A-Z]{2}|[#*_@!/-]`)
	asksCode = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*what(?:'s| is| was) [^,?]*\b(?:code|pin|combination)\b`)
)

// mismeasured reports whether a value is of a kind that cannot be the answer: minutes for a weight.
func (w wants) mismeasured(value string) bool {
	return slices.ContainsFunc(w.wrongMeasures, func(m wrongMeasure) bool { return m.not.MatchString(value) && !m.unless.MatchString(value) })
}

// wrongMeasuresOf returns the kinds of values that do not answer a question.
func wrongMeasuresOf(question string) (out []wrongMeasure) {
	for _, m := range wrongMeasures {
		if m.asks.MatchString(question) && !m.unless.MatchString(question) {
			out = append(out, m)
		}
	}
	return out
}
