// Package english recognises words and sentences of English text with word lists and simple rules. Packages that parse files
// or cut passages need it. It uses no grammar.
package english

import (
	"maps"
	"strings"
)

// Word lists, in lower case.
var (
	// Anaphors words begin a sentence that refers to an earlier one.
	Anaphors = Set("it its he she him his her hers they them their theirs this that these those there here we our us such both")
	// Articles begin a sentence that may not say whose thing it is about.
	Articles = Set("the as")
	// Be holds forms of "to be".
	Be = Set("is are was were")
	// Remarks only draw attention to what follows.
	Remarks = Set("note: remember: ps: nb: remember note that also, also please")
	// Actions are verbs that follow a particular thing or person.
	Actions = Set(`has had leaves opens closes charges serves offers seats covers weighs measures begins starts ends lasts takes runs rests bakes cooks goes
 plays meets works lives eats shows uses needs consists contains won stays belongs holds sits docks departs tells shuts deals got simmers
 practises boards spends elected appeared released`)
	// Verbs end the subject of a sentence.
	Verbs = union(Actions, Set(`is are was were be have can could will would may must costs comes came stands lies amounts hangs wrote founded designed painted built
 invented composed directs directed manages heads guides guards repairs services sponsors organises conducts commands steers drives coaches
 trains treats administers governs chairs translated published ordered cooks pays leads sells made owns wears likes loves enjoys supports
 teaches speaks hosts arrives leaves departs happens finishes dates rises charged grew studies cannot can't does did gets cares empties flows
 follows`))
)

func union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// Set returns the words of a list, separated by white space.
func Set(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
