package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
)

// shapes are what must stand in a sentence, or in the heading above it, that answers a question of some words: there is
// no e-mail address without an "@". A reader that knows what is near the right words points there although the thing
// itself is missing.
var shapes = []struct{ asks, has *lazyregexp.Regexp }{
	{lazyregexp.New(`(?i)\b(?:what|which)(?: \pL+)? colou?rs?\b`), lazyregexp.New(`(?i)colou?r|farb|couleur|paint|\bRAL\b|["“„«]|\b(?:black|white|gr[ea]y|red|blue|green|yellow|orange|purple|violet|pink|brown|beige|silver|gold|turquoise|navy|cream|amber|teal|maroon|ivory|bronze|copper|` +
		`transparent|dark|light|pale|bright|schwarz|wei(?:ß|ss)|grau|rot|blau|grün|gelb|braun|noire?|blanc(?:he)?|rouge|bleue?|verte?|jaune|grise?|roj[oa]|azul|verde|amarill[oa]|negr[oa]|blanc[oa])`)},
	{lazyregexp.New(`(?i)\be-?mail address\b|^\W*what(?:'s| is) \P{Po}*\be-?mail\b`), lazyregexp.New(`@`)},
	{lazyregexp.New(`(?i)\b(?:tele)?(?:phone|mobile|fax) number\b|\b(?:call|ring|dial)\b.*\bnumber\b|\bnumber\b.*\b(?:call|ring|dial)\b`), lazyregexp.New(`\d\D?\d\D?\d`)},
	{lazyregexp.New(`(?i)\b(?:web ?site|web address|url|homepage)\b`), lazyregexp.New(`(?i)www\.|https?:|\PL?\pL[\pL\d-]*\.\pL{2,}`)},
	{lazyregexp.New(`(?i)\bpass(?:word|phrase)\b|\bkennwort\b`), lazyregexp.New(`(?i)pass|\bpw\b|kennwort|\bcode|\bkey\b|schlüssel|login|credential|secret|contraseña|clave|wi-?fi|wlan`)},
	{lazyregexp.New(`(?i)\bhow (?:high|tall|deep|wide|thick)\b`), lazyregexp.New(`(?i)\d|met(?:re|er)|feet|foot|inch|storey|stories|floor|knee|waist|head|half|third|quarter|hundred|thousand|rents?\b|per cent`)},
	{lazyregexp.New(`(?i)\bhow heavy\b`), lazyregexp.New(`(?i)\d|kilo|gram|pound|ton|stone|ounce|heavy|light`)},
	{lazyregexp.New(`(?i)\bwhat time\b`), mayBeClock},
	{lazyregexp.New(`(?i)\biban\b`), lazyregexp.New(`\b[A-Z]{2}\d\d`)},
	{lazyregexp.New(`(?i)\bcalories\b`), lazyregexp.New(`(?i)k?cal\b|calorie|\bkj\b`)},
	{lazyregexp.New(`(?i)\bhow (?:loud|noisy)\b`), lazyregexp.New(`(?i)\bdb\b|\d ?db|decibel|loud|noise|noisy|quiet|silent`)},
	{lazyregexp.New(`(?i)\bpass ?(?:word|phrase|code)\b`), lazyregexp.New(`(?i)pass|\bpwd?\b|code|key|login|log in|wi-?fi|wlan|\bpin\b|kennwort|contraseña|clave`)},
	{lazyregexp.New(`(?i)\b(?:when|what year|which year)\b.*\b(?:dies?|died|death)\b`), lazyregexp.New(`(?i)\bdie[ds]?\b|dying|death|dead|kill|drown|murder|perish|passed away|late\b|lived|buried|[†✝]|[–—-] ?(?:\PP{0,16}\b)?\d{3,4}\b|gestorben|starb|\bmort|décéd|\bmuri|fallec`)},
	{lazyregexp.New(`(?i)^\W*(?:and )?(?:when|what (?:year|day|date)|in (?:what|which) year)\b.*\bborn\b|\b(?:birth ?day|birth ?date|date of birth)\b`), lazyregexp.New(`(?i)born|birth|\bb\.|geb|\*|` + apart(`née?s?`) + `|nac(?:i|e)|\bturn(?:s|ed|ing)?\b|\bold\b|\b1[5-9]\d\d ?[–—-]|\(\d`)},
}

// shapesOf returns what must stand in the sentence that answers a question.
func shapesOf(question string) (all []*lazyregexp.Regexp) {
	question = otherTimes.ReplaceAllString(question, "")
	for _, s := range shapes {
		if s.asks.MatchString(question) {
			all = append(all, s.has)
		}
	}
	return all
}

// otherTimes matches what a question may call a time and is none of the day: "what time of year", "what time limit".
var otherTimes = lazyregexp.New(`(?i)\btime (?:of (?:the )?(?:year|month|week|season)|zones?|limits?|periods?|frames?|spans?)\b`)

// wrongMeasure is a kind of values that does not answer questions for another, unless they have what answers.
type wrongMeasure struct{ asks, not, unless *lazyregexp.Regexp }

var wrongMeasures = []wrongMeasure{
	{lazyregexp.New(`(?i)\bhow heavy\b|\bweighs?\b`), lazyregexp.New(`(?i)` + money + `|` + duration + `|` + calendar + `|` + length), lazyregexp.New(`(?i)\d ?(?:kg|kilos?|g|grams?|t|tons?|tonnes?|lbs?|pounds?|oz|stone)\b`)},
	{lazyregexp.New(`(?i)\bhow (?:tall|high|deep|wide|thick|big|large)\b`), lazyregexp.New(`(?i)` + duration + `|` + calendar), // not money: "how high is the fee"
		lazyregexp.New(`(?i)\d ?(?:m|cm|mm|km|metres?|meters?|feet|ft|inch(?:es)?|miles?|m²|m2|l|litres?)\b|%`)},
	{lazyregexp.New(`(?i)\bcosts?\b|\bhow expensive\b|\bprice of\b`), lazyregexp.New(`(?i)` + calendar + `|\d:\d\d|` + length + `|` + mass), lazyregexp.New(`(?i)` + money)},
	{lazyregexp.New(`(?i)\bhow old\b`), lazyregexp.New(`(?i)` + money + `|` + length + `|` + mass), lazyregexp.New(`(?i)\b(?:years?|months?|weeks?|days?)\b`)},
	{lazyregexp.New(`(?i)\bhow (?:far|long)\b`), lazyregexp.New(`(?i)` + money + `|` + mass + `|(?:\d|\b(?:one|` + numbersFromTwo + `)) (?:rooms?|seats?|beds?|places?|pieces?|copies|people|persons)\b`), lazyregexp.New(`(?i)` + duration + `|` + length)},
	{lazyregexp.New(`(?i)\bhow many\b`), lazyregexp.New(`(?i)` + money), lazyregexp.New(`(?i)\bhow many (?:euros?|dollars?|pounds?|cents?|francs?|kroner|kronor)\b`)},
}

// lacksShape reports whether a text lacks what must stand in the answer.
func (w wants) lacksShape(text string) bool {
	return slices.ContainsFunc(w.shapes, func(has *lazyregexp.Regexp) bool { return !has.MatchString(text) })
}

// mayBePasscode matches what may be a code: it has a digit, a sign, or capitals side by side: "7731", "AB", "oak-tree".
var mayBePasscode = lazyregexp.New(`\d|[A-Z]{2}|[#*_@!/-]`)

// hasWrongMeasure reports whether a candidate's value is of a kind that cannot be the answer: minutes for a weight.
func (w wants) hasWrongMeasure(c candidate) bool {
	return slices.ContainsFunc(w.wrongMeasures, func(m wrongMeasure) bool { return c.matches(m.not, c.value) && !c.matches(m.unless, c.value) })
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

// mayNameAmount reports whether a text may say how much money something is. Numbers after things that have numbers in
// the question, too, are names: "unit 5".
func (w wants) mayNameAmount(text string) bool {
	if anAmount.MatchString(text) {
		return true
	}
	text = notMoney.ReplaceAllString(text, " ")
	if w.cost { // "how much is left?" may ask for days
		text = aCount.ReplaceAllString(text, " ")
	}
	text = numbered.ReplaceAllStringFunc(text, func(found string) string {
		m := numbered.FindStringSubmatch(strings.ToLower(found))
		if w.numbered[strings.TrimSuffix(m[1], "s")] == nil {
			return found
		}
		return " "
	})
	return hasDigit(text)
}

// anAmount matches what may be an amount of money, in words or with a sign for money: "€ 5", "free", "twenty".
var anAmount = lazyregexp.New(`(?i)` + money + `|\d ?p\b|%|\b(?:free|nothing|no (?:charge|fee|cost|extra)|included?|inclusive|half|double|quarter|pounds?|quid|tenner|fiver|grand|cash|bill|same|more|less|as much|` +
	`waived|complimentary|depends?|var(?:y|ies)|request|donations?|vouchers?|tokens?|` +
	`zero|` + numbersFromTwo + `|per ?cent)\b|` +
	apart(`gratis|kostenlos|kostenfrei|umsonst|frei|inklusive|inbegriffen|enthalten|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\pL*(?:zehn|[zß]ig|hundert|tausend)|`+
		`gratuite?s?|offerte?s?|compris(?:e?s?)?|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|vingt|trente|quarante|cinquante|soixante|cents?|mille|incluid[oa]s?`))

// notMoney matches numbers that are no amounts, such as dates, times and telephone numbers: "3 May", "9:40", "0421 337
// 018".
var notMoney = lazyregexp.New(`(?i)\b(?:1[5-9]|20)\d\d-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|` +
	`\b` + aDay + `(?: of)? ` + aMonth + `\b(?:,? \d{4})?|\b` + aMonth + ` ` + aDay + `\b(?:,? (?:19|20)\d\d)?|\b` + aMonth + ` (?:19|20)\d\d\b|` +
	`\b\d{1,2}:\d\d\b|\b\d{1,2}(?:\.\d\d)?(?:am| ?(?:pm|a\.m|p\.m|uhr|o'clock))\b|\b\d+(?:st|nd|rd|th)\b|` +
	`\b(?:before|after|until|till|since|um|bis|vor|nach|avant|après|jusqu'à) \d{1,2}[.:]\d\d\b|\b(?:in|since|until|year|seit|depuis) (?:19|20)\d\d\b|\b(?:from|en) (?:19|20)\d\d(?:$|[,.;:!?])|\b0\d[\d /-]{5,}`)

// aCount matches a number of things: "3 nights", "2 km".
var aCount = lazyregexp.New(`(?i)\d+(?:[.,]\d+)* ?(?:` + otherUnits + `)(?:[^\pL]|$)`)

// noPlace reports whether a question asks where and a value is only times and amounts.
func (w wants) noPlace(value string) bool {
	return w.place && value != "" && !slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' }), func(part string) bool {
		return !notPlace.MatchString(part) && !(w.noDate && (onlyDate.MatchString(part) || onlyMonth.MatchString(part)))
	})
}

var (
	// asksRoom matches a question for the room where somebody is: "which office".
	asksRoom = lazyregexp.New(`(?i)` + questionStart + `(?:(?:in|at|on|to) )?(?:which|what) (?:room|office|desk|floor|building)\b`)
	// asksPost matches a question in which an office is a role: "which office does she hold".
	asksPost = lazyregexp.New(`(?i)\b(?:hold|holds|held|elect\pL*|appoint\pL*|serve[ds]?|post|position)\b`)
)

// isDottedDate reports whether a candidate is the day of a date with its month that goes on with a time or a year: "22.12" of
// "22.12. 11:17" is no price.
func (c candidate) isDottedDate() bool {
	at := c.from + len(c.value)
	return dayAndMonth.MatchString(c.value) && restOfDate.MatchString(c.text[at:c.lineEnd(at)])
}

var (
	// dayAndMonth matches a day and a month in figures: "22.12.", "9.4".
	dayAndMonth = lazyregexp.New(`^(?:3[01]|[12]\d|0?[1-9])\.(?:1[0-2]|0?[1-9])\.?$`)
	// restOfDate matches what may follow them: a point with a time or a year.
	restOfDate = lazyregexp.New(`^\.? ?(?:,? ?\d{1,2}[:.]\d\d\b|(?:19|20)\d\d\b)`)
)

// notPlace matches a value that is only a time of day or an amount of money: "19:00", "9 €". Rooms may have numbers
// with a point, too.
var notPlace = lazyregexp.New(`(?i)^\W*(?:at |um |à )?(?:\d{1,2}:\d\d(?: ?(?:[ap]\.?m\.?|uhr|h))?|\d{1,2}\.\d\d ?(?:[ap]\.?m\.?|uhr|h)|\d{1,2} ?(?:[ap]\.?m\.?|uhr|h|o'clock)|[\d.,]* ?(?:` + money + `)[\d., ]*)\W*$`)

// upToMoney matches a sentence that says from or up to which amount something holds: "free over 50 €".
var upToMoney = lazyregexp.New(`(?i)\b(?:if|when|once|as soon as|over|under|above|below|more|less|from|up to|spend|orders?)\b`)

// aReason matches what may say why: "because", "so that". A sentence without it that only repeats the question does
// not.
var aReason = lazyregexp.New(`(?i)\b(?:because|since|as|due to|owing|thanks to|so that|in order|therefore|thus|hence|caus\pL*|reasons?|result\pL*|after|when|led|otherwise|else|avoid|prevent|protect|weil|da|denn|wegen|damit|parce|car|puisque|afin|porque|ya que|debido)\b|:`)

// asksCall matches a question about calling: "when can I ring".
var asksCall = lazyregexp.New(`(?i)\b(?:call|ring|phone|telephone|dial|reach\pL*|contact\pL*)\b`)

// callNumber matches what may be a number to call: "0555 016 218".
var callNumber = lazyregexp.New(`^[^\pL\d]*\+?(?:\d[ ()/.-]{0,3}){6,}(?:\D.*)?$`)

var (
	// outOfReach matches what all leaflets say: "out of reach of children". It does not answer whether a child may have
	// the medicine.
	outOfReach = lazyregexp.New(`(?i)\bout of (?:the )?(?:sight|reach|sight and reach|reach and sight) of (?:\pL+ )?children\b`)
	// asksYesOrNo matches a question that may be about what is allowed: "can", "how much".
	asksYesOrNo = lazyregexp.New(`(?i)` + questionStart + `(?:can|may|is|are|does|do|should|must|could|how (?:much|many))\b`)
	// aChild matches a word for a child: "toddler".
	aChild = lazyregexp.New(`(?i)\b(?:child|children|kids?|bab(?:y|ies)|toddlers?|infants?|daughter|son)\b`)
	// asksKeeping matches a question about keeping something: "where is it stored". What all leaflets say may answer
	// that.
	asksKeeping = lazyregexp.New(`(?i)\b(?:keep|kept|stor\pL+|reach|sight|put)\b`)
)
