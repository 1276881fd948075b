package extract

import (
	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// manyDays matches what speaks of other days without naming them: "daily", "on holidays".
var manyDays = lazyregexp.New(`(?i)\b(?:daily|every ?day|any day|all days|seven days|7 days|weekdays?|working days?|weekends?|bank holidays?|holidays|whole week|all week|other days|except|apart from|otherwise|since|until|till|from now)\b`)

// saysYes matches a sentence that answers yes to a question above it: "Yes, on Fridays."
var saysYes = lazyregexp.New(`(?i)^\W*(?:yes|ja|oui|sí)\b`)

// yesOfOtherDay reports whether a sentence and the question name different days of the week: "yes, on Fridays" for a
// question about Tuesday.
func (w wants) yesOfOtherDay(said string) bool {
	asked, given := weekdays(w.question), weekdays(said)
	if asked == [7]bool{} || given == [7]bool{} || manyDays.MatchString(said) {
		return false
	}
	for d := range asked {
		if asked[d] && given[d] {
			return false
		}
	}
	return true
}

// isDayOfOtherEntry reports whether an offset is in a heading that is a day, as in a diary, and more of the asked words stand
// above it than below. The day is that of the text below, so it is not the one that is asked for.
func (p passage) isDayOfOtherEntry(at int, asked []string) bool {
	begin, end := p.lineStart(at), p.lineEnd(at)
	if !p.isDay(begin, end) {
		return false
	}
	from, to := begin, end
	for from > p.body && !(from < begin && p.isDay(from, p.lineEnd(from))) {
		from = p.lineStart(from - 1)
	}
	for to < len(p.text) && !p.isDay(to+1, p.lineEnd(to+1)) {
		to = p.lineEnd(to + 1)
	}
	shared := func(text string) int { return words.Shared(asked, words.Content(text)) }
	return shared(p.text[from:begin]) > shared(p.text[end:to])
}
