package passages

import "tandem/retrieval/internal/english"

// Word lists that classify sentences. More are in package english.
var (
	// prepositions may introduce an owner.
	prepositions = english.Set("of for at from to in on between with")
	// handling are the verbs of "You can reach the farm at 4471".
	handling = english.Set("keep find reach store")
	// insideNames are words that may be part of a name.
	insideNames = english.Set("of the my old new")
	oldNew      = english.Set("old new") // may be part of a name: "the old mill"
	nobody      = english.Set("nothing nobody everything everybody everyone someone somebody something anything anyone anybody")
	personal    = english.Set("he she him his her hers")
	// measures follow "is" only after a particular thing.
	measures = english.Set("high long wide deep tall heavy old")
	// singleWordVerbs make even a subject of one word a particular thing.
	singleWordVerbs = english.Set("has had charges serves weighs measures covers stands works runs")
	// participles follow "is" only after a particular thing.
	participles = english.Set(`founded built designed established invented held run managed closed open located served directed owned hosted sponsored organised conducted
 looked treated fed baked backed translated released enough famous known close parked administered commanded coached watered led taught
 painted made rented employed cleaned guarded written composed published won`)
	// transitive verbs follow a person and precede what the text is about.
	transitive = english.Set(`founded designed painted built invented composed directs directed manages heads guides guards repairs services sponsors organises conducts
 leads sells made owns teaches hosts rents runs won wrote commands steers drives coaches trains treats administers governs chairs translated
 published ordered pays cooks`)
	// plainWords are not nouns, and do not say which one a noun means.
	plainWords = english.Set(`as the a an this that these those my our your his her its their of for at from to in on between with by into under over and or but not now
 also here there then still very every each all any both is are was were be been has have had can could will would may must costs opens
 closes begins starts ends takes lasts comes holds stands lies serves weighs belongs bakes amounts works stays eats current old new`)
	// notFirstNames are capitalised words before a name that are not first names.
	notFirstNames = english.Set("the a an my our your mr mrs ms dr remember note since in on at for")
)
