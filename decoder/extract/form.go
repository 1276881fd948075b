package extract

import (
	"regexp"
	"strings"
)

// form is what of a passage answers a question.
type form uint8

const (
	value    form = iota // the span itself
	sentence             // the sentence around it
	reason               // that sentence, but no heading
	steps                // all steps of the numbered list around it, or that sentence
	list                 // the whole list around it
)

// formOf chooses the form by the question's first words: "why" and questions for yes or no are answered by a sentence, "how
// does" by steps, "what are all" by a list, others by a value. Where there is no list, the sentence stands for it.
func formOf(question string) form {
	w := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return strings.ContainsRune(" \t\n,.?!", r) })
	for len(w) > 1 && opening[w[0]] || len(w) > 2 && before[w[0]] && (w[1] == "which" || w[1] == "what") {
		w = w[1:]
	}
	if len(w) < 2 {
		return value
	}
	switch first, second := w[0], w[1]; {
	case first == "why", first == "explain", first == "describe":
		return reason
	case first == "how" && !measures[second], first == "instructions":
		return steps
	case yesNo[first]:
		return sentence
	case first == "what" && (second == "happens" || second == "happened" || second == "if" || second == "should" || second == "about"):
		return sentence
	case first == "who" && gathered.MatchString(question):
		return list
	case len(w) > 2 && (first == "which" || first == "what") && several[second] && plural(w[2]):
		return list
	case first == "list", (first == "what" || first == "who") && (second == "are" || second == "were"), first == "which" && plural(second), first == "what" && plural(second):
		return list
	}
	return value
}

// plural reports whether a word looks like several things.
func plural(word string) bool {
	return len(word) > 3 && !verbs[word] && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") && !strings.HasSuffix(word, "is")
}

// gathered matches a question for all who were somewhere.
var gathered = regexp.MustCompile(`(?i)\b(?:was|were) (?:there|present|absent)\b|\b(?:attend(?:ed|s)?|took part|participated|apologi[sz]ed|sent (?:their )?apologies)\b`)

var (
	before   = set("on at in for from to by with of until since till after during under through about against")
	opening  = set("and so ok okay please hi hello hey also but then")
	yesNo    = set("is are was were do does did can could will would has have had may must should am")
	several  = set("two three four five six seven eight nine ten")
	verbs    = set("does costs means needs takes comes goes makes opens closes belongs")
	measures = set("many much long far old often tall high big large deep wide heavy fast late early soon hot cold warm expensive loud bright thick strong small low short quick quickly slow slowly close near")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
