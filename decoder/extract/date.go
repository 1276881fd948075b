package extract

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// Parts of patterns for dates.
const (
	// aWeekdayName is the name of a day of the week, perhaps a short one: "Tuesday", "tue".
	aWeekdayName = `(?:mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?`
	// aDay is the day of a date: "3rd", "31.".
	aDay = `(?:3[01]|[12]?\d)(?:st|nd|rd|th|\.)?`
	// aMonth is the name of a month, in English, German or French.
	aMonth = `(?:` + monthNames + `|` +
		`januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)`
	// calendar is the name of a month as a word of its own.
	calendar = `\b(?:` + words.MonthsButMay + `)\b`

	// monthNames are the English names, perhaps short ones.
	monthNames = words.MonthsButMay + `|may|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec`
)

// Times and dates.
var (
	// aTime matches what texts without any time lack: a digit, "May", "soon", "before".
	aTime = lazyregexp.New(`(?i)\d|\b(?:` + monthNames + `|` +
		aWeekdayName + `s?|(?:mid)?night|noon|midday|mornings?|afternoons?|evenings?|days?|daily|weeks?|weekdays?|weekends?|weekly|months?|monthly|years?|yearly|annual(?:ly)?|` +
		`hours?|hourly|minutes?|moment|centur(?:y|ies)|decades?|spring|summer|autumn|winter|easter|christmas|holidays?|today|tonight|tomorrow|yesterday|now|soon|always|never|once|twice|every|before|after|until|till|since|` +
		`while|when|whenever|during|as soon|as long|first|last|next|ago|later|earlier|early|late|immediately|anytime|any time|clock|dawn|dusk|sunrise|sunset|end|start|beginning)\b|` +
		apart(`(?:(?:feier|werk|arbeits|wochen|geburts|markt|mon|diens|donners|frei|sams|sonn)?tage?|\pL{3,}tag)[ns]?|\pL*(?:wochen?|wochentags|monat(?:e[ns]?|lich|s)?|jahr(?:e[ns]?|s)?|uhr|stunden?|abends?|nacht|mittags?)|januar|februar|märz|mai|juni|juli|oktober|dezember|`+
			`jours?|semaines?|mois|ann[ée]es?|heures?|midi|matins?|soirs?|(?:lun|mar|mercre|jeu|vendre|same)dis?|dimanches?|d[ií]as?|semanas?|mes(?:es)?|años?|horas?|mañanas?|tardes?|noches?|`+
			`mittwochs?|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|janvier|février|mars|avril|juin|juillet|août|enero|febrero|marzo|abril|junio|julio|agosto|octubre`))
	// aClock matches a time of the day in figures: "9:40", "3 pm".
	aClock = lazyregexp.New(`(?i)\d[:.]\d\d\b|\d ?(?:[ap]\.?m\b|uhr\b|o'clock)`)
	// ofDay matches a time of the day in figures or in words: "9:40", "noon".
	ofDay = lazyregexp.New(`(?i)\d[:.]\d\d\b|\d ?(?:[ap]\.?m|uhr|h)\b|\b(?:noon|midnight|o'clock)\b`)
	// mayBeClock matches what texts without any time of the day lack: "9:40", "0839", "9–14", "noon", "after dark", "at nine".
	mayBeClock = lazyregexp.New(`(?i)\d[:.h]\d\d|\d ?(?:[ap]\.?m|h|hrs?|hours|uhr|o['’]?clock)\b|\b(?:0\d|1[0-8]|2[1-4])[0-5]\d\b|\b\d{1,2} ?[–—-] ?\d{1,2}(?:\W*$|[,;!?)]| (?:on|every|each|daily|except|and|\pL+(?:day|tag)s?)\b)|` +
		`\b(?:clock|time|hours|noon|midday|midnight|mornings?|afternoons?|evenings?|nights?|tonight|dawn|dusk|dark|daylight|sunrise|sunset|breakfast|lunch(?:time)?|dinner|supper|tea|school|half past|quarter (?:to|past)|minutes?|anytime|` +
		`uhr|mittags?|mitternacht|abends?|morgens?|nachmittags?|nachts?|midi|minuit|matin|soir|heures?|mediod[ií]a|medianoche|tarde|noche)\b|` + apart(`früh|après-midi|mañana`) +
		`|\bat (?:\d{1,2}|one|` + numbersFromTwo + `)\b|(?:^|[^\pL\pN])(?:by|from|until|till|before|after|around|about|between|to|um|gegen|ab|bis|à|vers|a las?) (?:\d{1,2}|one|` + numbersFromTwo + `)(?:\W*$|[,;.!?)]|[–—-] ?\d| (?:and|to|until|till|on|in|from|every|each|for|or|sharp|bis|und|et|à|y|\pL+(?:day|tag)s?)(?:[^\pL]|$))`)
	// onlyDate matches a text that is a date and nothing else: "since 3 May 2025", "2025-05-03".
	onlyDate = lazyregexp.New(`(?i)^\W*(?:(?:on|since|from|until|by|am|le) )?(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]? )?(?:(?:1[5-9]|20)\d\d-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|` + aDay + `(?: of)? ` + aMonth + `\.?(?:,? \d{4})?|` + aMonth + ` ` + aDay + `(?:,? \d{4})?)\W*$`)
	// onlyMonth matches a text that is a month of a year and nothing else: "January 2027".
	onlyMonth = lazyregexp.New(`(?i)^\W*` + aMonth + `\.? (?:1[5-9]|20)\d\d\W*$`)
	// aDayOfYear matches a day with its month: "3rd of May".
	aDayOfYear = lazyregexp.New(`(?i)\b` + aDay + `(?: of)? ` + aMonth + `(?: \d{4})?\b|\b` + aMonth + ` ` + aDay + `\b`)
	// ofYear matches a year: "1984".
	ofYear = lazyregexp.New(`\b(?:1[5-9]|20)\d\d\b`)
)

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

// datesIn returns the days of a text with their months, "3 may".
func datesIn(text string) (dates []string) {
	for _, m := range dayOfMonth.FindAllStringSubmatch(strings.ToLower(text), -1) {
		day, month := m[1]+m[4], months[m[2]+m[3]]
		if m[6] != "" { // 2024-11-19
			n, _ := strconv.Atoi(m[5])
			if day = m[6]; n < 1 || n > 12 {
				continue
			}
			month = strings.Fields(monthsInOrder)[n-1]
		}
		dates = append(dates, strings.TrimLeft(day, "0")+" "+month)
	}
	return dates
}

// dayOfMonth matches a day and its month, in either order, or a date as programs write it: "3 may", "may 3",
// "2024-05-03".
var dayOfMonth = lazyregexp.New(`\b(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? (` + aMonth + `)\b|\b(` + aMonth + `)\.? (\d{1,2})(?:st|nd|rd|th)?\b|\b(?:19|20)\d\d-(\d\d)-(\d\d)\b`)

// isoDate matches a date as programs write it: "2024-11-19".
var isoDate = lazyregexp.New(`\b(?:19|20)\d\d-\d\d-\d\d\b`)

// aWeekday matches a day of the week: "Mondays", "Tue.".
var aWeekday = lazyregexp.New(`\b(?:(?i:(mon|tues|wednes|thurs|fri|satur|sun)days?)|(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|rs?)?)\b\.?`)

// daysTo matches what stands between the first and the last of several days: " to ".
var daysTo = lazyregexp.New(`(?i)^ ?(?:[–—-]|to|until|till|through|thru) ?(?:and including )?$`)

// weekdays returns the days of the week that a text names or that lie between two that it names, from 0 for Monday.
func weekdays(text string) (days [7]bool) {
	names := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	last, end := -1, 0
	for _, m := range aWeekday.FindAllStringIndex(text, -1) {
		day := slices.Index(names, strings.ToLower(text[m[0]:m[0]+3]))
		if last >= 0 && daysTo.MatchString(text[end:m[0]]) {
			for d := last; d != day; d = (d + 1) % 7 {
				days[d] = true
			}
		}
		days[day], last, end = true, day, m[1]
	}
	return days
}

// earlier reports whether the first of two months comes first, or the first of two dates that begin with the year.
func earlier(a, b string) bool {
	x, y := months[strings.ToLower(a)], months[strings.ToLower(b)]
	if x != "" && y != "" {
		return strings.Index(monthsInOrder, x) < strings.Index(monthsInOrder, y)
	}
	return a < b && onlyYearFirst.MatchString(a) && onlyYearFirst.MatchString(b)
}

var (
	// onlyYearFirst matches a text that is a date with the year first: "2025-05", "2025-05-03".
	onlyYearFirst = lazyregexp.New(`^` + yearFirst + `$`)
	// aMonthOrDay matches a month, or such a date: "May", "2025-05".
	aMonthOrDay = lazyregexp.New(`(?i)^(?:` + aMonth + `|` + yearFirst + `)$`)
)

// yearFirst matches a date with the year first, perhaps without a day.
const yearFirst = `(?:19|20)\d\d-\d\d(?:-\d\d)?`

// beginsWithDate matches what begins with a date, or with two years: "2024-05-03", "2019–2021".
var beginsWithDate = lazyregexp.New(`^[^\pL\d]*(?:\d{4}[-./]\d\d|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}|(?:1[5-9]|20)\d\d ?[-–/] ?(?:1[5-9]|20)\d\d)`)

// dateOrTime matches a cell with a date or a time of day: "2024-05-03", "3.5.", "9:40", "May".
var dateOrTime = lazyregexp.New(`(?i)\d{4}-\d\d|\d{1,2}[./]\d{1,2}[./]|\b\d{1,2}[:.]\d\d\b(?: ?[ap]m)?$|(?:^|[^\pL])` + aMonth + `(?:$|[^\pL])`)
