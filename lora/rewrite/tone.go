package rewrite

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Tones are the tones that versionsOf knows, in the order of tones.txt.
var Tones = []string{"neutral", "polite", "formal", "jovial"}

// An act is something that a sentence does, with the ways to say it.
type act struct {
	name     string
	tones    []string // by Tones
	patterns []pattern
}

// A pattern is a way to say something, as a regular expression with slots.
type pattern struct {
	re    *regexp.Regexp
	asks  bool // it is a question
	words int  // outside its slots
}

//go:embed tones.txt
var tonesFile string

// acts holds the list of tones.txt. Its patterns take 20 ms, which commands that rewrite nothing do not spend.
var acts = sync.OnceValue(func() []act { return parseActs(tonesFile) })

var slotPattern = regexp.MustCompile(`\{(\w+)\}`)

func parseActs(file string) (list []act) {
	for block := range strings.SplitSeq(strings.TrimSpace(file), "\n\n") {
		lines := strings.Split(block, "\n")
		if strings.HasPrefix(block, "#") {
			continue
		}
		a := act{name: lines[0], tones: lines[1 : 1+len(Tones)]}
		for _, line := range lines[1:] {
			bare := full(strings.TrimRight(line, ".!?"))
			words := len(strings.Fields(slotPattern.ReplaceAllString(bare, "")))
			expression := regexp.QuoteMeta(bare)
			for _, s := range [][2]string{{"i", "(?P<i>I|we)"}, {"I", "(?P<i>I|we)"}, {"am", "(?:am|are)"}, {"my", "(?:my|our)"}} {
				expression = strings.ReplaceAll(expression, `\{`+s[0]+`\}`, s[1])
			}
			expression = regexp.MustCompile(`\\\{(\w)\\\}`).ReplaceAllStringFunc(expression, func(m string) string { return "(?P<" + strings.ToLower(m[2:3]) + ">.+)" })
			a.patterns = append(a.patterns, pattern{regexp.MustCompile("^(?i:" + expression + ")$"), strings.HasSuffix(line, "?"), words})
		}
		list = append(list, a)
	}
	return list
}

var (
	greetingPattern = regexp.MustCompile(`^((?i:hi there|hi|hey|hello|dear|yo|good morning|good evening)\s+)?(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})([,!])\s+(.+)$`)
	greetingAlone   = regexp.MustCompile(`^(?i:hi there|hi|hey|hello|dear|yo|good morning|good evening)\s+(\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})([,!.]?)$`)
	greetingOfNone  = regexp.MustCompile(`^(?i:hi there|hi|hey|hello|yo)[,!]?\s+(\p{Ll}.+)$`)
	greetings       = map[string]string{"neutral": "Hello", "polite": "Dear", "formal": "Dear", "jovial": "Hey"}
	rude            = regexp.MustCompile(`(?i)\b(?:damn|goddamn|bloody|freaking|fucking|friggin) `)
)

// What stands below a letter: words of farewell, and names.
var (
	farewell  = regexp.MustCompile(`^(?i:(?:with )?(?:(?:my |our )?(?:many|kind|kindest|best|warm|warmest) )?(?:regards|wishes|thanks|greetings)|best|all the best|cheers|love|take care|thank you|yours|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?),?$`)
	signature = regexp.MustCompile(`^\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*){0,2}$`)
)

// signsOff reports whether a line is the end of a letter, and no order without a mark.
func signsOff(line string) bool {
	first, _, _ := strings.Cut(strings.ToLower(line), " ")
	last, _ := utf8.DecodeLastRuneInString(line)
	return farewell.MatchString(line) || signature.MatchString(line) && unicode.IsLetter(last) && formsOf[first] == nil
}

// Words that begin no order, and words that begin a question.
var (
	noOrder = set("i we you he she it they the a an my your our his her their its this that there these those yes no what when where who whom whose why how which if because and but so or is are was were am do does did have has had can could will would may might should shall unfortunately maybe perhaps thanks thank sorry please today tomorrow yesterday everyone everybody nobody someone something nothing everything hello hi dear hey happy merry congratulations good not never")
	asking  = set("what when where who whom whose why how which is are was were am do does did have has had can could will would may might should shall")
)

// versionsOf lists what a sentence may become in a tone: the same for each act that it may be. It lists nothing for a
// sentence that it leaves as it is, and the end of a letter itself.
func versionsOf(sentence, tone string) (list []string) {
	at := slices.Index(Tones, tone)
	if m := greetingAlone.FindStringSubmatch(sentence); m != nil {
		return []string{greetings[tone] + " " + m[1] + m[2]}
	}
	if signsOff(sentence) {
		return []string{sentence}
	}
	if m := greetingOfNone.FindStringSubmatch(sentence); m != nil {
		sentence = m[1]
	}
	greeting := ""
	if m := greetingPattern.FindStringSubmatch(sentence); m != nil && (m[1] != "" || !noOrder[strings.ToLower(m[2])]) {
		greeting, sentence = greetings[tone]+" "+m[2]+m[3]+" ", m[4]
		if m[1] == "" && noOrder[strings.ToLower(m[2])] {
			greeting = ""
		}
	}
	body := strings.TrimRight(sentence, ".!?… ")
	asks := strings.Contains(sentence[len(body):], "?")
	body = rude.ReplaceAllString(full(body), "")
	if !strings.ContainsFunc(body, unicode.IsLetter) {
		return nil
	}
	for _, a := range acts() {
		for _, p := range a.patterns {
			m := p.re.FindStringSubmatch(body)
			if m == nil || p.asks != asks && !(p.asks && p.words > 1) {
				continue
			}
			for _, v := range a.versions(at, p, m) {
				if greeting != "" {
					v = greeting + afterGreeting(v, tone)
				}
				if !slices.Contains(list, v) {
					list = append(list, v)
				}
			}
		}
	}
	return list
}

// WithoutGreeting returns a sentence without the greeting before it.
func WithoutGreeting(sentence string) string {
	if m := greetingPattern.FindStringSubmatch(sentence); m != nil && m[1] != "" {
		return upper(m[4])
	}
	return sentence
}

// versions fills an act's frame in a tone with what a pattern found.
func (a *act) versions(tone int, p pattern, found []string) (list []string) {
	i, key, content := "I", "", ""
	for k, name := range p.re.SubexpNames() {
		switch name {
		case "":
		case "i":
			if strings.EqualFold(found[k], "we") {
				i = "we"
			}
		default:
			key, content = name, strings.TrimSpace(found[k])
		}
	}
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimRight(content, ",")), " ")
	first = strings.TrimRight(first, ",")
	switch {
	case (a.name == "need" || a.name == "offer") && first == "to", a.name == "request" && first == "like",
		(a.name == "request" || a.name == "statement") && strings.HasPrefix(strings.ToLower(content), "see you "):
		return nil
	case key == "x" && noOrder[first] && first != "have" && first != "do" && first != "thank", key == "q" && p.words == 0 && !asking[first] && !p.asks:
		return nil
	}
	contents := lowered(content, first)
	if key == "x" {
		contents = contents[:1] // it begins with a verb
	}
	for _, c := range contents {
		am, my := "am", "my"
		if i == "we" {
			am, my = "are", "our"
		}
		fill := map[string]string{key: c, strings.ToUpper(key): upper(c), "i": i, "I": upper(i), "am": am, "my": my}
		v := slotPattern.ReplaceAllStringFunc(a.tones[tone], func(m string) string { return fill[m[1:len(m)-1]] })
		list = append(list, upper(v))
	}
	return list
}

// lowered returns a content as it stands within a sentence: without a capital if its first word is no name, and both
// ways if that is not clear.
func lowered(content, first string) []string {
	r, n := utf8.DecodeRuneInString(content)
	small := string(unicode.ToLower(r)) + content[n:]
	switch {
	case first == "i" || strings.HasPrefix(first, "i'") || small == content:
		return []string{content}
	case noOrder[first] || asking[first]:
		return []string{small}
	}
	return []string{small, content}
}

// afterGreeting returns a sentence as it stands after a greeting.
func afterGreeting(v, tone string) string {
	if tone == "jovial" {
		v = upper(strings.TrimPrefix(v, "Hey, "))
	}
	first, _, _ := strings.Cut(v, " ")
	if first == "I" || !noOrder[strings.ToLower(strings.TrimRight(first, ","))] && !slices.Contains(openers, strings.TrimRight(first, ",")) {
		return v
	}
	r, n := utf8.DecodeRuneInString(v)
	return string(unicode.ToLower(r)) + v[n:]
}

// openers begin the frames.
var openers = strings.Fields("Please Could Would Excuse Quick Guess Unfortunately Thank Thanks Oops Well Oh Shall Come See It Fingers Hey")

// short forms and what they stand for.
var fullForms = func() [][2]string {
	out := [][2]string{{"can't", "cannot"}, {"won't", "will not"}, {"let's", "let us"}, {"I'm", "I am"}, {"I'll", "I will"}, {"I've", "I have"}, {"I'd", "I would"}, {"you'd better", "you had better"}}
	for _, w := range strings.Fields("do does did is are was were has have had could would should must") {
		out = append(out, [2]string{w + "n't", w + " not"})
	}
	for _, w := range strings.Fields("we you they") {
		out = append(out, [2]string{w + "'re", w + " are"}, [2]string{w + "'ll", w + " will"}, [2]string{w + "'ve", w + " have"})
	}
	for _, w := range strings.Fields("it that he she there what where who") {
		out = append(out, [2]string{w + "'s", w + " is"})
	}
	for _, w := range []string{"gonna going to", "wanna want to", "gotta have to", "gimme give me", "asap as soon as possible", "u you", "ur your", "thx thanks", "pls please", "plz please", "yeah yes", "kinda rather", "coz because", "sry sorry"} {
		a, b, _ := strings.Cut(w, " ")
		out = append(out, [2]string{a, b})
	}
	return out
}()

var fullPatterns = sync.OnceValue(func() (out []*regexp.Regexp) {
	for _, f := range fullForms {
		out = append(out, regexp.MustCompile(`(?i)(^|[^\p{L}'])`+regexp.QuoteMeta(f[0])+`($|[^\p{L}'])`))
	}
	return out
})

// full returns a text with its short forms written out: "Why don't you" becomes "Why do you not".
func full(text string) string {
	text = strings.ReplaceAll(text, "’", "'")
	text = swappedNot.ReplaceAllString(text, "$1 $3 not")
	for i, p := range fullPatterns() {
		text = p.ReplaceAllStringFunc(text, func(m string) string {
			at := strings.Index(strings.ToLower(m), strings.ToLower(fullForms[i][0]))
			return m[:at] + like(m[at:], fullForms[i][1]) + m[at+len(fullForms[i][0]):]
		})
	}
	return text
}

// swappedNot matches "don't you".
var swappedNot = regexp.MustCompile(`\b((?i:do|does|did|is|are|was|were|has|have|could|would|should))(n't) ((?i:I|you|we|they|he|she|it))\b`)
