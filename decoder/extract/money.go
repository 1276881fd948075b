package extract

import (
	"regexp"
	"strings"

	"tandem/decoder"
)

var (
	// asksMoney matches a question for an amount of money: one that says so (saysCost), or "how much is". asksOfMoney matches one that
	// speaks of money and asks for something else: "what is the fee for?", "how did we cut costs?".
	asksMoney = regexp.MustCompile(`(?i)\bhow much (?:is|are|was|were)\b|\bhow much (?:will|would|do|does|did)\b.*\b(?:costs?|pay|paid|charged?|owed?)\b|` +
		`^\W*(?:and |but |so )*what (?:do|does|did|will|would) .*\bcosts?\b(?:\W*$| (?:to|for|per|an?|in|at|from|now|each|if|when|with)\b)|` +
		`^\W*(?:and |but |so )*what(?:'s| is| are| was| were| will be) (?:the |our |my |your |his |her |their |\pL+['’]s )?(?:\pL+ ){0,2}?(?:price|costs?|fees?|rent|fare)(?:\W*$| (?:of|for|in|per|to|at|on|from|now|next|this|an?|each)\b)|` +
		`^\W*what .*\bin (?:pounds|euros|dollars|francs)\W*$`)
	asksOfMoney = regexp.MustCompile(`(?i)\b(?:price|costs?|fees?|rent|fare)(?: \pL+)? (?:for|used for|due|dates?|days?|deadline|include[ds]?|covers?|paid|payable)\W*$|` +
		`\b(?:cut|reduce|cover|save|lower|share|split|meet)\b(?: \pL+){0,2} (?:costs?|fees?|rent)\b`)
	saysCost = regexp.MustCompile(`(?i)\b(?:price|costs?|fees?|rent|fare|pay|paid|charged?|owed?)\b`)

	// anAmount matches what may be an amount of money in words, or a number that says that it is one.
	anAmount = regexp.MustCompile(`(?i)` + money + `|\d ?p\b|%|\b(?:free|nothing|no (?:charge|fee|cost|extra)|included?|inclusive|half|double|quarter|pounds?|quid|tenner|fiver|grand|cash|bill|same|more|less|as much|` +
		`waived|complimentary|depends?|var(?:y|ies)|request|donations?|vouchers?|tokens?|` +
		`zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\pL+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\pL+)?|hundreds?|thousands?|millions?|billions?|per ?cent)\b|` +
		apart(`gratis|kostenlos|kostenfrei|umsonst|frei|inklusive|inbegriffen|enthalten|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\pL*(?:zehn|[zß]ig|hundert|tausend)|`+
			`gratuite?s?|offerte?s?|compris(?:e?s?)?|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|vingt|trente|quarante|cinquante|soixante|cents?|mille|incluid[oa]s?`))

	// notMoney matches numbers that are no amounts: dates, times and telephone numbers.
	notMoney = regexp.MustCompile(`(?i)\b(?:1[5-9]|20)\d\d-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|` +
		`\b` + aDay + `(?: of)? ` + aMonth + `\b(?:,? \d{4})?|\b` + aMonth + ` ` + aDay + `\b(?:,? (?:19|20)\d\d)?|\b` + aMonth + ` (?:19|20)\d\d\b|` +
		`\b\d{1,2}:\d\d\b|\b\d{1,2}(?:\.\d\d)?(?:am| ?(?:pm|a\.m|p\.m|uhr|o'clock))\b|\b\d+(?:st|nd|rd|th)\b|` +
		`\b(?:before|after|until|till|since|um|bis|vor|nach|avant|après|jusqu'à) \d{1,2}[.:]\d\d\b|\b(?:in|since|until|year|seit|depuis) (?:19|20)\d\d\b|\b(?:from|en) (?:19|20)\d\d(?:$|[,.;:!?])|\b0\d[\d /-]{5,}`)
	aNumeral = regexp.MustCompile(`\d`)
	aCount   = regexp.MustCompile(`(?i)\d+(?:[.,]\d+)* ?(?:` + otherUnits + `)(?:[^\pL]|$)`)
)

// amounts reports whether a text may say how much money something is, which a question asks for. Numbers of things that the question
// gives numbers to, too, are their names: "unit 5".
func (w wants) amounts(text string) bool {
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
	return aNumeral.MatchString(text)
}

var (
	// perWhat matches for what, each, an amount is asked, and perThat for what one is said to be.
	perWhat = regexp.MustCompile(`(?i) per (\pL+)`)
	perThat = regexp.MustCompile(`(?i)^\W*[\d.,]+ ?(?:` + money + `)? ?(?:per|an?|/) ?(\pL+)|^\W*(?:` + money + `) ?[\d.,]+ ?(?:per|an?|/) ?(\pL+)`)
)

// perOf returns the words for what, each, a question asks for an amount of.
func perOf(question string) []string {
	if m := perWhat.FindStringSubmatch(question); m != nil {
		return decoder.ContentWords(m[1])
	}
	return nil
}

// perOther reports whether an amount is for something else than asked: "4 € an hour" for what a kilometre costs.
func perOther(amount string, per []string) bool {
	m := perThat.FindStringSubmatch(amount)
	if m == nil {
		return false
	}
	said := decoder.ContentWords(strings.Join(m[1:], ""))
	return len(said) > 0 && len(per) > 0 && !begins(said[0], per[0]) && !begins(per[0], said[0])
}

// begins reports whether a word begins with another, as "kilometre" does with "km" but for the letters between.
func begins(word, short string) bool {
	at := 0
	for i := 0; i < len(word) && at < len(short); i++ {
		if word[i] == short[at] {
			at++
		}
	}
	return at == len(short) && word[:1] == short[:1]
}
