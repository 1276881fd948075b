package extract

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/decoder"
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
	return !hasAll(a, b) && !hasAll(b, a)
}

// Bounds of the values that are compared, in words.
const (
	maxWords = 10
	fewWords = 4 // of values without a number: longer ones may say the same in other words
)

// hasAll reports whether a has all of b.
func hasAll(a, b []string) bool {
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
	if n := numbers(phrase); len(n) > 0 {
		return n
	}
	return tellingWords(phrase, question)
}

// sameValue reports whether two phrases name one value, though one may say less.
func sameValue(a, b, question string) bool {
	x, y := valueWords(a, question), valueWords(b, question)
	return len(x) > 0 && len(y) > 0 && (hasAll(x, y) || hasAll(y, x))
}

// mentions reports whether a text names a value.
func mentions(text, value, question string) bool {
	v := valueWords(value, question)
	return len(v) > 0 && hasAll(slices.Concat(numbers(text), words.Content(text)), v)
}

// numbers returns the numbers of a text, written in one way: "1,200.00" is 1200, "09:00" and "9 a.m." are 9, "5.30
// p.m." is 17:30. Of a date they have the month's name, too.
func numbers(text string) (out []string) {
	for _, m := range number.FindAllStringSubmatch(strings.ToLower(text), -1) {
		n := m[1]
		if t := groupedThousands.FindStringSubmatch(n); t != nil {
			n = strings.NewReplacer(",", "", ".", "", "\u00a0", "", "\u202f", "").Replace(t[1]) + t[2]
		}
		if m[2] != "" {
			n = strings.Replace(n, ".", ":", 1) // 5.30 p.m.
		}
		n = strings.Replace(trailingZeros.ReplaceAllString(n, ""), ",", ".", 1)
		if len(n) > 1 && n[0] == '0' && (len(n) == 2 || n[2] == ':' || n[2] == '.') {
			n = n[1:]
		}
		if hour, rest, _ := strings.Cut(n, ":"); m[2] != "" {
			if h, err := strconv.Atoi(hour); err == nil && h <= 12 {
				h %= 12
				if strings.Contains(m[2], "p") {
					h += 12
				}
				n = strings.TrimSuffix(strconv.Itoa(h)+":"+rest, ":")
			}
		}
		out = append(out, n)
	}
	if len(out) > 0 {
		out = append(out, monthsIn(strings.ToLower(text))...)
	}
	return out
}

var (
	// number matches a number and what makes it a time: "1,200.50", "9:40", "5.30 p.m."
	number = regexp.MustCompile(`(\d+(?:[.,:\x{00a0}\x{202f}]\d+)*)(\s?[ap]\.?m\b)?`)
	// groupedThousands matches a number with marks between its thousands: "1,200.50".
	groupedThousands = regexp.MustCompile(`^([1-9]\d{0,2}(?:[.,\x{00a0}\x{202f}]\d{3})+)([.,]\d+)?$`)
	// trailingZeros matches what changes nothing at the end of a number: ".00", ":00".
	trailingZeros = regexp.MustCompile(`[.,:]00?$`)
)

// monthsIn returns the months that a text in lower case names. One of three letters must stand beside a number: "may"
// is mostly a verb, and Jan a name.
func monthsIn(text string) (out []string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	counts := func(i int) bool { return i >= 0 && i < len(words) && words[i][0] >= '0' && words[i][0] <= '9' }
	for i, w := range words {
		before := i - 1
		if before > 0 && (words[before] == "of" || words[before] == "de") {
			before--
		}
		if m := months[w]; m != "" && (utf8.RuneCountInString(w) > 3 || counts(before) || counts(i+1)) {
			out = append(out, m)
		}
	}
	return out
}

// months has the names of months with the first of each line, which stands for them.
var months = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(`jan january januar jänner janvier enero
		feb february februar fév février febrero
		mar march mär märz mrz mars marzo
		apr april avr avril abr abril
		may mai mayo
		jun june juni juin junio
		jul july juli juil juillet julio
		aug august août ago agosto
		sep sept september septembre septiembre
		oct october okt oktober octobre octubre
		nov november novembre noviembre
		dec december dez dezember déc décembre dic diciembre`) {
		names := strings.Fields(line)
		for _, name := range names {
			m[name] = names[0]
		}
	}
	return m
}()

// monthsInOrder has the months as the values of months spell them.
const monthsInOrder = "jan feb mar apr may jun jul aug sep oct nov dec"

// Parts of patterns for values.
const (
	money    = `[€£$]|\b(?:eur|euros?|usd|dollars?|gbp|chf|francs?|sek|nok|dkk|kroner|kronor|cents?|pence)\b`
	duration = `\d ?(?:min|mins|minutes?|hours?|h|days?|weeks?|months?|years?|seconds?|sec)\b`
	length   = `\d ?(?:mm|cm|metres?|meters?|km|kilomet(?:re|er)s?|miles?|feet|ft|inch(?:es)?)\b`
	mass     = `\d ?(?:kg|g|mg|kilos?|grams?|tons?|tonnes?|lbs?|oz|ounces?)\b`
	// otherUnits are units of what is no money.
	otherUnits = `nights?|days?|hours?|hrs?|minutes?|mins?|weeks?|places?|seats?|rooms?|beds?|pieces?|copies|times|km|kg|m²|litres?|metres?|miles?|nächte|tage|stunden|nuits?|jours?|heures?`
	// aWeekdayName is the name of a day of the week, perhaps a short one: "Tuesday", "tue".
	aWeekdayName = `(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?`
	// numbersFromTwo are the English numbers in words but zero and one: "two", "sixty-five", "thousands".
	numbersFromTwo = `two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\pL+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-\pL+)?|hundreds?|thousands?|millions?|billions?`
	// aDay and aMonth are the parts of a date.
	aDay   = `(?:3[01]|[12]?\d)(?:st|nd|rd|th|\.)?`
	aMonth = `(?:` + monthNames + `|` +
		`januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)`
	calendar = `\b(?:` + words.MonthsButMay + `)\b`

	// monthNames are the English ones.
	monthNames = words.MonthsButMay + `|may|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec`
)

// Times and dates.
var (
	// aTime matches what texts without any time lack: a digit, "May", "soon", "before".
	aTime = regexp.MustCompile(`(?i)\d|\b(?:` + monthNames + `|` +
		aWeekdayName + `s?|(?:mid)?night|noon|midday|mornings?|afternoons?|evenings?|days?|daily|weeks?|weekdays?|weekends?|weekly|months?|monthly|years?|yearly|annual(?:ly)?|` +
		`hours?|hourly|minutes?|moment|centur(?:y|ies)|decades?|spring|summer|autumn|winter|easter|christmas|holidays?|today|tonight|tomorrow|yesterday|now|soon|always|never|once|twice|every|before|after|until|till|since|` +
		`while|when|whenever|during|as soon|as long|first|last|next|ago|later|earlier|early|late|immediately|anytime|any time|clock|dawn|dusk|sunrise|sunset|end|start|beginning)\b|` +
		apart(`(?:(?:feier|werk|arbeits|wochen|geburts|markt|mon|diens|donners|frei|sams|sonn)?tage?|\pL{3,}tag)[ns]?|\pL*(?:wochen?|wochentags|monat(?:e[ns]?|lich|s)?|jahr(?:e[ns]?|s)?|uhr|stunden?|abends?|nacht|mittags?)|januar|februar|märz|mai|juni|juli|oktober|dezember|`+
			`jours?|semaines?|mois|ann[ée]es?|heures?|midi|matins?|soirs?|(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?|d[ií]as?|semanas?|mes(?:es)?|años?|horas?|mañanas?|tardes?|noches?|`+
			`mittwochs?|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|janvier|février|mars|avril|juin|juillet|août|enero|febrero|marzo|abril|junio|julio|agosto|octubre`))
	// aClock matches a time of the day in figures: "9:40", "3 pm".
	aClock = regexp.MustCompile(`(?i)\d[:.]\d\d\b|\d ?(?:[ap]\.?m\b|uhr\b|o'clock)`)
	// ofDay matches a time of the day in figures or in words: "9:40", "noon".
	ofDay = regexp.MustCompile(`(?i)\d[:.]\d\d\b|\d ?(?:[ap]\.?m|uhr|h)\b|\b(?:noon|midnight|o'clock)\b`)
	// onlyDate matches a text that is a date and nothing else: "since 3 May 2025", "2025-05-03".
	onlyDate = regexp.MustCompile(`(?i)^\W*(?:(?:on|since|from|until|by|am|le) )?(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]? )?(?:(?:1[5-9]|20)\d\d-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|` + aDay + `(?: of)? ` + aMonth + `\.?(?:,? \d{4})?|` + aMonth + ` ` + aDay + `(?:,? \d{4})?)\W*$`)
	// aDayOfYear matches a day with its month: "3rd of May".
	aDayOfYear = regexp.MustCompile(`(?i)\b` + aDay + `(?: of)? ` + aMonth + `(?: \d{4})?\b|\b` + aMonth + ` ` + aDay + `\b`)
	// ofYear matches a year: "1984".
	ofYear = regexp.MustCompile(`\b(?:1[5-9]|20)\d\d\b`)
)

// Numbers, amounts of money and measures.
var (
	// aNumber matches what texts without any number lack: a digit, "seven", "several", "free".
	aNumber = regexp.MustCompile(`(?i)\d|\b(?:no|none|nothing|free|zero|one|` + numbersFromTwo + `|` +
		`dozens?|half|quarters?|thirds?|both|pair|couple|several|few|many|much|all|most|unlimited|once|twice|single|double|triple|an?|every|each|until|till|up to|as long|always|forever|indefinite(?:ly)?|` +
		`years?|months?|weeks?|days?|hours?|minutes?|nights?)\b|` +
		apart(`k?ein(?:e[mnrs]?|s)?|(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)(?:mal)?|\pL*(?:zehn|[zß]ig|hundert|tausend)|kostenlos|bis|lang(?:e[nr]?)?|`+
			`une?|deux|trois|quatre|cinq|sept|huit|neuf|dix|gratuite?s?|jusqu|un[oa]s?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|gratis|hasta`))
	// ofMoney matches a text with an amount of money: "about € 5".
	ofMoney = regexp.MustCompile(`(?i)` + money)
	// onlyMoney matches a text that is an amount of money and no more: "€ 5".
	onlyMoney = regexp.MustCompile(`(?i)^\W*[\d.,]* ?(?:` + money + `)[\d., ]*$`)
	// aPrice matches what may be a price: an amount of money, a number at the beginning, or what says that it costs
	// nothing or something: "12 a day", "free".
	aPrice = regexp.MustCompile(`(?i)` + money + `|^[^\pL\d]*(?:(?:from|about|around|ca\.|approx\.|up to|at least|at most|under|over|only|just|between|an? (?:extra|additional)|[A-Z]{3}) )*\d|\b(?:free|nothing|no charge|no extra|included|inclusive|gratis|kostenlos|umsonst|gratuite?|offert|cost|price|hundred|thousand|million|billion)|: ?\d[\d.,]*$`)
	// aMeasure matches an amount of money or of something else: "9 kg", "20 minutes".
	aMeasure = regexp.MustCompile(`(?i)` + money + `|` + duration + `|` + length + `|` + mass)
)
