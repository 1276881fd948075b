package documents

import (
	"maps"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/textline"
)

// letterDate returns the index of the line that dates a letter, -1 if there is none. It must be the only line that is a date,
// perhaps after a place: several dates are the headings of a diary.
func letterDate(lines []string) int {
	at := -1
	for i, line := range lines {
		if dateline.MatchString(strings.TrimSpace(line)) {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// dateline matches a line that is a date, perhaps after a place: "Bremen, den 3. November 2026", "Lyon, le 4 mai 2026",
// "4 May 2026".
var dateline = lazyregexp.New(`^(\p{Lu}[\pL .'-]{1,40}, +)?(\pL{1,3} +)?(\d{1,2}(\.|st|nd|rd|th|er)? +(de +)?\pL{3,12}\.?,? +(de +)?|\pL{3,9} +\d{1,2}, +|\d{1,2}[./-]\d{1,2}[./-])\d{4}$`)

// dayHeadings returns the lines of a diary that are headings: each is no more than a day, after a gap, with text in the
// line below it that does not go on with a sentence. A single one is the date of a letter.
func dayHeadings(lines []string) map[int]bool {
	out := map[int]bool{}
	above := "" // the last line with text
	for i, line := range lines {
		line = strings.TrimSpace(line)
		gap := i == 0 || isRule(strings.TrimSpace(lines[i-1])) || strings.TrimSpace(lines[i-1]) == ""
		if gap && day.MatchString(line) && i+1 < len(lines) && !textline.Links(strings.ToLower(lastWord(above))) {
			next := strings.TrimSpace(lines[i+1])
			out[i] = next != "" && !isRule(next) && !day.MatchString(next) && !textline.BeginsLower(next)
		}
		if line != "" {
			above = line
		}
	}
	maps.DeleteFunc(out, func(_ int, heads bool) bool { return !heads })
	if len(out) < 2 {
		return nil
	}
	return out
}

// day matches a line that is a day, perhaps with the time: "Monday 3 Feb", "Sat, 4/5/2025", "12. März 2025, 9:30 Uhr:". With the day of
// the week, it may lack the month or the year: "Sat 21", "Sa 21.3.".
var day = lazyregexp.New(`(?i)^(?:(?:` + weekday + `)[.,]? +(?:the +|den +|le +)?\d{1,2}(?:[./] ?\d{1,2}\.?|\.|st|nd|rd|th|er)?|` +
	`(?:(?:` + weekday + `)[.,]? +(?:the +|den +|le +)?)?(?:\d{1,2}(?:\.|st|nd|rd|th|er)? +(?:of +|de +)?(?:` + monthName + `)\b\.?,?(?: +(?:de +)?\d{4})?|(?:` + monthName + `)\.? +\d{1,2}(?:st|nd|rd|th)?(?:,? +\d{4})?|` +
	`\d{1,2}(?:[./-]|\. )\d{1,2}(?:[./-]|\. )(?:\d{4}|\d{2})|\d{4}-\d{2}-\d{2}))(?:,? +(?:at +|um +)?\d{1,2}[:.]\d{2}(?: ?(?:uhr|h|[ap]m))?)?:?$`)

const (
	weekday = `(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|` +
		`mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|mié|jue|vie|sáb|dom`

	monthName = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|` +
		`janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre`
)
