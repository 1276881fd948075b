package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/retrieval/internal/english"
)

// Limits of a question.
const (
	maxParts = 8
	maxAhead = 64 // words that are searched for the start of another question
)

// clauses divides a compound question into its parts. It divides at the end of a sentence, and at an "and" that begins
// another question. A part with a pronoun ("and when does it open?") gets the first part's words in front. A simple
// question is one clause. There are at most maxParts; the last one holds the rest.
//
// Questions are divided in three places, each by rules of its own, because a wrong cut costs something else:
//   - here, for what is searched; the whole question is searched too, so it may cut too often;
//   - by focusClauses in decoder, to find the clause that a sentence is about; it only shifts weights between passages;
//   - by question.Asked.Clauses in decoder, for what is answered; there a wrong cut spoils the answer.
func clauses(question string) []string {
	fields := strings.Fields(question)
	var parts []string
	start := 0
	cut := func(end, next int) {
		if end > start {
			parts = append(parts, strings.TrimRight(strings.Join(fields[start:end], " "), ",;"))
		}
		start = next
	}
	for i, f := range fields {
		if len(parts) == maxParts-1 {
			break
		}
		ahead := fields[i+1 : min(len(fields), i+1+maxAhead)]
		more := len(ahead) > 0
		switch {
		case i > start && more && conjunctions[strings.ToLower(f)] && (opensQuestion(ahead) || f != "&" && isElliptical(ahead, fields[i-1])):
			cut(i, i+1)
		case strings.HasSuffix(f, "?"), strings.HasSuffix(f, ";"), strings.HasSuffix(f, ".") && more && (opensQuestion(ahead) || ahead[0] == "Also,"):
			cut(i+1, i+1)
		}
	}
	cut(len(fields), len(fields))
	for i := 1; i < len(parts); i++ {
		if hasPronoun(parts[i]) {
			parts[i] = parts[0] + " " + parts[i]
		}
	}
	return parts
}

var conjunctions = english.Set("and also &")

var questionWords = english.Set("what what's when where where's which who who's whom whose why how is are does do did was were can tell give i")

var prepositions = english.Set("at on in from for to by since until")

// opensQuestion reports whether fields begin a question: with a question word, or with one after a preposition ("at which
// pier") or after the topic ("for the old mill, what").
func opensQuestion(fields []string) bool {
	first := strings.ToLower(strings.Trim(fields[0], ",?"))
	if !prepositions[first] {
		return questionWords[first]
	}
	for i, f := range fields[1:] {
		next := strings.ToLower(strings.Trim(f, ",?"))
		if (i == 0 || strings.HasSuffix(fields[i], ",")) && questionWords[next] {
			return true
		}
		if strings.HasSuffix(f, "?") {
			break
		}
	}
	return false
}

// isElliptical reports whether the words after "and" are short for a question: "Contact of the old mill?", or after a
// comma "the old mill's contact?". before is the word before the "and".
func isElliptical(fields []string, before string) bool {
	r, _ := utf8.DecodeRuneInString(fields[0])
	if end := slices.IndexFunc(fields, func(f string) bool { return strings.ContainsAny(f[len(f)-1:], ",?") }); end >= 0 {
		fields = fields[:end+1]
	}
	of := slices.Index(fields, "of") > 0
	if strings.HasSuffix(before, ",") {
		return of || slices.ContainsFunc(fields, english.IsPossessive)
	}
	return of && unicode.IsUpper(r)
}

var pronouns = english.Set("it its they them their he his him she her there that this these those")

// hasPronoun reports whether a clause refers to another by a pronoun.
func hasPronoun(clause string) bool {
	for f := range strings.FieldsSeq(strings.ToLower(clause)) {
		if pronouns[strings.Trim(f, ",?.;")] {
			return true
		}
	}
	return false
}
