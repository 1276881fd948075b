package extract

import (
	"regexp"
	"slices"
	"strings"

	"tandem/decoder"
)

// wants is what a question says of its answer.
type wants struct {
	question string
	words    []string // of the question

	identifiers []string // of the question as it was typed: names in a program

	// The form of the answer.
	bare   bool // a value
	steps  bool // how to do something
	reason bool // why

	past   bool // what was before
	former bool // and in the place of what is now
	place  bool // where something is

	// The kind of the value.
	time          bool             // a time
	stretch       bool             // from beginning to end, if it has both
	number        bool             // it has a number
	digits        bool             // a number that somebody or something has
	price         bool             // what something costs
	money         bool             // an amount of money: the sentence has one (price looks at the value)
	cost          bool             // it says so: "cost", "fee"
	per           []string         // of what, each, that is: "per kilometre"; nil if it does not say
	confirms      bool             // yes or no
	noDate        bool             // something else than a date
	code          bool             // a code
	person        bool             // somebody
	shapes        []*regexp.Regexp // what its sentence has
	wrongMeasures []wrongMeasure   // what it is not

	// What the question names.
	about    []string            // the words of the name behind its verb: "when did Emil"
	people   map[string]bool     // names in the passages; nil if it asks about nobody
	numbered map[string][]string // the numbers of things: "year 3"
	codes    map[string][]string // the numbers behind capitals: "E3"
	siblings map[string][]string // the second parts of names in two parts: "db-new"
	days     [7]bool             // of the week, from Monday, on which it opens or closes
	role     []string            // what somebody is: "who is the second treasurer"
	to, from string              // where a journey ends and begins
	choice   bool                // the answers: "tea or coffee"
	compares string              // how several are compared: "heavier", "cheapest"

	opposed [][2]*regexp.Regexp // words of the question, each before its opposite
}

var (
	asksTime    = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:(?:at|on|by|from|until|till|since|in|for) )?(?:when\b|what (?:time|date|day|year|month)\b|which (?:date|day|year|month|weekday)\b|(?:until|since|by) when\b)`)
	asksNumber  = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:(?:at|by|for|to|with|up to|after|in) )?how (?:many|much|long|far|old|tall|high|big|large|deep|wide|heavy|loud|bright|thick|fast)\b`)
	asksPrice   = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*what (?:do|does|did|will|would) .*\bcosts?\b|^\W*(?:and |but |so )*how much (?:is|are|was|were)\b|\bhow expensive\b|\bwhat(?:'s| is| was) the price\b`)
	asksStretch = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:from when (?:to|until|till) when|when(?:'s| is| are| was| were| does | do | did )|what (?:dates|days|time|times|hours)|which (?:dates|days))`)
	asksEnd     = regexp.MustCompile(`(?i)\b(?:begins?|began|starts?|started|opens?|opened|clos(?:es?|ed|ing)|ends?|ended|finish\pL*|until|till|leaves?|left|depart\pL*|arriv\pL*|back|first|last|latest|earliest|deadline|due|expire\pL*|return\pL*|born|die[ds]?|built|founded)\b`)
	asksDigits  = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*what(?:'s| is| are) [^,?]*\b(?:number|num[ée]ro|\pL*nummer)\b`)
	asksPerson  = regexp.MustCompile(`(?i)^\W*(?:and |but |so )*(?:(?:to|by|from|with|for) )?(?:who|whom|whose)\b`)
	goesTo      = regexp.MustCompile(`\bto (\p{Lu}[\pL'’-]+)`)
	comesFrom   = regexp.MustCompile(`\bfrom (\p{Lu}[\pL'’-]+)`)

	// denies matches what says, behind a name, that somebody is not or no longer who was asked for; asksDenied a question for that.
	denies     = regexp.MustCompile(`(?i)^,? (?:(?:did|does|do|has|have|had|is|was|are|were|will|would|could|can) not\b|(?:did|does|do|has|have|had|is|was|are|were|would|could|ca)n['’]t\b|won['’]t\b|no longer\b|never\b|(?:is |has |was )?(?:step(?:s|ped|ping) down|resign(?:s|ed|ing)|retir(?:es|ed|ing)|withdr(?:aws|ew)))`)
	asksDenied = regexp.MustCompile(`(?i)\bnot\b|n['’]t\b|\bno longer\b|\bnever\b|step|resign|retir|withdr`)
)

// wantsOf reads a question in English.
func wantsOf(question string) wants {
	form := formOf(question)
	w := wants{
		question: question,
		words:    decoder.ContentWords(question),

		identifiers: identifiers(question),

		bare:          form == value,
		steps:         form == steps,
		reason:        form == reason,
		time:          asksTime.MatchString(question),
		stretch:       asksStretch.MatchString(question) && !asksEnd.MatchString(question),
		number:        asksNumber.MatchString(question),
		digits:        asksDigits.MatchString(question),
		price:         asksPrice.MatchString(question),
		money:         asksMoney.MatchString(question) && !asksOfMoney.MatchString(question),
		code:          asksCode.MatchString(question),
		person:        asksPerson.MatchString(question),
		past:          asksPast.MatchString(question),
		former:        asksFormer.MatchString(question),
		place:         asksWhere.MatchString(question),
		about:         askedAbout(question),
		choice:        strings.Contains(strings.ToLower(question), " or "),
		cost:          saysCost.MatchString(question),
		per:           perOf(question),
		confirms:      form == sentence,
		noDate:        wantsNoDate(question),
		numbered:      numberedThings(question),
		codes:         codes(question),
		siblings:      siblings(question),
		opposed:       opposed(question),
		shapes:        shapesOf(question),
		wrongMeasures: wrongMeasuresOf(question),
	}
	if w.time && asksHours.MatchString(question) {
		w.days = weekdays(question)
	}
	if m := asksRole.FindStringSubmatch(question); m != nil {
		w.role = besides(decoder.ContentWords(m[1]), ofNow)
	} else if m := asksDeputy.FindStringSubmatch(question); m != nil {
		w.role = decoder.ContentWords(m[1])
	}
	if m := comparing.FindStringSubmatch(question); m != nil && strings.HasPrefix(strings.ToLower(strings.TrimLeft(question, " ")), "wh") {
		w.compares = strings.ToLower(m[1])
	}
	if m := goesTo.FindStringSubmatch(question); m != nil {
		w.to = m[1]
	}
	if m := comesFrom.FindStringSubmatch(question); m != nil {
		w.from = m[1]
	}
	return w
}

// owner matches whose something is: "Rosa's", "Mum's".
var owner = regexp.MustCompile(`(?:^|[^\pL])(\p{Lu}[\pL-]+|mum|mom|dad|mother|father|grandma|grandpa|granny)['’]s\b`)

// owners returns whose things a text speaks of, in small letters.
func owners(text string) (out []string) {
	for _, m := range owner.FindAllStringSubmatch(text, -1) {
		if name := strings.ToLower(m[1]); !short[name] {
			out = append(out, name)
		}
	}
	return out
}

// short has the words that are no owners before "'s".
var short = set("it that this what who where when how there here he she let today tomorrow yesterday")

var (
	// titled matches a name behind a title: "Herr Dorn", "Frau Dr. med. Anna Roth".
	titled = regexp.MustCompile(`(?:^|[^\pL])(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herrn?|Frau|Mme|Monsieur|Madame|Señora?|Sra?)\.? (?:(?:Dr|Prof|med)\.? )*(\p{Lu}[\pL-]+(?: \p{Lu}[\pL-]+)*)`)
	// aPronoun matches what may stand for somebody whom an earlier sentence names.
	aPronoun = regexp.MustCompile(`(?i)` + apart(`he|him|his|she|her|hers|er|ihm|ihn|sein\pL*|sie|ihr\pL*|il|elle|lui|son|sa|él|ella|su`))
)

// titledWords returns the words of the names behind titles in a text.
func titledWords(text string) (out []string) {
	for _, m := range titled.FindAllStringSubmatch(text, -1) {
		out = append(out, decoder.ContentWords(m[1])...)
	}
	return out
}

// ofAnotherOwner reports whether a sentence speaks of somebody's thing where the question asks for another's, of whom neither it nor the heading
// above it says anything, or of somebody with a title where the question names others only.
func (w wants) ofAnotherOwner(above, sentence string) bool {
	of := owners(sentence)
	said := decoder.ContentWords(above + " " + sentence)
	if len(of) > 0 && slices.ContainsFunc(owners(w.question), func(name string) bool {
		return !slices.Contains(of, name) && decoder.SharedWords(decoder.ContentWords(name), said) == 0
	}) {
		return true
	}
	asked := titledWords(w.question)
	return !w.person && len(asked) > 0 && len(titledWords(sentence)) > 0 && decoder.SharedWords(asked, said) == 0 && !aPronoun.MatchString(sentence)
}

// ofNow has the words that say when somebody has a role and not which.
var ofNow = set("new current present next actual acting")

// countable reports whether a word may belong to the name of what is counted.
func countable(word string) bool { return len(decoder.ContentWords(word)) > 0 }

// besides returns the words that are not in a set.
func besides(words []string, in map[string]bool) (out []string) {
	for _, w := range words {
		if !in[w] {
			out = append(out, w)
		}
	}
	return out
}
