package extract

import (
	"slices"
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
)

// meaningOfCode returns what stands after a code ("E11", "- 3: …") that a question asks about: in its row, where a question about
// what to do gets the cell that says that, or else in its line. Two of either leave open which is meant.
func (p passage) meaningOfCode(q query) (from, to int, ok bool) {
	wanted, defined := words.Content(q.text), asksMeaning.MatchString(q.text)
	for _, code := range codeWithPoint.FindAllString(q.text, -1) {
		wanted = append(wanted, strings.ToLower(code))
	}
	if !defined && !(asksRemedy.MatchString(q.text) && slices.ContainsFunc(wanted, isCodeLabel)) {
		return 0, 0, false
	}
	var all []textRange
	if defined {
		all = p.meaningsInTable(wanted, saysMeaning.MatchString(q.text))
	} else if asksWhatToDo.MatchString(q.text) {
		all = p.remediesInTable(wanted)
	}
	if len(all) > 0 {
		return all[0].from, all[0].to, len(all) == 1 && all[0].from < all[0].to
	}
	if from, to, ok = p.meaningInLine(wanted); !ok && defined {
		return p.meaningInNextSentence(wanted)
	}
	return from, to, ok
}

// meaningInNextSentence returns what the sentence after the only one with a code of the question says that it is: "a blocked
// pump" in "It showed E11. That's a blocked pump."
func (p passage) meaningInNextSentence(wanted []string) (from, to int, ok bool) {
	text := p.text[p.body:]
	for _, m := range codeThenMeaning.FindAllStringSubmatchIndex(text, -1) {
		code, is, meaning := strings.ToLower(text[m[2]:m[3]]), m[4] >= 0, text[m[6]:m[7]]
		if !slices.Contains(wanted, code) || is && isNoFault.MatchString(meaning) {
			continue
		}
		if ok {
			return 0, 0, false
		}
		from, to, ok = p.body+m[6], p.body+m[7], true
	}
	return from, to, ok
}

var (
	// codeThenMeaning matches a code at the end of a sentence and what the next one says that it means or is.
	codeThenMeaning = lazyregexp.New(`\b(\pL+\d+|\d+\pL+)\b["”']?[.!:;]? (?:(?:That|It|This|Which) means|Means|Meaning|((?:That|It)['’]s|That is)) ([^.!?;\n]+)`)
	// isNoFault matches the beginning of what a code cannot mean: how often or when it was shown, or what somebody thought of it.
	isNoFault = lazyregexp.New(`(?i)^(?:the \pL+ time|\d|two|three|four|five|six|ten|twenty|half|mon|tues|wednes|thurs|fri|satur|sun|been|all|again|always|new|odd|strange|weird|annoying|` +
		`good|bad|great|what|why|how|where|who|because|since|in|on|at|after|before|from|to|my|our|me|us|it|them)(?:day)?\b`)
)

// definition returns the sentence after the label that a question asks about and about nothing more: "may use the sound
// card" in "audio: may use the sound card" for "what is the audio group?" Two such labels leave open which is meant. Shorter
// values are found by valueBehindLabel.
func (p passage) definition(q query) (from, to int, ok bool) {
	if q.form != formValue || !asksDefinition.MatchString(q.text) {
		return 0, 0, false
	}
	wanted := excluding(words.Content(q.text), kindsOfThings)
	above := words.Content(p.title())
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		label, rest, colon := cutLabel(line[len(lineMark.FindString(line)):])
		if !colon || len(strings.Fields(rest)) <= maxWords {
			continue
		}
		if named := words.Content(label); len(named) == 0 || !words.HasAll(wanted, named) || !words.HasAll(slices.Concat(named, above), wanted) {
			continue
		}
		if ok {
			return 0, 0, false
		}
		from, ok = end-len(rest), true
		to = min(end, p.sentenceEnd(from+1))
	}
	return from, to, ok && from < to
}

// asksDefinition matches a question about what something is: "what is the audio group?", "what does gzip mean?".
var asksDefinition = lazyregexp.New(`(?i)^\W*(?:and )?what(?:'s| is| are)\b|^\W*(?:and )?what do(?:es)?\b.*\bmean\W*$`)

// kindsOfThings are words that say of what kind a thing is that has a label: "the group staff".
var kindsOfThings = words.Set("group user account command program tool function method option flag setting variable parameter field property key keyword module package library term word file for mean means do does")

// saysMeaning matches a question that says that it asks what something means: "what does E11 mean".
var saysMeaning = lazyregexp.New(`(?i)\b(?:means?|meaning|stands? for|signif(?:y|ies))\b`)

// asksMeaning matches a question about what something means: "what does E11 stand for?", "what is E11?".
var asksMeaning = lazyregexp.New(`(?i)^\W*(?:and )?(?:what (?:does|do|did|is|are)\b.*\b(?:mean|stand for|signify|meaning)\b|what(?:'s| is)\b|meaning of\b)`)

// asksRemedy matches a question about what to do about something that is displayed: "what do I do when it shows E5".
var asksRemedy = lazyregexp.New(`(?i)` + whatToDo + `|\b(?:what|how)\b.*\bwrong\b|\b(?:shows?|says|displays?|error|fault|message)\b`)

// asksWhatToDo matches a question about what to do: "what to do on E5".
var asksWhatToDo = lazyregexp.New(`(?i)` + whatToDo)

const whatToDo = `\b(?:what|how)\b.*\b(?:do|fix|solve|clear)\b`

// remedyColumn matches the name of a column that says what to do: "Remedy", "Do this".
var remedyColumn = lazyregexp.New(`(?i)^\W*(?:(?:what )?(?:to |you can )?do|(?:corrective |recommended )?actions?|remed(?:y|ies)|fix(?:es)?|solutions?|cures?|abhilfe|behebung|maßnahmen?|lösung|remèdes?|que faire|solución|qué hacer)(?:$|[^\pL])`)

// remediesInTable returns what to do by the rows that begin with a code of the question.
func (p passage) remediesInTable(wanted []string) (all []textRange) {
	for _, r := range p.rows {
		column := slices.IndexFunc(r.names, remedyColumn.MatchString)
		label := p.slice(r.cells[0])
		if column > 0 && column < len(r.cells) && isCodeLabel(label) && slices.Contains(wanted, strings.ToLower(label)) {
			all = append(all, r.cells[column])
		}
	}
	return all
}

// meaningsInTable returns the second cells of the rows that begin with a code or a long number of the question. meant says
// that the question asks what something means. Any other question must ask of the row no more than that: "the IP of web01"
// wants another cell.
func (p passage) meaningsInTable(wanted []string, meant bool) (all []textRange) {
	for _, r := range p.rows {
		label := p.slice(r.cells[0])
		if len(r.cells) < 2 || !slices.Contains(wanted, strings.ToLower(label)) {
			continue
		}
		whole := len(unnamed(wanted, strings.ToLower(label), slices.Concat(words.Content(r.names[0]), p.names))) == 0
		if isCodeLabel(label) && (meant || whole) || longNumber.MatchString(label) && whole {
			all = append(all, r.cells[1])
		}
	}
	return all
}

// meaningInLine returns what follows the colon in the only line that begins with a code of the question. A bare number
// needs more: the title or the heading above it must have the rest of the question.
func (p passage) meaningInLine(wanted []string) (from, to int, ok bool) {
	above := words.Content(p.title())
	for begin, end := range p.lines() {
		line := p.text[begin:end]
		mark := len(lineMark.FindString(line))
		label, rest, colon := cutLabel(line[mark:])
		switch bare := bareCode(label); {
		case !colon && p.heading(begin, end) || !strings.ContainsAny(line, ".:;,!?"):
			above = slices.Concat(words.Content(p.title()), words.Content(line))
		case !colon || strings.Contains(bare, " ") || !slices.Contains(wanted, strings.ToLower(bare)):
		case isCodeLabel(bare) || number.FindString(bare) == bare && len(unnamed(wanted, bare, above)) == 0:
			if ok {
				return 0, 0, false
			}
			from, to, ok = end-len(rest), end, true
		}
	}
	return from, to, ok && from < to
}

// cutLabel divides a line after its label, which a colon or a dash ends.
func cutLabel(line string) (label, rest string, ok bool) {
	if label, rest, ok = strings.Cut(line, ": "); ok {
		return label, rest, true
	}
	for _, dash := range []string{" – ", " — ", " - "} {
		if label, rest, ok = strings.Cut(line, dash); ok && len(strings.Fields(label)) <= longestCode {
			return label, rest, true
		}
	}
	return line, "", false
}

// longestCode is how many words a label has that a dash ends: "Error E5 –".
const longestCode = 3

// bareCode returns a label without marks around it, and without words that only say that it is a code: "E5" for "Error E5".
func bareCode(label string) string {
	label = strings.Trim(label, "`*_ ")
	words := strings.Fields(label)
	left := slices.DeleteFunc(words, func(w string) bool { return codeWords[strings.ToLower(w)] })
	if len(left) != 1 {
		return label
	}
	return left[0]
}

// longNumber matches a number that counts nothing, such as a code, a port or an identifier: "8080".
var longNumber = lazyregexp.New(`^\d{3,}$`)

// unnamed returns the words of a question about a number that are not above its line and do not say that it is a code.
func unnamed(wanted []string, number string, above []string) []string {
	left := words.Without(wanted, above)
	return slices.DeleteFunc(left, func(w string) bool { return w == number || codeWords[w] })
}

// codeWords say that a number is a code, as "status" does, or ask for its meaning.
var codeWords = words.Set("mean means meaning stand stands code error status number exit message signify display displays")

// codeWithPoint matches a code with a mark in it, which words.Content divides: "F.28".
var codeWithPoint = lazyregexp.New(`\b[A-Z]{1,3}[.-]\d{1,4}\b`)

// isCodeLabel reports whether a label is a code: it has letters and digits and no space.
func isCodeLabel(label string) bool {
	return !strings.ContainsAny(label, " \t") && strings.ContainsFunc(label, unicode.IsDigit) && strings.ContainsFunc(label, unicode.IsLetter)
}
