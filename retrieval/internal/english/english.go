package english

import (
	"maps"
	"strings"
)

var (
	Leaning = Set("it its he she him his her hers they them their theirs this that these those there here we our us such both")
	// articles begin a sentence that may leave out whose thing it speaks of.
	Articles = Set("the as")
	Be       = Set("is are was were")
	Remarks  = Set("note: remember: ps: nb: remember note that also, also please")
	Actions  = Set(`has had leaves opens closes charges serves offers seats covers weighs measures begins starts ends lasts takes runs rests bakes cooks goes
 plays meets works lives eats shows uses needs consists contains won stays belongs holds sits docks departs tells shuts deals got simmers
 practises boards spends elected appeared released`)
	Verbs = Union(Actions, Set(`is are was were be have can could will would may must costs comes came stands lies amounts hangs wrote founded designed painted built
 invented composed directs directed manages heads guides guards repairs services sponsors organises conducts commands steers drives coaches
 trains treats administers governs chairs translated published ordered cooks pays leads sells made owns wears likes loves enjoys supports
 teaches speaks hosts arrives leaves departs happens finishes dates rises charged grew studies cannot can't does did gets cares empties flows
 follows`))
)

func Union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func Set(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
