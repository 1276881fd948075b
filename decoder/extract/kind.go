package extract

import (
	"regexp"
	"slices"
	"strings"
)

// noPlace reports whether a question asks where and a value is only times and amounts.
func (w wants) noPlace(value string) bool {
	return w.place && value != "" && !slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' }), func(part string) bool {
		return !notPlace.MatchString(part) && !(w.noDate && onlyDate.MatchString(part))
	})
}

// otherEnd reports whether a value is the other end of a stretch of time than the question asks for.
func (w wants) otherEnd(before, value string) bool {
	return asksSince.MatchString(w.question) && (untilHere.MatchString(before) || untilIn.MatchString(value)) ||
		asksUntil.MatchString(w.question) && sinceHere.MatchString(before)
}

var (
	asksWhere = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*where\b`)
	// notPlace matches a value that is only a time of the day or an amount of money. Rooms, too, have numbers with a point.
	notPlace = regexp.MustCompile(`(?i)^\W*(?:at |um |à )?(?:\d{1,2}:\d\d(?: ?(?:[ap]\.?m\.?|uhr|h))?|\d{1,2}\.\d\d ?(?:[ap]\.?m\.?|uhr|h)|\d{1,2} ?(?:[ap]\.?m\.?|uhr|h|o'clock)|[\d.,]* ?(?:` + money + `)[\d., ]*)\W*$`)

	// asksSince and asksUntil match a question for one end of a stretch of time; untilHere and sinceHere what makes the value behind it the other.
	asksSince = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:since when|from when|starting when|seit wann|ab wann|depuis quand)\b`)
	asksUntil = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:until when|till when|up to when|bis wann|jusqu'à quand)\b`)
	untilHere = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:until|till|up to|bis(?: zum)?|jusqu'(?:à|en|au)) (?:the |end of |the end of )?$`)
	untilIn   = regexp.MustCompile(`(?i)^(?:until|till|up to|bis|jusqu'(?:à|en|au)) [^,;]*$`)
	sinceHere = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:since|as of|seit|ab|depuis) (?:the )?$`)
)
