package passages

import (
	"slices"
	"strings"

	"tandem/retrieval/internal/english"
)

// subject returns what a sentence says something about, as far as that is plain, without an article: whose thing
// it is ("the late fee of the mountain pharmacy is", "8 euros is the late fee of the mountain pharmacy"), else what
// stands before the verb. person is whom "she" would mean after it, where that is another: "Rita" of "Rita's car
// is". "" otherwise.
func subject(sentence string) (thing, person string) {
	fields := strings.Fields(unremarked(sentence))
	if len(fields) == 0 || english.Leaning[strings.ToLower(fields[0])] && !keeps(fields) || unsaid(fields) {
		return "", ""
	}
	end := subjectEnd(fields)
	if end == 0 || keeps(fields) {
		if thing := object(fields[1:]); thing != "" { // "Call 4471 for the code of the mill"
			return thing, ""
		}
		return phrase(fields[:numbered(fields)]), ""
	}
	head, verb := fields[:end], ""
	if end < len(fields) && english.IsVerb(fields[end]) {
		verb = fields[end]
	}
	owner, relation := lastGenitive(head), firstRelation(head)
	the := strings.EqualFold(head[0], "the")
	switch {
	case owner >= 0 && the && relation < 0 && english.Actions[verb]: // "the students' bus leaves"
		return phrase(head), ""
	case owner >= 0 && the && (relation < 0 || owner < relation):
		return phrase(head[:owner+1]), ""
	case relation > 0 && (relation == len(head)-2 || the && owner > relation):
		return phrase(head), "" // "the bungalow of Upwell's size", "the key of Rita's hall": either may be meant
	case relation == 0 && verb != "":
		return complement(fields[end+1:]), "" // "In the cellar is the charger of the mill"
	case relation >= 0:
		return phrase(head[relation+1:]), ""
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

// subjectEnd returns how many words stand before a sentence's verb, or up to the first comma or colon if that comes first; 0 if neither does.
func subjectEnd(fields []string) (end int) {
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

func lastGenitive(fields []string) int {
	for i := len(fields) - 1; i >= 0; i-- {
		if english.IsPossessive(fields[i]) {
			return i
		}
	}
	return -1
}

// firstRelation returns where the first preposition that says whose something is stands; -1 for nowhere. "The bus to Orla" is a bus.
func firstRelation(fields []string) int {
	for i, f := range fields {
		if relations[strings.ToLower(f)] && (f != "to" || i > 0 && fields[i-1] == "belongs") {
			return i
		}
	}
	return -1
}

// predicate returns what a sentence speaks of from its verb on: "is the founder of the inn", "runs the inn"; "" if it speaks of its subject.
func predicate(fields []string) (thing string) {
	verb := fields[0]
	if english.Be[verb] || verb == "works" || verb == "has" || transitive[verb] {
		thing = complement(fields[1:])
	}
	if rest := acted(fields); len(rest) > 0 && (thing == "" || slices.ContainsFunc(rest[:min(len(rest), 2)], english.IsPossessive)) { // "runs Ada's mill": all of it
		thing = phrase(rest)
	}
	return thing
}

// object returns what "You can reach the farm at 4471" or "We keep the key of Ada in the tin" speaks of: the first thing that is named there.
func object(fields []string) string {
	at := slices.IndexFunc(fields, func(f string) bool { return f == "the" || english.IsName(f) })
	if at < 0 {
		return ""
	}
	fields = fields[at:]
	end := slices.IndexFunc(fields[1:], func(f string) bool { return plainWords[f] && !named[f] })
	if end < 0 {
		end = len(fields) - 1
	}
	fields = fields[:end+1]
	if of := slices.Index(fields, "of"); of > 0 && of+1 < len(fields) && !english.IsName(fields[of+1]) {
		fields = fields[of+1:]
	}
	return phrase(fields)
}

// keeps reports whether a sentence says what one does with a thing: "You can reach the farm at", "We keep the key of Ada in".
func keeps(fields []string) bool {
	verb := 1
	if len(fields) > 2 && fields[1] == "can" {
		verb = 2
	}
	first := strings.ToLower(fields[0])
	return (first == "you" || first == "we") && verb < len(fields) && kept[fields[verb]] && object(fields[verb:]) != ""
}

// acted returns what somebody acts on, of the words from a transitive verb on: "runs the mill", "pays for the mill".
func acted(fields []string) []string {
	verb := fields[0]
	switch {
	case !transitive[verb] || len(fields) < 2:
		return nil
	case !relations[fields[1]] && (!plainWords[fields[1]] || named[fields[1]]):
		return fields[1:]
	case verb == "pays" && fields[1] == "for" || verb == "cooks" && fields[1] == "at":
		return fields[2:]
	}
	return nil
}

// complement returns what a sentence says something about that goes on, after its verb, as "the founder of the inn" or
// "the inn's founder"; "" if it does not.
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

// phrase writes the words of a name without an article; "" when they are too many for one, or a noun that says
// nothing in particular.
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
