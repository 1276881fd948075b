package decoder

import (
	"strings"
	"unicode"
)

// Clauses returns the parts of a request's question, each as a question that can be asked alone: "of Ben?" after "what is
// the phone number of Anna" becomes "what is the phone number of Ben?". A follow-up takes what it leaves out from the
// question before it. There is at least one clause and at most maxClauses.
func Clauses(req Request) []string {
	raw := askedParts(req.Question)
	raw = shareTail(raw)
	before := ""
	if earlier := strings.TrimSpace(strings.TrimSuffix(req.topic(), strings.TrimSpace(req.Question))); earlier != "" {
		last := askedParts(earlier)
		before = last[len(last)-1]
	}
	for i, c := range raw {
		raw[i] = completed(before, c)
		before = raw[i]
	}
	return raw
}

// askedParts cuts a question where another one begins: after a question mark, a semicolon or a line, and before "and" or a
// comma if the part before it asks and what follows asks too, or is short: "and of Ben?", "and the door code?". It cuts less
// readily than parseQuestion, whose parts only shift weights between passages: here each part is answered by itself, so a
// wrong cut costs the answer.
func askedParts(question string) []string {
	var out []string
	rest := strings.TrimSpace(question)
	for rest != "" && len(out) < maxClauses-1 {
		at := partEnd(rest, len(out) > 0)
		if at == 0 {
			break
		}
		if part := strings.Trim(rest[:at], " \t\r\n,;"); len(contentWords(part)) > 0 {
			out = append(out, part)
		}
		rest = strings.TrimLeft(rest[at:], " \t\r\n,;")
	}
	if rest = strings.Trim(rest, " \t\r\n,;"); len(contentWords(rest)) > 0 || len(out) == 0 {
		out = append(out, rest)
	}
	return out
}

// partEnd returns the offset after the first part of s, or 0 if s is one part. further tells that another part came before.
func partEnd(s string, further bool) int {
	asked := questionWords[firstWord(s)] || further
	for i := 1; i < len(s); i++ {
		after := strings.TrimSpace(s[i+1:])
		switch s[i] {
		case '?', ';', '\n':
			if after != "" {
				return i + 1
			}
		case ',':
			rest, and := strings.CutPrefix(after, "and ")
			if asked && (questionWords[firstWord(rest)] || and && short(rest)) {
				return i + 1
			}
			if further && prepositions[firstWord(rest)] { // a complement of both
				return i + 1
			}
		case ' ':
			if rest, and := strings.CutPrefix(after, "and "); and && asked && questionWords[firstWord(rest)] {
				return i
			}
		}
	}
	return 0
}

// short reports whether what follows an "and" is the short form of another question: "of Ben?", "the door code, …".
func short(rest string) bool {
	first, end := firstWord(rest), strings.IndexAny(rest, ",?;")
	if end < 0 {
		end = len(rest)
	}
	return (prepositions[first] || articles[first]) && len(strings.Fields(rest[:end])) <= 8
}

// shareTail gives a last clause that is only a complement ("of the lake cabin?") to the clauses before it that have none.
func shareTail(clauses []string) []string {
	n := len(clauses) - 1
	if n < 1 || !prepositions[firstWord(clauses[n])] {
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

// completed returns a clause with what it leaves out of the clause before it.
func completed(before, clause string) string {
	c := clause
	for _, opener := range []string{"and ", "also ", "what about ", "how about "} {
		if len(c) > len(opener) && strings.EqualFold(c[:len(opener)], opener) {
			c = strings.TrimSpace(c[len(opener):])
		}
	}
	before = trimQuestion(before)
	first := firstWord(c)
	switch {
	case before == "":
		return clause
	case prepositions[first]:
		if at := strings.LastIndex(strings.ToLower(before), " "+first+" "); at > 0 {
			return before[:at] + " " + c
		}
		return before + " " + c
	case asks[first]:
		if refersBack(c) {
			return c + " " + before
		}
		return c
	}
	head := head(before)
	if tail, ok := complement(before); ok && !hasComplement(c) {
		return head + trimQuestion(c) + " " + tail + "?"
	}
	return head + c
}

// head returns the words of a question before the thing that it asks for: "what is ".
func head(question string) string {
	at := 0
	for word := range strings.FieldsSeq(question) {
		if !asks[strings.ToLower(word)] {
			return question[:at]
		}
		at += strings.Index(question[at:], word) + len(word)
		for at < len(question) && question[at] == ' ' {
			at++
		}
	}
	return ""
}

// complement returns a clause from its first preposition after a word: "of the lake cabin".
func complement(clause string) (string, bool) {
	at := -1
	for p := range prepositions {
		if i := strings.Index(strings.ToLower(clause), " "+p+" "); i > 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return "", false
	}
	return clause[at+1:], true
}

func hasComplement(clause string) bool {
	_, ok := complement(clause)
	return ok || strings.Contains(clause, "'s ") || strings.Contains(clause, "’s ")
}

// refersBack reports whether a clause has a pronoun and no name.
func refersBack(clause string) bool {
	back := false
	for i, w := range strings.FieldsFunc(clause, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		if i > 0 && unicode.IsUpper([]rune(w)[0]) && w != "I" {
			return false
		}
		back = back || pronouns[strings.ToLower(w)]
	}
	return back || len(contentWords(clause)) == 0
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	return strings.ToLower(strings.Trim(w, ",.?!;:"))
}

func trimQuestion(s string) string { return strings.TrimRight(strings.TrimSpace(s), "?!., ") }

var (
	prepositions = set("of in at on for from by to with about")
	articles     = set("the a an my your his her its our their")
	pronouns     = set("it its he him his she her they them their there this that these those one")
	// questionWords begin a question that asks for something.
	questionWords = set("what when where who whom whose which why how")
	asks          = set(`what when where who whom whose which why how is are was were does did do can could will would
		should has have had tell give show list name`)
)
