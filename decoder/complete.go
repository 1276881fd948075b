package decoder

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// completed returns a clause with what it leaves out of the clause before it.
func completed(before, clause string) string {
	c, _ := withoutAnd(clause)
	for _, opener := range []string{"what about ", "how about "} {
		if len(c) > len(opener) && strings.EqualFold(c[:len(opener)], opener) {
			c = strings.TrimSpace(c[len(opener):])
		}
	}
	before = trimQuestion(before)
	first := firstWord(c)
	switch {
	case before == "":
		return clause
	case asksAlone(c): // "and when?"
		if w := strings.Fields(before); questionWords[bare(w[0])] && len(w) > 1 {
			return c[:len(first)] + " " + strings.Join(w[1:], " ") + "?"
		}
		return c + " " + before
	case opens(c) || asks[first]:
		if refersBack(c) {
			return resolved(c, before)
		}
		return c
	case prepositions[first]:
		if at := strings.LastIndex(strings.ToLower(before), " "+first+" "); at > 0 {
			return before[:at] + " " + c
		}
		return before + " " + c
	}
	if m := subjectAndVerb.FindStringSubmatch(before); m != nil && isThing(c) {
		return m[1] + " " + trimQuestion(c) + " " + m[3] + "?"
	}
	head := head(before)
	if tail, ok := complement(before); ok && !hasComplement(c) {
		return head + trimQuestion(c) + " " + tail + "?"
	}
	return head + c
}

// subjectAndVerb matches a question whose subject stands between an auxiliary and its verb: "what does tea cost".
var subjectAndVerb = regexp.MustCompile(`(?i)^((?:what|how (?:much|long|high|far|often)|when|where|what time) (?:does|do|did)) (.+) (\pL+)$`)

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

// refersBack reports whether a clause leaves open what it is about: it has a pronoun that no name before it explains, or no
// content at all.
func refersBack(clause string) bool {
	if prepositions[firstWord(clause)] && strings.Contains(clause, ", ") { // "for the mill, when does it open"
		return false
	}
	for i, w := range strings.Fields(clause) {
		if i > 0 && capital(w) && bare(w) != "i" {
			return false
		}
		if p := bare(w); pronouns[p] && !(p == "there" && i > 0 && auxiliaries[firstWord(strings.Fields(clause)[i-1])]) {
			return true
		}
	}
	return len(ContentWords(clause)) == 0
}

// resolved returns a clause with what its pronouns stand for: a person or a thing of the clause before. If they stand for
// something else, that clause follows it.
func resolved(clause, before string) string {
	var out []string
	words := strings.Fields(clause)
	changed := false
	for i, w := range words {
		stands, possessive := "", false
		switch p := bare(w); p {
		case "he", "she", "him":
			stands = person(before)
		case "his", "her":
			stands = person(before)
			possessive = p == "his" || w == p && i+1 < len(words) && !prepositions[bare(words[i+1])] && !auxiliaries[bare(words[i+1])]
		case "it":
			stands = thing(before)
		case "its":
			stands, possessive = thing(before), true
		case "they", "them", "their":
			if stands, possessive = thing(before), p == "their"; !strings.HasSuffix(stands, "s") {
				stands = "" // one thing
			}
		}
		if stands == "" {
			out = append(out, w)
			continue
		}
		if possessive {
			stands += "'s"
		}
		out, changed = append(out, stands+w[len(strings.TrimRight(w, "?!.,;:")):]), true
	}
	if !changed {
		return clause + " " + before
	}
	return strings.Join(out, " ")
}

// person returns the person that a question is about: its first name, or else its thing, "the plumber".
func person(question string) string {
	words := strings.Fields(question)
	for i := 1; i < len(words); i++ {
		if !capital(words[i]) || bare(words[i]) == "i" || questionWords[bare(words[i])] || prepositions[bare(words[i-1])] && bare(words[i-1]) != "of" {
			continue
		}
		to := i + 1
		for to < len(words) && !possessive(words[to-1]) && (capital(words[to]) || to+1 < len(words) && particles[words[to]] && capital(words[to+1])) {
			to++
		}
		return withoutMarks(strings.Join(words[i:to], " "))
	}
	return thing(question)
}

// thing returns the thing that a question is about: "the lake cabin" of "what is the wifi password of the lake cabin", of
// "when does the lake cabin open" and of "who owns the lake cabin".
func thing(question string) string {
	words := strings.Fields(question)
	for i := len(words) - 2; i > 0; i-- {
		if bare(words[i]) == "of" {
			if p := phrase(words, i+1); p != "" {
				return p
			}
		}
	}
	for i := 1; i < len(words); i++ {
		if articles[bare(words[i])] {
			if p := phrase(words, i); p != "" {
				return p
			}
		}
	}
	for i := 1; i < len(words); i++ {
		if capital(words[i]) && bare(words[i]) != "i" {
			return phrase(words, i)
		}
	}
	return ""
}

// phrase returns the thing that words name from word i > 0 on. After an auxiliary verb it is a subject, and its verb is left out;
// so is a participle at its end, "the bridge (built)".
func phrase(words []string, i int) string {
	to := i
	for to < len(words) && (to == i || !articles[bare(words[to])]) && !ends[bare(words[to])] && !prepositions[bare(words[to])] && !auxiliaries[bare(words[to])] {
		to++
		if last := words[to-1]; strings.TrimRight(last, "?!.,;:") != last {
			break
		}
	}
	atVerb := to < len(words) && (auxiliaries[bare(words[to])] || ends[bare(words[to])])
	if before := bare(words[i-1]); auxiliaries[before] && to-i > 1 && !atVerb {
		if !forms[before] || to-i > 2 && participle.MatchString(bare(words[to-1])) {
			to--
		}
	}
	if to-i == 1 && articles[bare(words[i])] {
		return ""
	}
	return withoutMarks(strings.Join(words[i:to], " "))
}

// participle matches words that look like past participles.
var participle = regexp.MustCompile(`(ed|wn|ld|lt|nt|ght|orn|ung|ken|ten|ven)$`)

var (
	particles = set("de di da du la le van von der den of the el al bin")
	ends      = set("be been and or that than if who whom whose which what when where how why not")
	forms     = set("is are was were")
)

// bare returns a word in lower case without marks around it and without a possessive ending.
func bare(w string) string {
	return strings.ToLower(withoutMarks(w))
}

func withoutMarks(s string) string {
	s = strings.Trim(s, `,.?!;:"()`)
	return strings.TrimSuffix(strings.TrimSuffix(s, "'s"), "’s")
}

func possessive(w string) bool { return strings.HasSuffix(w, "'s") || strings.HasSuffix(w, "’s") }

func capital(w string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, `"'(`))
	return unicode.IsUpper(r)
}
