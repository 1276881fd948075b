package question

import (
	"slices"
	"strings"

	"tandem/internal/words"
)

// Division is the version of the rules by which Clauses divides questions. Two sides that divide differently cannot
// answer together.
const Division = 6

// Clauses returns the parts of a request's question, each as a question that can be asked alone: "of Ben?" after "what is
// the phone number of Anna" becomes "what is the phone number of Ben?". A follow-up takes what it leaves out from the
// question before it. There is at least one clause and at most maxClauses.
//
// Questions are divided in three places, each by rules of its own, because a wrong cut costs something else:
//   - here, for what is answered; each clause is answered alone, so a wrong cut spoils the answer;
//   - by focusClauses in decoder, to find the clause that a sentence is about; it only shifts weights between passages;
//   - by clauses in retrieval/search, for what is searched; the whole question is searched too, so it may cut too often.
func (a Asked) Clauses() []string {
	asked := shareTail(askedParts(a.Text))
	before, person := a.before()
	var out []string
	for i, c := range asked {
		c = completedFor(before, person, c)
		before, person = c, ""
		if d := divided(c); len(out)+len(d)+len(asked)-i-1 <= maxClauses {
			out = append(out, d...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// askedParts cuts a question where another one begins: after a question mark, a semicolon or a line end. It also cuts
// after a full stop, and before a comma or "and", if the part before asks something and what follows also does or is
// elliptical ("and of Ben?", "and the door code?"). A question that is longer than any that people ask is not cut,
// because the time to find its parts grows with the square of its length.
func askedParts(question string) []string {
	var out []string
	rest := strings.TrimSpace(question)
	for len(question) <= maxAsked && rest != "" && len(out) < maxClauses-1 {
		at := endOfPart(rest, len(out) > 0)
		if at == 0 {
			break
		}
		if part := strings.Trim(rest[:at], " \t\r\n,;"); !asksNothing(part) {
			out = append(out, part)
		}
		rest = strings.TrimLeft(rest[at:], " \t\r\n,;")
	}
	if rest = strings.Trim(rest, " \t\r\n,;"); !asksNothing(rest) || len(out) == 0 {
		out = append(out, rest)
	}
	return out
}

// asksNothing reports whether a part asks nothing: it is empty, or "and please, thanks".
func asksNothing(part string) bool {
	return !slices.ContainsFunc(lowerWords(part), func(w string) bool { return !politeness[w] })
}

// endOfPart returns the offset after the first part of s, or 0 if s is one part. further reports whether another part
// came before.
func endOfPart(s string, further bool) int {
	places := 0
	for i := 1; i < len(s) && places < maxPlaces; i++ {
		after := strings.TrimSpace(s[i+1:])
		if after == "" {
			return 0
		}
		rest, and := withoutAnd(after)
		before := s[:i]
		if s[i] == '.' || s[i] == ',' || s[i] == ' ' && and {
			places++
		}
		if strings.Count(before, `"`)%2 == 1 { // within quotation marks
			continue
		}
		switch s[i] {
		case '?', ';', '\n':
			return i + 1
		case '.':
			if s[i+1] == ' ' && !words.Abbreviated(before) && (opensQuestion(rest) || and && namesOwned(rest)) && (further || asksSomething(before)) {
				return i + 1
			}
		case ',':
			if endsAtComma(before, rest, and, further) {
				return i + 1
			}
		case ' ':
			if and && endsBeforeAnd(before, rest, further) {
				return i
			}
		}
	}
	return 0
}

// endsAtComma reports whether a part ends at the comma between before and rest. and says that rest followed an "and",
// and further that another part came before.
func endsAtComma(before, rest string, and, further bool) bool {
	switch {
	case further && prepositions[firstWord(rest)] && !opensQuestion(rest): // a complement of both
		return true
	case and && (opensQuestion(rest) || isShortForm(before, rest) || namesOwned(rest)) && further,
		and && opensQuestion(rest) && namesThing(before):
		return true
	case !asksSomething(before):
		return false
	case and:
		return opensQuestion(rest) || isShortForm(before, rest) || namesOwned(rest) || asksAlone(rest) || isThing(rest) && subjectAndVerb.MatchString(before)
	}
	return isInverted(rest) || opensQuestion(rest) && anotherFollows(rest)
}

// endsBeforeAnd reports whether a part ends before the "and" between before and rest. further says that another part
// came before.
func endsBeforeAnd(before, rest string, further bool) bool {
	switch {
	case questionWords[strings.ToLower(before)]: // "how and when"
		return false
	case asksAlone(rest) && asksSomething(before):
		return true
	case opensQuestion(rest) && (further || asksSomething(before) || namesThing(before)):
		return true
	}
	return namesOwned(rest) && namesOwned(before) && (thingAsked(before) || namesThing(before))
}

// asksAlone reports whether s is only a question word, so that the question before it gives the rest, as in "and when?"
func asksAlone(s string) bool {
	return questionWords[strings.ToLower(trimQuestion(s))]
}

// isThing reports whether s as a whole names a thing in a few words: "coffee?"
func isThing(s string) bool {
	w := lowerWords(s)
	return len(w) > 0 && len(w) <= maxThingWords && !slices.ContainsFunc(w, func(s string) bool {
		return openers[s] || auxiliaries[s] || prepositions[s] || pronouns[s] || subordinate[s] || politeness[s]
	})
}

// anotherFollows reports whether, after the question with which s begins, "and" and another one follow. "Who" and "which" after a
// comma may begin a relative clause otherwise. It looks at the first few times that "and" follows.
func anotherFollows(s string) bool {
	for range 8 {
		_, after, ok := strings.Cut(s, " and ")
		if !ok {
			return false
		}
		if opensQuestion(after) || asksAlone(after) {
			return true
		}
		s = after
	}
	return false
}

// withoutAnd returns s without an "and" or "also" before it, and whether there was one.
func withoutAnd(s string) (rest string, and bool) {
	for _, word := range []string{"and ", "also, ", "also ", "& ", "if so, ", "if so "} {
		if len(s) > len(word) && strings.EqualFold(s[:len(word)], word) {
			s, and = strings.TrimSpace(s[len(word):]), true
		}
	}
	return s, and
}

// asksSomething reports whether a part asks: by a question word, for a yes or no, or as a request.
func asksSomething(part string) bool {
	w := lowerWords(part)
	if len(w) == 0 || openers[w[0]] && beginsQuestion(w, 0) || w[0] == "i" || w[0] == "please" {
		return true
	}
	for i := 1; i < len(w); i++ {
		if questionWords[w[i]] && beginsQuestion(w, i) {
			return true
		}
	}
	return false
}

// namesThing reports whether a part asks for a thing by naming it: "number of members of the rowing club".
func namesThing(part string) bool {
	w := lowerWords(part)
	return len(w) > 0 && len(w) <= maxNamedWords && !questionWords[w[0]] && !prepositions[w[0]] && !subordinate[w[0]] && namesOwned(part)
}

// namesOwned reports whether a text, up to its first punctuation mark, names something that belongs to something else:
// "height of the lock", "Anna's phone number".
func namesOwned(s string) bool {
	if end := strings.IndexAny(s, ",?;"); end >= 0 {
		s = s[:end]
	}
	w := strings.Fields(s)
	for len(w) > 0 && openers[strings.ToLower(w[0])] {
		w = w[1:]
	}
	if len(w) < 2 || len(w) > maxNamedWords || prepositions[strings.ToLower(w[0])] {
		return false
	}
	s = strings.Join(w, " ")
	if last := w[len(w)-1]; strings.HasSuffix(last, "'s") || strings.HasSuffix(last, "’s") {
		return false
	}
	of := slices.Index(w, "of")
	return of > 0 && of <= 4 || strings.Contains(s, "'s ") || strings.Contains(s, "’s ")
}

// maxNamedWords is the largest number of words that name a thing: "number of members of the rowing club of Kassel".
const maxNamedWords = 9

// beginsQuestion reports whether word i, a question word, begins a question ("when does") and not a relative clause ("when many
// people are arrested").
func beginsQuestion(w []string, i int) bool {
	switch w[i] {
	case "when", "where", "why":
		return i+1 == len(w) || auxiliaries[w[i+1]] || w[i+1] == "and"
	case "how":
		next := append(slices.Clone(w[i+1:min(len(w), i+4)]), "", "", "")
		return i+1 == len(w) || auxiliaries[next[0]] || next[0] == "much" || next[0] == "many" || next[0] == "to" || auxiliaries[next[1]] ||
			auxiliaries[next[2]] && !subjects[next[1]]
	}
	return true
}

// opensQuestion reports whether s begins a separate question: "what is", "by whom", "for the mill, when does", "do you know",
// "tell me".
func opensQuestion(s string) bool {
	w := firstWords(s, 5)
	switch {
	case len(w) < 2:
		return false
	case len(w) > 2 && compoundPrepositions[w[0]+" "+w[1]]: // "up to what amount"
		return questionWords[w[2]]
	case longPrepositions[w[0]]: // "after how many days"
		return questionWords[w[1]]
	case prepositions[w[0]]:
		if questionWords[w[1]] {
			return true
		}
		topic, rest, ok := strings.Cut(s, ",")
		return ok && len(strings.Fields(topic)) <= maxNamedWords && isInverted(strings.TrimSpace(rest))
	case requests[w[0]]:
		return articles[w[1]] || w[1] == "me" || w[1] == "us" || w[1] == "all"
	case w[0] == "i":
		return w[1] == "need" || w[1] == "want"
	case auxiliaries[w[0]]:
		return subjects[w[1]] || w[1] == "the" && !strings.HasPrefix(w[0], "ha")
	}
	return questionWords[w[0]] && beginsQuestion(w, 0)
}

// isInverted reports whether s begins with a question word and the verb of a question, which no relative clause has.
func isInverted(s string) bool {
	w := firstWords(s, 3)
	if len(w) < 3 {
		return false
	}
	switch w[0] {
	case "what", "when", "why":
		return auxiliaries[w[1]]
	case "how":
		return true
	}
	return false
}

// isShortForm reports whether what follows an "and" is the short form of another question: "of Ben?", "the door code, …".
func isShortForm(before, rest string) bool {
	first, end := firstWord(rest), strings.IndexAny(rest, ",?;")
	if end < 0 {
		end = len(rest)
	}
	w := lowerWords(rest[:end])
	if len(w) > 8 || slices.ContainsFunc(w, func(s string) bool { return auxiliaries[s] }) {
		return false
	}
	return prepositions[first] || articles[first] && thingAsked(before)
}

// thingAsked reports whether a part asks for a thing by its name: "what is the rent", "tell me the rent".
func thingAsked(part string) bool {
	w := lowerWords(part)
	switch {
	case len(w) < 2:
		return false
	case w[0] == "what" || w[0] == "which" || w[0] == "who" || w[0] == "where" || w[0] == "when":
		return formsOfBe[w[1]] || articles[w[1]] // "what's the"
	}
	return requests[w[0]] || w[0] == "i" || prepositions[w[0]] && slices.ContainsFunc(w, func(s string) bool { return formsOfBe[s] })
}

// lowerWords returns the words of a text in lower case, without the marks around them.
func lowerWords(s string) []string { return firstWords(s, len(s)) }

// firstWords returns the first n of lowerWords, or all if there are fewer. It looks at no more of the text.
func firstWords(s string, n int) (out []string) {
	for w := range strings.FieldsSeq(s) {
		if len(out) == n {
			break
		}
		w = strings.Trim(strings.ToLower(w), `,.?!;:"'()`)
		w, _, _ = strings.Cut(strings.ReplaceAll(w, "’", "'"), "'s") // what's
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// shareTail gives a last clause that is only a complement ("of the lake cabin?") to the clauses before it that have none.
func shareTail(clauses []string) []string {
	n := len(clauses) - 1
	if n < 1 || !prepositions[firstWord(clauses[n])] || opensQuestion(clauses[n]) {
		return clauses
	}
	for _, c := range clauses[:n] {
		if _, ok := complement(c); ok {
			return clauses
		}
	}
	for i := range clauses[:n] {
		clauses[i] = trimQuestion(clauses[i]) + " " + clauses[n]
	}
	return clauses[:n]
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return strings.ToLower(strings.Trim(w, ",.?!;:"))
}

func trimQuestion(s string) string { return strings.TrimRight(strings.TrimSpace(s), "?!., ") }

var (
	// prepositions may begin what a question adds: "of the mill".
	prepositions = words.Set("of in at on for from by to with about since until till")
	// compoundPrepositions begin a question only with a question word after them: "up to what amount".
	compoundPrepositions = map[string]bool{"up to": true, "as of": true, "as from": true, "out of": true, "next to": true, "because of": true}
	// longPrepositions do so, too: "after how many days".
	longPrepositions = words.Set("under within after before during over through into between against without per via")
	// articles begin the name of a thing: "the rent", "her job".
	articles = words.Set("the a an my your his her its our their")
	// pronouns stand for what the question before names.
	pronouns = words.Set("it its he him his she her they them their there this that these those one")
	// questionWords begin a question that asks for something.
	questionWords = words.Set("what when where who whom whose which why how")
	// openers has the words with which a question or a request begins.
	openers = words.Set(`what when where who whom whose which why how is are was were does did do can could will would
		should has have had tell give show list name`)
	// auxiliaries stand before the subject of a question: "does it open".
	auxiliaries = words.Set(`is are was were does do did can could will would should shall may might must has have had
		isn't aren't wasn't weren't doesn't don't didn't can't couldn't won't wouldn't shouldn't hasn't haven't`)
	// politeness has words that ask nothing.
	politeness = words.Set("and also please thanks thank you hi hello hey ok okay so")
	// subjects are pronouns that may be the subject of a question.
	subjects = words.Set("you i we he she it they this that there")
	// requests begin what asks without a question word: "tell me the rent".
	requests = words.Set("tell give show list name find explain describe")
	// subordinate has the words that begin a subordinate clause: "if it rains".
	subordinate = words.Set("if after before as since while when because although though during until unless whenever given")
)
