package passages

import (
	"slices"
	"strings"

	"tandem/retrieval/internal/english"
)

// topicOf returns what a sentence is about, without an article, or "" if that is not clear. It is the owner, if there is
// one ("the late fee of the mountain pharmacy is", "8 euros is the late fee of the mountain pharmacy"), or else the
// subject. person is whom "she" would refer to in the next sentence, if not to the topic: "Rita" for "Rita's car is".
func topicOf(sentence string) (thing, person string) {
	fields := strings.Fields(withoutRemarks(sentence))
	if len(fields) == 0 || english.Anaphors[strings.ToLower(fields[0])] && !saysWhatOneDoes(fields) || lacksTopic(fields) {
		return "", ""
	}
	end := subjectLength(fields)
	if end == 0 || saysWhatOneDoes(fields) {
		if thing := firstNamed(fields[1:]); thing != "" { // "Call 4471 for the code of the mill"
			return thing, ""
		}
		return phrase(fields[:numberedName(fields)]), ""
	}
	head, verb := fields[:end], ""
	if end < len(fields) && english.IsVerb(fields[end]) {
		verb = fields[end]
	}
	owner, preposition := lastPossessive(head), firstPreposition(head)
	the := strings.EqualFold(head[0], "the")
	switch {
	case owner >= 0 && the && preposition < 0 && english.Actions[verb]: // "the students' bus leaves"
		return phrase(head), ""
	case owner >= 0 && the && (preposition < 0 || owner < preposition):
		return phrase(head[:owner+1]), ""
	case preposition > 0 && (preposition == len(head)-2 || the && owner > preposition):
		return phrase(head), "" // "the bungalow of Upwell's size", "the key of Rita's hall": either may be meant
	case preposition == 0 && verb != "":
		return complement(fields[end+1:]), "" // "In the cellar is the charger of the mill"
	case preposition >= 0:
		return phrase(head[preposition+1:]), ""
	case owner >= 0:
		return phrase(head), phrase(head[:owner+1])
	case the, verb == "", strings.HasSuffix(head[0], "ing") && len(head) > 2: // "Renting the mill costs"
		return phrase(head), ""
	}
	thing = predicate(fields[end:])
	switch {
	case thing == "":
		return phrase(head), ""
	case english.IsName(head[0]):
		return thing, phrase(head)
	}
	return thing, ""
}

// subjectLength returns the number of words before a sentence's verb, or up to the first comma or colon if that comes
// first, or 0 if there is neither.
func subjectLength(fields []string) (end int) {
	for i := 1; i < len(fields) && end == 0; i++ {
		if english.IsVerb(fields[i]) && fields[i-1] != "that" {
			end = i
		}
	}
	if mark := slices.IndexFunc(fields, func(f string) bool { return strings.ContainsAny(f[len(f)-1:], ",:") }); mark >= 0 && (end == 0 || mark < end) {
		end = mark + 1
	}
	return end
}

// lastPossessive returns the index of the last possessive, or -1.
func lastPossessive(fields []string) int {
	for i := len(fields) - 1; i >= 0; i-- {
		if english.IsPossessive(fields[i]) {
			return i
		}
	}
	return -1
}

// firstPreposition returns the index of the first preposition that may introduce an owner, or -1. "To" is none: "the bus to
// Orla" is about a bus.
func firstPreposition(fields []string) int {
	for i, f := range fields {
		if prepositions[strings.ToLower(f)] && (f != "to" || i > 0 && fields[i-1] == "belongs") {
			return i
		}
	}
	return -1
}

// predicate returns what a sentence is about by its verb and what follows ("is the founder of the inn", "runs the inn"), or
// "" if it is about its subject.
func predicate(fields []string) (thing string) {
	verb := fields[0]
	if english.Be[verb] || verb == "works" || verb == "has" || transitive[verb] {
		thing = complement(fields[1:])
	}
	if rest := actedOn(fields); len(rest) > 0 && (thing == "" || slices.ContainsFunc(rest[:min(len(rest), 2)], english.IsPossessive)) { // "runs Ada's mill": the mill, not Ada
		thing = phrase(rest)
	}
	return thing
}

// firstNamed returns the first thing that fields name: the topic of "You can reach the farm at 4471" or "We keep the key of
// Ada in the tin".
func firstNamed(fields []string) string {
	at := slices.IndexFunc(fields, func(f string) bool { return f == "the" || english.IsName(f) })
	if at < 0 {
		return ""
	}
	fields = fields[at:]
	end := slices.IndexFunc(fields[1:], func(f string) bool { return plainWords[f] && !insideNames[f] })
	if end < 0 {
		end = len(fields) - 1
	}
	fields = fields[:end+1]
	if of := slices.Index(fields, "of"); of > 0 && of+1 < len(fields) && !english.IsName(fields[of+1]) {
		fields = fields[of+1:]
	}
	return phrase(fields)
}

// saysWhatOneDoes reports whether a sentence says what one does with a thing: "You can reach the farm at", "We keep the key
// of Ada in".
func saysWhatOneDoes(fields []string) bool {
	verb := 1
	if len(fields) > 2 && fields[1] == "can" {
		verb = 2
	}
	first := strings.ToLower(fields[0])
	return (first == "you" || first == "we") && verb < len(fields) && handling[fields[verb]] && firstNamed(fields[verb:]) != ""
}

// actedOn returns the object of a transitive verb at the start of fields: "runs the mill", "pays for the mill".
func actedOn(fields []string) []string {
	verb := fields[0]
	switch {
	case !transitive[verb] || len(fields) < 2:
		return nil
	case !prepositions[fields[1]] && (!plainWords[fields[1]] || insideNames[fields[1]]):
		return fields[1:]
	case verb == "pays" && fields[1] == "for" || verb == "cooks" && fields[1] == "at":
		return fields[2:]
	}
	return nil
}

// complement returns the owner in the words after a verb, such as "the founder of the inn" or "the inn's founder", or ""
// if there is none.
func complement(fields []string) string {
	if len(fields) > 0 && fields[0] == "as" {
		fields = fields[1:]
	}
	for i, f := range fields[:min(len(fields), 6)] {
		switch word := english.TrimWord(f); {
		case english.IsPossessive(f):
			if i+1 < len(fields) && english.IsPossessive(fields[i+1]) || i+2 < len(fields) && english.IsPossessive(fields[i+2]) {
				continue // "Ada's oven's password"
			}
			return phrase(fields[:i+1])
		case i > 0 && f == "of" && len(fields) > i+1 && fields[i+1] != "a" && fields[i+1] != "an" && (fields[0] == "the" || i < 4):
			return phrase(fields[i+1:])
		case f != word, f != "the" && plainWords[f]:
			return ""
		}
	}
	return ""
}

// phrase returns a name without an article, or "" if it has too many words or is a bare noun.
func phrase(fields []string) string {
	at := slices.IndexFunc(fields, func(f string) bool { return strings.EqualFold(f, "the") || strings.EqualFold(f, "now") })
	fields = fields[at+1:]
	const most = 7
	if len(fields) == 0 || len(fields) > most || len(fields) == 1 && at < 0 && !english.IsName(fields[0]) {
		return ""
	}
	fields = slices.Clone(fields)
	fields[len(fields)-1] = english.TrimPossessive(english.TrimWord(fields[len(fields)-1]))
	return strings.Join(fields, " ")
}
