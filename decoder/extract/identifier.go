package extract

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// sibling matches a name in two parts: "db-old", "node_2".
var sibling = regexp.MustCompile(`(?:^|[^\pL\pN_-])(\pL[\pL\pN]+)[-_]([\pL\pN]+)(?:$|[^\pL\pN_-])`)

// siblings returns the second parts of the names in two parts in a text by the first ones, in small letters.
func siblings(text string) map[string][]string {
	all := map[string][]string{}
	for at := 0; at < len(text); {
		m := sibling.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		first, second := strings.ToLower(text[at+m[2]:at+m[3]]), strings.ToLower(text[at+m[4]:at+m[5]])
		if !prefixes[first] {
			all[first] = append(all[first], second)
		}
		at += m[5]
	}
	return all
}

// prefixes make a word with what stands behind them, and no name.
var prefixes = set("co re pre non self well half semi anti post mid ex all on off in out up over under by no two three four five six seven eight nine ten one twenty thirty forty fifty sixty seventy eighty ninety")

// particles are second parts of nouns made of verbs: "sign-up", "kick-off". Only "check-in" has a counterpart.
var particles = set("up off on away by through over down back around about along")

// otherIdentifier reports whether a sentence has the first part of a name of the question with other second parts only, "db-old" for
// "db-new", and the heading above it does not have the name.
func (w wants) otherIdentifier(head, said string) bool {
	if len(w.siblings) == 0 {
		return false
	}
	here, above := siblings(said), siblings(head)
	for first, asked := range w.siblings {
		said := slices.Concat(here[first], above[first])
		has := func(second string) bool {
			return particles[second] || slices.ContainsFunc(said, func(s string) bool {
				return particles[s] || strings.HasPrefix(s, second) || strings.HasPrefix(second, s)
			})
		}
		if len(here[first]) > 0 && !slices.ContainsFunc(asked, has) {
			return true
		}
	}
	return false
}

// otherOption reports whether nothing near a sentence has an option, or another name in a program, of the question: neither the passage nor,
// where that tells of several releases, the sentence's one.
func (w wants) otherOption(at pointed) bool {
	begin, end := 0, len(at.text)
	for _, r := range at.releases() {
		if r.version[0] <= at.begin && at.begin < r.to {
			begin, end = at.lineStart(r.version[0]), r.to
		}
	}
	return slices.ContainsFunc(w.identifiers, func(name string) bool {
		exact := len(name) > 2 && (name[0] == '-' || strings.Contains(name, "_"))
		return exact && !spells(at.text[begin:end], name)
	})
}

// spells reports whether a text has a name, perhaps with other marks between its parts: "maxAge" is "max_age".
func spells(text, name string) bool {
	if strings.Contains(strings.ToLower(text), strings.ToLower(name)) {
		return true
	}
	return strings.ContainsAny(strings.Trim(name, "-_"), "-_") && strings.Contains(joined(text), joined(name))
}

// joined returns the letters and digits of a text, in small letters.
func joined(text string) string {
	return strings.Map(func(r rune) rune {
		if isWordRune(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
