package question

import (
	"regexp"
	"slices"
	"strings"
)

// divided returns the questions in a clause whose parts share words: "when does the museum open and close" asks when it opens
// and when it closes. A clause that asks one thing is returned alone.
func divided(clause string) []string {
	for _, divide := range []func(string) []string{sharedRest, sharedSubject, sharedOwner, sharedThing, sharedHead, sharedVerb, sharedName, sharedRequest} {
		if parts := divide(clause); len(parts) > 1 {
			return parts
		}
	}
	return []string{clause}
}

var (
	// twoQuestions matches two question words with one rest: "when and where does it take place".
	twoQuestions = regexp.MustCompile(`(?i)^(how (?:much|many|long|often|far)|what time|when|where|why|how|who|whom) and (how (?:much|many|long|often|far)|what time|when|where|why|how|who|whom) (.+)$`)
	// twoMeasures matches two measures of one thing: "how wide and deep is the canal".
	twoMeasures = regexp.MustCompile(`(?i)^(how) ([\pL]+) and ([\pL]+) ([\pL]+) (.+)$`)
)

// sharedRest divides "when and where does it take place" and "how wide and deep is the canal".
func sharedRest(clause string) []string {
	if m := twoQuestions.FindStringSubmatch(clause); m != nil {
		return []string{m[1] + " " + m[3], m[2] + " " + m[3]}
	}
	if m := twoMeasures.FindStringSubmatch(clause); m != nil && auxiliaries[strings.ToLower(m[4])] {
		return []string{m[1] + " " + m[2] + " " + m[4] + " " + m[5], m[1] + " " + m[3] + " " + m[4] + " " + m[5]}
	}
	return nil
}

// sharedSubject divides "when does the museum open and close on Sundays" and "where was she born and buried".
func sharedSubject(clause string) []string {
	w := strings.Fields(trimQuestion(clause))
	k := slices.Index(w, "and")
	if k < 4 || k+1 >= len(w) || !questionWords[bare(w[0])] && !prepositions[bare(w[0])] {
		return nil
	}
	verb := slices.IndexFunc(w, func(s string) bool { return auxiliaries[bare(s)] })
	if verb < 1 || verb > k-3 || !slices.Contains([]string{"when", "where", "time"}, bare(w[verb-1])) {
		return nil
	}
	first, second := w[k-1], w[k+1]
	switch {
	case first == second, isCapitalized(first), isCapitalized(second), articles[w[k-2]], prepositions[bare(w[k-2])],
		articles[second], prepositions[second], auxiliaries[second], pronouns[second], questionWords[second],
		k+2 < len(w) && !prepositions[w[k+2]],
		slices.ContainsFunc(w[:k], func(s string) bool { return subordinate[s] && s != "when" }),
		formsOfBe[bare(w[verb])] && !(participle.MatchString(first) && participle.MatchString(second)),
		!formsOfBe[bare(w[verb])] && !strings.HasPrefix(bare(w[verb]), "d"):
		return nil
	}
	tail := w[k+2:]
	return []string{
		strings.Join(slices.Concat(w[:k], tail), " ") + "?",
		strings.Join(slices.Concat(w[:k-1], w[k+1:k+2], tail), " ") + "?",
	}
}

// maxThingWords is the largest number of words that name each of several things of one owner.
const maxThingWords = 3

// sharedOwner divides "what is the phone number and address of the clinic" and "what are Anna's job, phone number and
// address".
func sharedOwner(clause string) []string {
	lead := headOf(clause)
	w := strings.Fields(trimQuestion(clause[len(lead):]))
	if !(lead == "" || thingAsked(lead+"the")) || len(w) > 2*maxNamedWords {
		return nil
	}
	from, to := 0, len(w) // the words that name the things
	owner := slices.IndexFunc(w, isPossessive)
	if owner >= 0 && lead != "" {
		from = owner + 1
	} else if to = slices.IndexFunc(w, func(s string) bool { return prepositions[s] }); to < 1 || w[to] != "of" && (lead == "" || w[to] != "for") || lead != "" && !articles[w[0]] {
		return nil
	}
	things := enumerated(w[from:to])
	if len(things) < 2 || strings.HasSuffix(things[0], "s") && strings.Contains(lead, "are") {
		return nil
	}
	var out []string
	for _, t := range things {
		t = strings.Join(w[:from], " ") + " " + t
		if owner < 0 && articles[firstWord(w[0])] && !articles[firstWord(t)] {
			t = w[0] + " " + strings.TrimSpace(t)
		}
		out = append(out, lead+strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(t)}, w[to:]...), " "))+"?")
	}
	return out
}

// enumerated returns the things of "the phone number and address" or "job, phone number and address", each of few words
// without a name; nil if the words are something else.
func enumerated(w []string) (out []string) {
	k := slices.Index(w, "and")
	if k < 1 || k+1 >= len(w) {
		return nil
	}
	for _, t := range append(strings.Split(strings.Join(w[:k], " "), ","), strings.Join(w[k+1:], " ")) {
		words := strings.Fields(t)
		if len(words) == 0 {
			continue // "a, b, and c"
		}
		if len(words) > maxThingWords+1 || slices.ContainsFunc(words, func(s string) bool {
			return isCapitalized(s) || s == "and" || s == "between" || endsName[s] || auxiliaries[s] || strings.ContainsAny(s, ".?!;:")
		}) || articles[words[len(words)-1]] {
			return nil
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// sharedThing divides "what are the phone numbers of Anna and Ben".
func sharedThing(clause string) []string {
	w := strings.Fields(trimQuestion(clause))
	k := slices.Index(w, "and")
	of := slices.Index(w, "of")
	if of < 2 || k < of+2 || k+1 >= len(w) || !strings.HasSuffix(w[of-1], "s") || len(w) > k+maxThingWords+1 ||
		!(isCapitalized(w[of+1]) && isCapitalized(w[k+1]) || articles[w[of+1]] && articles[w[k+1]]) ||
		!slices.ContainsFunc(w[:of], func(s string) bool { return bare(s) == "are" || bare(s) == "were" }) {
		return nil
	}
	return []string{strings.Join(w[:k], " ") + "?", strings.Join(slices.Concat(w[:of+1], w[k+1:]), " ") + "?"}
}

// sharedHead divides "who is the mayor of Kassel and of Fulda".
func sharedHead(clause string) []string {
	w := strings.Fields(trimQuestion(clause))
	k := slices.Index(w, "and")
	if k < 2 || k+2 >= len(w) || !prepositions[w[k+1]] || len(w) > k+2+maxThingWords {
		return nil
	}
	p := slices.Index(w, w[k+1])
	if p < 1 || p > k-2 || k > p+1+maxThingWords || !asksSomething(clause) && !namesThing(clause) {
		return nil
	}
	return []string{strings.Join(w[:k], " ") + "?", strings.Join(slices.Concat(w[:p], w[k+1:]), " ") + "?"}
}

// sharedVerb divides "what do socks and the gas stove cost": the second thing has its article.
func sharedVerb(clause string) []string {
	m := subjectAndVerb.FindStringSubmatch(trimQuestion(clause))
	if m == nil {
		return nil
	}
	one, other, ok := strings.Cut(m[2], " and ")
	if !ok || !areTwoThings(one, other) {
		return nil
	}
	return []string{m[1] + " " + one + " " + m[3] + "?", m[1] + " " + other + " " + m[3] + "?"}
}

// areTwoThings reports whether two texts around an "and" are two things and not one thing's name: the second has its article, and
// neither has a capital or a preposition.
func areTwoThings(one, other string) bool {
	return articles[firstWord(other)] && isOneThing(one) && isOneThing(other)
}

// isOneThing reports whether a text is a thing in few words that is no name and has no complement.
func isOneThing(text string) bool {
	w := strings.Fields(text)
	return len(w) > 0 && len(w) <= maxThingWords+1 && !slices.ContainsFunc(w, func(s string) bool {
		return isCapitalized(s) || prepositions[s] || s == "between" || endsName[s] || auxiliaries[s] || strings.ContainsAny(s, ",.?!;:")
	})
}

// sharedName divides "what is Anna's and Ben's phone number".
func sharedName(clause string) []string {
	w := strings.Fields(trimQuestion(clause))
	k := slices.Index(w, "and")
	if k < 1 || k+2 >= len(w) || !isPossessive(w[k-1]) || !isPossessive(w[k+1]) {
		return nil
	}
	from := k - 1
	for from > 0 && articles[bare(w[from-1])] {
		from--
	}
	return []string{strings.Join(slices.Concat(w[:k], w[k+2:]), " ") + "?", strings.Join(slices.Concat(w[:from], w[k+1:]), " ") + "?"}
}

// thingRequested matches what stands before a thing that is asked for by its name: "what is ", "tell me ".
var thingRequested = regexp.MustCompile(`(?i)^(?:(?:what|where|who)(?:'s|’s| is| are| was| were) |(?:please )?(?:tell|give|show) (?:me|us) )?`)

// sharedRequest divides "what is the wifi password and the alarm code" and "wifi password and alarm code": two things
// with an article each, or of two words each.
func sharedRequest(clause string) []string {
	clause = trimQuestion(clause)
	lead := thingRequested.FindString(clause)
	one, other, ok := strings.Cut(clause[len(lead):], " and ")
	if !ok || questionWords[firstWord(one)] || requests[firstWord(one)] {
		return nil
	}
	pairs := isOneThing(one) && isOneThing(other) && wordsOfThing(one) == 2 && wordsOfThing(other) == 2
	if !pairs && !(articles[firstWord(one)] && areTwoThings(one, other)) {
		return nil
	}
	if articles[firstWord(one)] && !articles[firstWord(other)] {
		other = firstWord(one) + " " + other
	}
	return []string{lead + one + "?", lead + other + "?"}
}

// wordsOfThing returns the number of words of a thing without its article.
func wordsOfThing(text string) int {
	w := strings.Fields(text)
	if len(w) > 0 && articles[strings.ToLower(w[0])] {
		return len(w) - 1
	}
	return len(w)
}

// Undivided reports whether a request's question may ask for two things that Clauses takes for one, because an article, a
// preposition or someone's name after an "and" begins another thing. "At Anna and Tom's" is one.
func (a Asked) Undivided() bool {
	return slices.ContainsFunc(a.Clauses(), func(clause string) bool {
		w := strings.Fields(clause)
		for k := 2; k+1 < len(w); k++ {
			if w[k] != "and" || slices.Contains(w[:k], "between") || !asksSomething(clause) {
				continue
			}
			next, owners := strings.ToLower(w[k+1]), k+2 == len(w) && isCapitalized(w[k-1])
			if articles[next] || prepositions[next] || isPossessive(trimQuestion(w[k+1])) && !owners {
				return true
			}
		}
		return false
	})
}
