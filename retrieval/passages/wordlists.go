package passages

import "tandem/retrieval/internal/english"

var (
	relations = english.Set("of for at from to in on between with")
	// kept are the verbs of "You can reach the farm at 4471", named the words that may stand within a name.
	kept     = english.Set("keep find reach store")
	named    = english.Set("of the my old new")
	ages     = english.Set("old new") // stand within a name, too: "the old mill"
	nobody   = english.Set("nothing nobody everything everybody everyone someone somebody something anything anyone anybody")
	personal = english.Set("he she him his her hers")
	// actions and done are the verbs and the participles after "is" of a thing in particular, has those even of one
	// called by a single word; verbs are all that end a sentence's subject.
	large = english.Set("high long wide deep tall heavy old")
	has   = english.Set("has had charges serves weighs measures covers stands works runs")
	done  = english.Set(`founded built designed established invented held run managed closed open located served directed owned hosted sponsored organised conducted
 looked treated fed baked backed translated released enough famous known close parked administered commanded coached watered led taught
 painted made rented employed cleaned guarded written composed published won`)
	// transitive are those before which stands somebody and after which what the text is about.
	transitive = english.Set(`founded designed painted built invented composed directs directed manages heads guides guards repairs services sponsors organises conducts
 leads sells made owns teaches hosts rents runs won wrote commands steers drives coaches trains treats administers governs chairs translated
 published ordered pays cooks`)
	// plainWords are no nouns and say of no noun which one it is.
	plainWords = english.Set(`as the a an this that these those my our your his her its their of for at from to in on between with by into under over and or but not now
 also here there then still very every each all any both is are was were be been has have had can could will would may must costs opens
 closes begins starts ends takes lasts comes holds stands lies serves weighs belongs bakes amounts works stays eats current old new`)
	leaders = english.Set("the a an my our your mr mrs ms dr remember note since in on at for")
)
