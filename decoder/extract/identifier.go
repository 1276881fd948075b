package extract

import (
	"regexp"
	"slices"
	"strings"
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
var prefixes = set("co re pre non self well half semi anti post mid ex all no two three four five six seven eight nine ten one twenty thirty forty fifty sixty seventy eighty ninety")

// otherIdentifier reports whether a sentence has the first part of a name of the question with other second parts only, "db-old" for
// "db-new", and the heading above it does not have the name.
func (w wants) otherIdentifier(head, said string) bool {
	if len(w.siblings) == 0 {
		return false
	}
	here, above := siblings(said), siblings(head)
	for first, asked := range w.siblings {
		has := func(second string) bool {
			return slices.Contains(here[first], second) || slices.Contains(above[first], second)
		}
		if len(here[first]) > 0 && !slices.ContainsFunc(asked, has) {
			return true
		}
	}
	return false
}

// otherOption reports whether nothing around a sentence has an option, or another name in a program, of the question: neither its paragraph nor
// the headings above it. Such names are spelt in one way only.
func (w wants) otherOption(at pointed) bool {
	begin, end := max(at.body, strings.LastIndex(at.text[:at.begin], "\n\n")), len(at.text)
	if i := strings.Index(at.text[at.end:], "\n\n"); i >= 0 {
		end = at.end + i
	}
	return slices.ContainsFunc(w.identifiers, func(name string) bool {
		exact := len(name) > 2 && (name[0] == '-' || strings.Contains(name, "_"))
		return exact && !containsFold(at.text[:at.body], name) && !containsFold(at.head, name) && !containsFold(at.text[begin:end], name)
	})
}

// containsFold reports whether a text contains another, whatever their capitals.
func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
