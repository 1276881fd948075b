package extract

import (
	"slices"
	"strconv"
	"strings"

	"tandem/decoder"
	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// disagree reports whether a quote answers a question with something other than an answer says: other numbers or, where
// neither has one, other words. If one only says more, they agree. A number and a word do not disagree: they answer
// different questions.
func disagree(question, answer string, q decoder.Quote) bool {
	other := q.Text[q.From:q.To]
	if len(strings.Fields(other)) > maxWords || other == "" {
		return false
	}
	a, b := numbers(answer), numbers(other)
	switch {
	case len(a)+len(b) == 0:
		a, b = tellingWords(answer, question), tellingWords(other, question)
		if len(a) == 0 || len(b) == 0 {
			return false
		}
		if max(len(a), len(b)) > fewWords {
			return !slices.ContainsFunc(b, func(x string) bool { return slices.Contains(a, x) })
		}
	case len(a) == 0 || len(b) == 0:
		return false
	}
	return !containsAll(a, b) && !containsAll(b, a)
}

// Bounds of the values that are compared, in words.
const (
	maxWords = 10
	fewWords = 4 // of values without a number: longer ones may say the same in other words
)

// containsAll reports whether a has all of b.
func containsAll(a, b []string) bool {
	return !slices.ContainsFunc(b, func(x string) bool { return !slices.Contains(a, x) })
}

// tellingWords returns the words of a text that say who or what: those that the question does not have. Titles do not
// count: "Mr Holm" and "Piet Holm" may be one.
func tellingWords(text, question string) []string {
	left := words.Without(words.Content(text), words.Content(question))
	return excluding(left, titles)
}

// titles stand before names: "Mr".
var titles = words.Set("mr mrs ms miss dr prof herr frau hr fr mme sir madam")

// valueWords returns the numbers of a phrase or, where it has none, the words that the question does not have.
func valueWords(phrase, question string) []string {
	if n := numbersOrTimes(phrase); len(n) > 0 {
		return n
	}
	return tellingWords(phrase, question)
}

// sameValue reports whether two phrases name one value, though one may say less, or with other endings: "Thursdays".
func sameValue(a, b, question string) bool {
	x, y := valueWords(a, question), valueWords(b, question)
	return len(x) > 0 && len(y) > 0 && (words.HasAll(x, y) || words.HasAll(y, x))
}

// mentions reports whether a text names a value.
func mentions(text, value, question string) bool {
	v := valueWords(value, question)
	return len(v) > 0 && containsAll(slices.Concat(numbersOrTimes(text), words.Content(text)), v)
}

// numbersOrTimes is numbers, with what may be a time of the day written as one: "8.20" is "8:20".
func numbersOrTimes(text string) []string {
	out := numbers(text)
	for i, n := range out {
		out[i] = mayBeTime.ReplaceAllString(n, "$1:$2")
	}
	return out
}

// numbers returns the numbers of a text, written in one way: "1,200.00" is 1200, "09:00" and "9 a.m." are 9, "5.30
// p.m." is 17:30. Of a date they have the month's name, too.
func numbers(text string) (out []string) {
	text = strings.ToLower(text)
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		out = append(out, canonical(m[1], m[2]))
	}
	if len(out) > 0 {
		out = append(out, monthsIn(text)...)
	}
	return out
}

// canonical returns a number as numbers writes it. half is what makes it a time, " p.m.", and empty for other numbers.
func canonical(n, half string) string {
	if t := groupedThousands.FindStringSubmatch(n); t != nil {
		n = strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "").Replace(t[1]) + t[2]
	}
	if half != "" {
		n = strings.Replace(n, ".", ":", 1) // 5.30 p.m.
	}
	n = strings.Replace(trailingZeros.ReplaceAllString(n, ""), ",", ".", 1)
	if len(n) > 1 && n[0] == '0' && (len(n) == 2 || n[2] == ':' || n[2] == '.') {
		n = n[1:]
	}
	hour, minutes, _ := strings.Cut(n, ":")
	h, err := strconv.Atoi(hour)
	if half == "" || err != nil || h > 12 {
		return n
	}
	h %= 12
	if strings.Contains(half, "p") {
		h += 12
	}
	return strings.TrimSuffix(strconv.Itoa(h)+":"+minutes, ":")
}

var (
	// number matches a number and what makes it a time: "1,200.50", "9:40", "5.30 p.m."
	number = lazyregexp.New(`(\d+(?:[.,:\x{00a0}\x{202f}]\d+)*)(\s?[ap]\.?m\b)?`)
	// groupedThousands matches a number with marks between its thousands: "1,200.50".
	groupedThousands = lazyregexp.New(`^([1-9]\d{0,2}(?:[.,\x{00a0}\x{202f}]\d{3})+)([.,]\d+)?$`)
	// mayBeTime matches a number that may be a time of the day: "8.20".
	mayBeTime = lazyregexp.New(`^(\d{1,2})\.([0-5]\d)$`)
	// trailingZeros matches what changes nothing at the end of a number: ".00", ":00".
	trailingZeros = lazyregexp.New(`[.,:]00?$`)
)

// Parts of patterns for values.
const (
	// currencySign and currency are how amounts of money are marked, by a sign, a code or a word.
	currencySign = `[€£$¥₹₽₩₺₦₴₱₫]`
	currency     = `eur|euros?|usd|aud|cad|nzd|dollars?|gbp|chf|francs?|sek|nok|dkk|isk|kr|kroner|kronor|krónur|jpy|yen|cny|yuan|rs|rupees?|rupiah|` +
		`ringgit|baht|pln|czk|huf|rubles?|roubles?|zar|rand|kes|ksh|shillings?|naira|cedis?|pesos?|reais|cents?|pence`
	// otherCurrencies are further codes, some of which are words in small letters. Other capitals, as in "TGV 8716", mark no money.
	otherCurrencies = `AED|ARS|BGN|BRL|CLP|COP|EGP|GHS|HKD|IDR|ILS|INR|KRW|KWD|LKR|MAD|MXN|MYR|NGN|NPR|PEN|PHP|PKR|QAR|RON|RSD|RUB|SAR|SGD|THB|TND|TRY|TWD|TZS|UAH|UGX|UYU|VND`
	// amount is a number with what marks it as money, "£31" or "31 pounds". Pounds alone may be a weight.
	amount   = currencySign + ` ?\d[\d.,]*\d|` + currencySign + ` ?\d|\d[\d.,]* ?(?:` + currencySign + `|(?:pounds?|` + currency + `)\b)`
	money    = currencySign + `|\b(?:` + currency + `)\b`
	duration = `\d ?(?:min|mins|minutes?|hours?|h|days?|weeks?|months?|years?|seconds?|sec)\b`
	length   = `\d ?(?:mm|cm|metres?|meters?|km|kilomet(?:re|er)s?|miles?|feet|ft|inch(?:es)?)\b`
	mass     = `\d ?(?:kg|g|mg|kilos?|grams?|tons?|tonnes?|lbs?|oz|ounces?)\b`
	// otherUnits are units of what is no money.
	otherUnits = `nights?|days?|hours?|hrs?|minutes?|mins?|weeks?|places?|seats?|rooms?|beds?|pieces?|copies|times|km|kg|m²|litres?|metres?|miles?|nächte|tage|stunden|nuits?|jours?|heures?`
	// numbersFromTwo are the English numbers in words but zero and one: "two", "sixty-five", "thousands".
	numbersFromTwo = `two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\pL+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\pL+)?|hundreds?|thousands?|millions?|billions?`
)

// Numbers, amounts of money and measures.
var (
	// aNumber matches what texts without any number lack: a digit, "seven", "several", "free".
	aNumber = lazyregexp.New(`(?i)\d|\b(?:no|none|nothing|free|zero|one|` + numbersFromTwo + `|` +
		`dozens?|half|quarters?|thirds?|both|pair|couple|several|few|many|much|all|most|unlimited|once|twice|single|double|triple|an?|every|each|until|till|up to|as long|always|forever|indefinite(?:ly)?|` +
		`years?|months?|weeks?|days?|hours?|minutes?|nights?)\b|` +
		apart(`k?ein(?:e[mnrs]?|s)?|(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)(?:mal)?|\pL*(?:zehn|[zß]ig|hundert|tausend)|kostenlos|bis|lang(?:e[nr]?)?|`+
			`une?|deux|trois|quatre|cinq|sept|huit|neuf|dix|gratuite?s?|jusqu|un[oa]s?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|gratis|hasta`))
	// ofMoney matches a text with an amount of money: "about € 5".
	ofMoney = lazyregexp.New(`(?i)` + money)
	// onlyMoney matches a text that is an amount of money and no more: "€ 5", "£7-8".
	onlyMoney = lazyregexp.New(`(?i)^\W*[\d.,–-]* ?(?:` + money + `)[\d., –-]*$`)
	// aPrice matches what may be a price: an amount of money, a number at the beginning, or what says that it costs
	// nothing or something: "12 a day", "free".
	aPrice = lazyregexp.New(`(?i)` + money + `|^[^\pL\d]*(?:(?:from|about|around|ca\.|approx\.|up to|at least|at most|under|over|only|just|between|an? (?:extra|additional)|for|now|the|all|(?-i:` + otherCurrencies + `)) )*\d|\b(?:free|nothing|no charge|no extra|included|inclusive|on request|on demand|auf anfrage|sur demande|gratis|kostenlos|umsonst|gratuite?|offert|cost|price|hundred|thousand|million|billion)|: ?\d[\d.,]*$`)
	// aMeasure matches an amount of money or of something else: "9 kg", "20 minutes".
	aMeasure = lazyregexp.New(`(?i)` + money + `|` + duration + `|` + length + `|` + mass)
)
