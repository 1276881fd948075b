package retrieval

import (
	"maps"
	"strings"
)

// The words of English by which sentences are told apart (lean.go, subject.go).
var (
	leaning = wordSet("it its he she him his her hers they them their theirs this that these those there here we our us such both")
	// articles begin a sentence that may leave out whose thing it speaks of.
	articles  = wordSet("the as")
	relations = wordSet("of for at from to in on between with")
	// kept are the verbs of "You can reach the farm at 4471", named the words that may stand within a name.
	kept     = wordSet("keep find reach store")
	named    = wordSet("of the my old new")
	ages     = wordSet("old new") // stand within a name, too: "the old mill"
	be       = wordSet("is are was were")
	nobody   = wordSet("nothing nobody everything everybody everyone someone somebody something anything anyone anybody")
	personal = wordSet("he she him his her hers")
	remarks  = wordSet("note: remember: ps: nb: remember note that also, also please")
	// actions and done are the verbs and the participles after "is" of a thing in particular, has those even of one
	// called by a single word; verbs are all that end a sentence's subject.
	large   = wordSet("high long wide deep tall heavy old")
	has     = wordSet("has had charges serves weighs measures covers stands works runs")
	actions = wordSet(`has had leaves opens closes charges serves offers seats covers weighs measures begins starts ends lasts takes runs rests bakes cooks goes
 plays meets works lives eats shows uses needs consists contains won stays belongs holds sits docks departs tells shuts deals got simmers
 practises boards spends elected appeared released`)
	done = wordSet(`founded built designed established invented held run managed closed open located served directed owned hosted sponsored organised conducted
 looked treated fed baked backed translated released enough famous known close parked administered commanded coached watered led taught
 painted made rented employed cleaned guarded written composed published won`)
	verbs = union(actions, wordSet(`is are was were be have can could will would may must costs comes came stands lies amounts hangs wrote founded designed painted built
 invented composed directs directed manages heads guides guards repairs services sponsors organises conducts commands steers drives coaches
 trains treats administers governs chairs translated published ordered cooks pays leads sells made owns wears likes loves enjoys supports
 teaches speaks hosts arrives leaves departs happens finishes dates rises charged grew studies cannot can't does did gets cares empties flows
 follows`))
	// transitive are those before which stands somebody and after which what the text is about.
	transitive = wordSet(`founded designed painted built invented composed directs directed manages heads guides guards repairs services sponsors organises conducts
 leads sells made owns teaches hosts rents runs won wrote commands steers drives coaches trains treats administers governs chairs translated
 published ordered pays cooks`)
	// plainWords are no nouns and say of no noun which one it is.
	plainWords = wordSet(`as the a an this that these those my our your his her its their of for at from to in on between with by into under over and or but not now
 also here there then still very every each all any both is are was were be been has have had can could will would may must costs opens
 closes begins starts ends takes lasts comes holds stands lies serves weighs belongs bakes amounts works stays eats current old new`)
	leaders = wordSet("the a an my our your mr mrs ms dr remember note since in on at for")
)

func union(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func wordSet(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}
