package extract

import "regexp"

var (
	// onlyDate matches a text that is a date and nothing else. asksNoDate matches a question that wants another kind of thing by its first
	// words, mentionsDate one that may want a date all the same.
	onlyDate     = regexp.MustCompile(`(?i)^\W*(?:(?:on|since|from|until|by|am|le) )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:(?:1[5-9]|20)\d\d-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|` + aDay + `(?: of)? ` + aMonth + `\.?(?:,? \d{4})?|` + aMonth + ` ` + aDay + `(?:,? \d{4})?)\W*$`)
	asksNoDate   = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:(?:in|at|on|to|from|with|by) )?(?:where|who|whom|whose|which (?:room|house|flat|unit|floor|place|town|city|country|street|address|firm|company|person|colou?r|number|size|model|brand|platform)|what (?:room|colou?r|size|model|brand|kind|type|sort)|how (?:much|tall|high|deep|wide|heavy|big))\b`)
	mentionsDate = regexp.MustCompile(`(?i)\b(?:dates?|days?|when|months?|years?|until|till|since|deadline|due|expir\pL*|valid\pL*|time|birthday|born|notice|ahead|advance|back|up to|stop\pL*|start\pL*|beg[aiu]n\pL*|ends?|ended)\b`)
)

// wantsNoDate reports whether a question wants something else than a date.
func wantsNoDate(question string) bool {
	return asksNoDate.MatchString(question) && !mentionsDate.MatchString(question)
}
