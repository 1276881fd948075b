package extract

import (
	"strings"
	"unicode"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/model/span"
)

// query is one part of the question as it is read.
type query struct {
	text     string // with misspelt words as the passages spell them
	language span.Language
	slips    int // how many words were misspelt
	wants
}

// query reads a part of the question as these passages spell it, but for what may be a name in a program.
func (c Config) query(clause string, language span.Language, known []passage) query {
	text, slips := c.Reader.Spelled(language, clause, readings(known))
	q := query{text: text, language: language, slips: slips, wants: wantsOf(ownerless(text))}
	q.identifiers, q.sections = identifiers(clause), sectionsNamed(q.words, known)
	if len(q.about) > 0 {
		q.people = peopleIn(known)
	}
	return q
}

// wants is what a question says of its answer.
type wants struct {
	question string   // without what says that a thing is one's own (ownerless)
	words    []string // of the question, without function words
	form     form     // what of a passage answers
	wantedKind
	wantedTime
	namedThings
}

// wantedKind is the kind of value that answers. Several may hold: "how much is it per night?" asks for a number, a price
// and an amount of money.
type wantedKind struct {
	time      bool // a time: "when"
	timeRange bool // a time from beginning to end, if the passage has both: "when is the fair"
	number    bool // something with a number: "how many"
	measure   bool // a value with a unit: "at what pressure"
	digits    bool // a number that somebody or something has: "what is his phone number"
	price     bool // what something costs; the value itself must say so
	money     bool // an amount of money; the sentence must have one
	cost      bool // the question has a word for a cost, such as "fee"
	passcode  bool // a code: "what is the PIN"
	person    bool // somebody: "who"
	place     bool // where something is
	noDate    bool // anything but a date: "which room"
	noMoney   bool // anything but an amount of money: "which bus"
	choice    bool // one of the answers that the question names: "tea or coffee"
	denied    bool // who is not or does not: "who can't come"
	child     bool // whether a child may: "can children take it"

	compares      string               // the word that compares several things: "heavier", "cheapest"
	shapes        []*lazyregexp.Regexp // what the sentence must have
	wrongMeasures []wrongMeasure       // what the value must not be
}

// wantedTime is the time of which the question asks what is so.
type wantedTime struct {
	turn   turn        // of something that comes again: "the next oil change"
	past   bool        // before now, perhaps: "what did it cost"
	former bool        // before something else took its place: "what was it called before May"
	old    bool        // the same, but not before something that the question names: "the old gate", "what was it before"
	dates  []string    // "on 3 May"
	years  []yearAsked // "in 2022"
}

// namedThings are the things that the question names. A sentence about another one of the kind does not answer.
type namedThings struct {
	identifiers []string            // names in a program, as the question was typed: "--all"
	about       []string            // the words of the name after the verb: "when did Emil"
	called      []string            // the words of the name of whom it asks who that is: "who is Ada Lund"
	people      map[string]bool     // names in the passages; nil if the question asks about nobody
	sections    []string            // the headings in the passages of which the question has all words: "Old mill"
	role        []string            // what somebody is: "who is the second treasurer"
	numbered    map[string][]string // the numbers of things: "year 3"
	letterCodes map[string][]string // the numbers after capitals: "E3"
	siblings    map[string][]string // what follows the first parts of names: "db-new", "web02"
	ordinals    map[string][]string // the places of things in their order: "the first mill"
	counted     []string            // what is counted or measured: "eggs" in "how many eggs"
	brought     []string            // what one may bring or use: "can I bring tyres"
	allowedAt   []string            // where or by whom something is allowed: "at the pool", "does the landlord"
	to, from    string              // where a journey ends and begins
	back        bool                // it is the way back from there

	opposed [][2]*lazyregexp.Regexp // words of the question, each before its opposite
}

// wantsOf reads a question in English.
func wantsOf(question string) wants {
	return wants{
		question:    question,
		words:       words.Content(question),
		form:        formOf(question),
		wantedKind:  wantedKindOf(question),
		wantedTime:  wantedTimeOf(question),
		namedThings: namedThingsIn(question),
	}
}

func wantedKindOf(question string) wantedKind {
	k := wantedKind{
		time:          asksTime.MatchString(question),
		timeRange:     asksTimeRange.MatchString(question) && !asksEnd.MatchString(question),
		number:        asksNumber.MatchString(question),
		measure:       asksMeasure.MatchString(question),
		digits:        asksDigits.MatchString(question),
		price:         asksPrice.MatchString(question),
		money:         asksMoney.MatchString(question) && !asksOfMoney.MatchString(question),
		cost:          saysCost.MatchString(question),
		passcode:      asksPasscode.MatchString(question),
		person:        asksPerson.MatchString(question),
		place:         asksWhere.MatchString(question),
		noDate:        wantsNoDate(question),
		noMoney:       wantsNoMoney(question),
		choice:        strings.Contains(strings.ToLower(question), " or "),
		denied:        asksWhoNot.MatchString(question),
		child:         asksYesOrNo.MatchString(question) && aChild.MatchString(question) && !asksKeeping.MatchString(question),
		shapes:        shapesOf(question),
		wrongMeasures: wrongMeasuresOf(question),
	}
	if m := comparing.FindStringSubmatch(question); m != nil && strings.HasPrefix(strings.ToLower(strings.TrimLeft(question, " ")), "wh") {
		k.compares = strings.ToLower(m[1])
	}
	return k
}

func wantedTimeOf(question string) wantedTime {
	return wantedTime{
		turn:   turnOf(question),
		past:   asksPast.MatchString(fromThen.ReplaceAllString(question, "")),
		former: asksFormer.MatchString(question),
		old:    asksOld.MatchString(question),
		dates:  datesAsked(question),
		years:  yearsAsked(question),
	}
}

func namedThingsIn(question string) namedThings {
	n := namedThings{
		identifiers: identifiers(question),
		about:       askedAbout(question),
		called:      calledIn(question),
		numbered:    numberedThings(question),
		letterCodes: letterCodesIn(question),
		siblings:    siblings(question),
		ordinals:    ordinalsIn(question),
		counted:     countedIn(question),
		brought:     groupWords(asksToBring, question),
		allowedAt:   excluding(append(groupWords(asksAllowedAt, question), groupWords(asksWhoAllows, question)...), ofAnyDocument),
		opposed:     opposed(question),
	}
	if m := asksRole.FindStringSubmatch(question); m != nil {
		n.role = excluding(words.Content(m[1]), ofNow)
	} else if m := asksDeputy.FindStringSubmatch(question); m != nil {
		n.role = words.Content(m[1])
	}
	if m := goesTo.FindStringSubmatch(question); m != nil {
		n.to = m[1]
	}
	if m := comesFrom.FindStringSubmatch(question); m != nil {
		n.from, n.back = m[1], asksBack.MatchString(question)
	}
	return n
}

// questionStart matches what may stand before the first word that asks: "and so ".
const questionStart = `^\W*(?:and |but |so )*`

// What a question begins with, mostly.
var (
	// asksTime matches a question for a time: "when", "until what time".
	asksTime = lazyregexp.New(`(?i)` + questionStart + `(?:(?:at|on|by|from|until|till|since|in|for) )?(?:when\b|what (?:time|date|day|year|month)\b|which (?:date|day|year|month|weekday)\b|(?:until|since|by) when\b)`)
	// asksNumber matches a question for a number: "how many".
	asksNumber = lazyregexp.New(`(?i)` + questionStart + `(?:(?:at|by|for|to|with|up to|after|in) )?how (?:many|much|long|far|old|tall|high|big|large|deep|wide|heavy|loud|bright|thick|fast)\b`)
	// asksMeasure matches a question for a value with a unit: "at what pressure".
	asksMeasure = lazyregexp.New(`(?i)` + questionStart + `(?:at|to|from|up to|above|below|under|over|with|until) (?:what|which) (?:(?:water|air|oil|outdoor|indoor|room|minimum|maximum|lowest|highest) )?(?:pressure|temperature|speed|height|depth|width|length|weight|distance|altitude|voltage|frequency|angle|percentage|humidity)\b`)
	// asksPrice matches a question for a price: "what does it cost", "how expensive".
	asksPrice = lazyregexp.New(`(?i)` + questionStart + `what (?:do|does|did|will|would) .*\bcosts?\b|` + questionStart + `how much (?:is|are|was|were)\b|\bhow expensive\b|\bwhat(?:'s| is| was) the price\b`)
	// asksTimeRange matches a question for a time from beginning to end: "when is the fair".
	asksTimeRange = lazyregexp.New(`(?i)` + questionStart + `(?:from when (?:to|until|till) when|when(?:'s| is| are| was| were| does | do | did )|what (?:dates|days|time|times|hours)|which (?:dates|days))`)
	// asksEnd matches a question for one of the two: "when does it begin".
	asksEnd = lazyregexp.New(`(?i)\b(?:begins?|began|starts?|started|opens?|opened|clos(?:es?|ed|ing)|ends?|ended|finish\pL*|until|till|leaves?|left|depart\pL*|arriv\pL*|back|first|last|latest|earliest|deadline|due|expire\pL*|return\pL*|born|die[ds]?|built|founded)\b`)
	// asksDigits matches a question for a number that somebody or something has: "what is his phone number".
	asksDigits = lazyregexp.New(`(?i)` + questionStart + `what(?:'s| is| are) [^,?]*\b(?:number|num[ée]ro|\pL*nummer)\b`)
	// asksPerson matches a question for somebody: "who", "by whom".
	asksPerson = lazyregexp.New(`(?i)` + questionStart + `(?:(?:to|by|from|with|for) )?(?:who|whom|whose)\b`)
	// goesTo matches where a journey ends: "to Lund".
	goesTo = lazyregexp.New(`\bto (\p{Lu}[\pL'’-]+)`)
	// comesFrom matches where a journey begins: "from Kiel".
	comesFrom = lazyregexp.New(`\bfrom (\p{Lu}[\pL'’-]+)`)
)

// ofNow has words that say when somebody has a role, as "new" does, and not which.
var ofNow = words.Set("new current present next actual acting")

// form is what of a passage answers a question.
type form uint8

const (
	formValue    form = iota // the span itself
	formSentence             // the sentence around it
	formRemedy               // that sentence, and what to do by those after it
	formReason               // that sentence, but no heading
	formSteps                // all steps of the numbered list around it, or that sentence
	formList                 // the whole list around it
)

// formOf chooses the form by the question's first words: "why" and questions for yes or no are answered by a sentence, "how
// does" by steps, "what are all" by a list, others by a value. Where there is no list, the sentence stands for it.
func formOf(question string) form {
	w := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return strings.ContainsRune(" \t\n,.?!", r) })
	for len(w) > 1 && beforeQuestion[w[0]] || len(w) > 2 && beforeWhich[w[0]] && (w[1] == "which" || w[1] == "what") {
		w = w[1:]
	}
	if len(w) < 2 {
		return formValue
	}
	switch first, second := w[0], w[1]; {
	case asksWhatToDoIf.MatchString(question):
		return formRemedy
	case first == "why", first == "explain", first == "describe":
		return formReason
	case first == "how" && !measures[second], first == "instructions":
		return formSteps
	case yesNo[first]:
		return formSentence
	case first == "what" && (second == "happens" || second == "happened" || second == "if" || second == "should" || second == "about"):
		return formSentence
	case first == "who" && gathered.MatchString(question):
		return formList
	case len(w) > 2 && (first == "which" || first == "what") && severalThings[second] && plural(w[2]):
		return formList
	case first == "list", (first == "what" || first == "who") && (second == "are" || second == "were"), first == "which" && plural(second), first == "what" && plural(second):
		return formList
	}
	return formValue
}

// asksWhatToDoIf matches a question about what to do in some case: "what should I do if".
var asksWhatToDoIf = lazyregexp.New(`(?i)` + questionStart + `what (?:(?:should|do|must|can|shall|does) (?:I|we|you|one) (?:have to )?|to )do (?:if|when|whenever|once|in case|as soon as)\b`)

// plural reports whether a word looks like several things.
func plural(word string) bool {
	return len(word) > 3 && !verbsInS[word] && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") && !strings.HasSuffix(word, "is")
}

// gathered matches a question for all who were somewhere: "who was present", "who took part".
var gathered = lazyregexp.New(`(?i)\b(?:was|were) (?:there|present|absent)\b|\b(?:attend(?:ed|s)?|took part|participated|apologi[sz]ed|sent (?:their )?apologies)\b`)

var (
	// beforeWhich has prepositions that may stand before "which" and "what".
	beforeWhich = words.Set("on at in for from to by with of until since till after during under through about against")
	// beforeQuestion has words that may stand before a question.
	beforeQuestion = words.Set("and so ok okay please hi hello hey also but then")
	// yesNo has the words that begin a question for yes or no.
	yesNo = words.Set("is are was were do does did can could will would has have had may must should am")
	// severalThings has numbers before things in the plural: "which two boats".
	severalThings = words.Set("two three four five six seven eight nine ten")
	// verbsInS end in "s" like a plural.
	verbsInS = words.Set("does costs means needs takes comes goes makes opens closes belongs")
	// measures follow "how" in a question for a value: "how far".
	measures = words.Set("many much long far old often tall high big large deep wide heavy fast late early soon hot cold warm expensive loud bright thick strong small low short quick quickly slow slowly close near")
)

// ownerless returns a question without what says that a thing is one's own. The person who asks owns the documents,
// which rarely say so: "my patient number" is "the patient number".
func ownerless(question string) string { return possessive.ReplaceAllString(question, "${1}the") }

// possessive matches what says that a thing is one's own: "my".
var possessive = lazyregexp.New(`(?i)(^|[^\pL\pN'’])(?:my|our)\b`)

// asksRole matches a question about who has a role: "who is the second treasurer?" The role is in the sentence that
// answers.
var asksRole = lazyregexp.New(`(?i)` + questionStart + `who(?:'s| is| was) (?:the|our|my|your|its|their) ((?:[\pL-]+ ?){2,3}?)(?: ?\?| of\b| at\b| in\b| for\b| here\b| there\b| now\b|$)`)

// asksDeputy matches a question about who has a role below another's: "who is the deputy manager?".
var asksDeputy = lazyregexp.New(`(?i)` + questionStart + `who(?:'s| is| was) (?:the |our |my |your |its |their )?((?:deputy|vice|assistant|senior|junior|honorary) [\pL-]{3,})`)

// asksPast matches a question for what was before: "what did it cost?"
var asksPast = lazyregexp.New(`(?i)\b(?:was|were|did|had|before|previous(?:ly)?|former(?:ly)?|old|used to|earlier|original(?:ly)?|instead|until|last|from|change[ds]?|move[ds]?|bisher|früher|war|avant|ancien(?:ne)?|antes)\b`)

// fromThen matches the time from which on a question asks what is so: "from September 2026".
var fromThen = lazyregexp.New(`(?i)\b(?:from|since|as of) (?:now|today|then|next|(?:` + aDay + `(?: of)? )?` + aMonth + `|(?:19|20)\d\d)\b(?: on(?:wards?)?)?`)

// comparing matches words by which a question compares things, "cheapest": one passage seldom has them all, and a
// reader that points cannot weigh them.
var comparing = lazyregexp.New(`(?i)\b((?:cheap|heav[iy]|light|long|short|bigg|larg|small|old|young|fast|slow|high|low|tall|deep|wid|quick|loud)(?:i?er|est)|more expensive|most expensive|dearer|dearest)\b`)

// aLimit matches what says that a value is the lowest or highest that is allowed: "at least 28". "90 min" is a time, and Max may be a name.
var aLimit = lazyregexp.New(`(?i)\b(?:at (?:least|most)|minimum|maximum|up to|no (?:more|less|fewer) than|(?:not|never) (?:more|less|fewer|above|below|over|under)|mindestens|höchstens|au (?:moins|plus)|como (?:mínimo|máximo)|(?-i:max))\b|` +
	`\bmax\. ?\d|(?:^|[^\d\s]\s?)\bmin\.? ?\d`)

// asksPasscode matches a question for a code: "what is the code of the safe?".
var asksPasscode = lazyregexp.New(`(?i)` + questionStart + `what(?:'s| is| was) [^,?]*\b(?:code|pin|combination)\b`)

// asksMoney matches a question for an amount of money: "how much is it", "what is the fee".
var asksMoney = lazyregexp.New(`(?i)\bhow much (?:is|are|was|were)\b|\bhow much (?:will|would|do|does|did)\b.*\b(?:costs?|pay|paid|charged?|owed?)\b|` +
	questionStart + `what (?:do|does|did|will|would) .*\bcosts?\b(?:\W*$| (?:to|for|per|an?|in|at|from|now|each|if|when|with)\b)|` +
	questionStart + `what(?:'s| is| are| was| were| will be) (?:the |our |my |your |his |her |their |\pL+['’]s )?(?:\pL+ ){0,2}?(?:price|costs?|fees?|rent|fare)(?:\W*$| (?:of|for|in|per|to|at|on|from|now|next|this|an?|each)\b)|` +
	`^\W*what .*\bin (?:pounds|euros|dollars|francs)\W*$`)

// asksOfMoney matches a question that speaks of money and asks for something else: "what is the fee for?", "how did we
// cut costs?".
var asksOfMoney = lazyregexp.New(`(?i)\b(?:price|costs?|fees?|rent|fare)(?: \pL+)? (?:for|used for|due|dates?|days?|deadline|include[ds]?|covers?|paid|payable)\W*$|` +
	`\b(?:cut|reduce|cover|save|lower|share|split|meet)\b(?: \pL+){0,2} (?:costs?|fees?|rent)\b`)

// saysCost matches a word for a cost: "fee", "pay".
var saysCost = lazyregexp.New(`(?i)\b(?:price|costs?|fees?|rent|fare|pay|paid|charged?|owed?)\b`)

// asksWhere matches a question about where something is: "and where is the key?".
var asksWhere = lazyregexp.New(`(?i)` + questionStart + `where\b`)

// asksSince matches a question for the beginning of a range of times: "since when".
var asksSince = lazyregexp.New(`(?i)` + questionStart + `(?:since when|from when|starting when|seit wann|ab wann|depuis quand)\b`)

// asksUntil matches a question for its end: "until when".
var asksUntil = lazyregexp.New(`(?i)` + questionStart + `(?:until when|till when|up to when|bis wann|jusqu'à quand)\b`)

// asksFormer matches a question for what was so before something else was: "what was it called before?"
var asksFormer = lazyregexp.New(`(?i)\b(?:was|were|did|had)\b.*\b(?:before|at first|originally|initially|previously|formerly|used to|use to)\b|\b(?:what|who|where|which)\b.*\bused to\b|\b(?:was|were) (?:the|our|my|his|her|their) (?:old|former|previous|original)\b`)

// asksOld matches a question for what was so before, but not before something that it names: "the old gate", "what was
// it before?".
var asksOld = lazyregexp.New(`(?i)\b(?:old|former|previous|original) \pL|\bused? to\b|\b(?:before|previously|formerly|originally)\W*$`)

// asksMailHead matches a question for what a line above a mail says: "who wrote", "when was it sent".
var asksMailHead = lazyregexp.New(`(?i)\b(?:wrote|writ(?:es?|ten|ing)|sen[dt]s?|sender|e?-?mail(?:s|ed)?|letters?|messages?|author|recipient|addresse?[ds]?|subject|schr(?:ieb|eib)\pL*|geschrieben|geschickt|gesendet|écrit|envoyé|escri\pL+|envi(?:ó|ad\pL+))`)

// wantsNoDate reports whether a question wants something other than a date.
func wantsNoDate(question string) bool {
	return asksNoDate.MatchString(question) && !mentionsDate.MatchString(question)
}

// asksNoDate matches a question that wants another kind of thing by its first words: "which room".
var asksNoDate = lazyregexp.New(`(?i)` + questionStart + `(?:(?:in|at|on|to|from|with|by) )?(?:where|who|whom|whose|which (?:room|house|flat|unit|floor|place|town|city|country|street|address|firm|company|person|colou?r|number|size|model|brand|platform)|what (?:room|colou?r|size|model|brand|kind|type|sort)|how (?:much|many|tall|high|deep|wide|heavy|big))\b`)

// wantsNoMoney reports whether a question wants a thing that is not a cost: "which bus", but not "which fee".
func wantsNoMoney(question string) bool {
	m := whichThing.FindStringSubmatch(question)
	return m != nil && !amountWord.MatchString(m[1])
}

// amountWord matches a word for an amount of money: "fee".
var amountWord = lazyregexp.New(`(?i)\b(?:amounts?|sums?|rates?|prices?|costs?|fees?|rents?|fares?|salar(?:y|ies)|wages?|bills?|deposits?|budgets?|fines?|bids?|offers?|quotes?|estimates?|charges?|tax(?:es)?)\b`)

// whichThing matches a question for one thing of several: "on which line".
var whichThing = lazyregexp.New(`(?i)` + questionStart + `(?:(?:in|at|on|to|from|with|by|for) )?which ((?:\pL+ ){0,2}\pL+)`)

// mentionsDate matches a question that may want a date all the same: "which room is free until May?".
var mentionsDate = lazyregexp.New(`(?i)\b(?:dates?|days?|when|months?|years?|until|till|since|deadline|due|expir\pL*|valid\pL*|time|birthday|born|notice|ahead|advance|back|up to|stop\pL*|start\pL*|beg[aiu]n\pL*|ends?|ended)\b`)

// identifiers returns the words of a question that name something in a program: "-x", "--dry-run", "max_size",
// "rowHeight", or what is quoted.
func identifiers(question string) (out []string) {
	for _, m := range quotedName.FindAllStringSubmatch(question, -1) {
		out = append(out, m[1])
	}
	for _, m := range calledOption.FindAllStringSubmatch(question, -1) {
		out = append(out, m[1])
	}
	for w := range strings.FieldsSeq(question) {
		w = strings.TrimRight(strings.Trim(w, "\"'`“”"), "?.,!:;\"'`“”")
		inner := strings.IndexFunc(w, unicode.IsLower) >= 0 && strings.IndexFunc(w, unicode.IsLower) < strings.LastIndexFunc(w, unicode.IsUpper)
		if len(w) > 1 && (w[0] == '-' || strings.ContainsAny(w, "_.=[]") || inner) {
			out = append(out, w)
		}
	}
	return out
}

// calledOption matches a name before the word for what it is: "the nofail option".
var calledOption = lazyregexp.New(`\bthe ([\pL\pN._-]+) (?:option|flag|setting|parameter|key|property|field|variable|argument|directive)\b`)

// quotedName matches what stands in quotation marks: "'nofail'".
var quotedName = lazyregexp.New("[\"`“']([^\\s\"`”']{2,40})[\"`”']")
