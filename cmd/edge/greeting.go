package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tandem/cmd/internal/cli"
	"tandem/node"
	"tandem/pair"
)

// welcome replies to a greeting, or to an order that no document can answer.
func (s *session) welcome(question string) error {
	if s.app.Globals.JSON {
		return s.app.JSON(s.greeted(question))
	}
	_, err := fmt.Fprintln(s.app.Out, s.replyTo(question))
	return err
}

// greets reports whether a reply is all that answers a text. It would not be in the form that answers are to have.
func (s *session) greets(text string) bool { return s.settings.Form == "" && greets(text) }

// greeted is the reply as ask --json prints it.
func (s *session) greeted(question string) askJSON {
	r := askJSON{Answer: s.replyTo(question), Tokens: []tokenJSON{}, Parts: []partJSON{}, Finish: pair.ReasonStop.String()}
	r.Documents.Device, r.Documents.Cloud = []node.Source{}, []node.Source{}
	return r
}

// replyTo returns the reply to a text that greets.
func (s *session) replyTo(text string) string {
	switch text = plainWords(text); {
	case thanks.MatchString(text):
		return "You are welcome."
	case listing.MatchString(text):
		return "edge index list shows what is indexed. " + s.whatToAsk()
	}
	return s.whatToAsk()
}

// whatToAsk says in one line what can be asked. It names a question that the sample documents answer, or documents of the
// user's own.
func (s *session) whatToAsk() string {
	if s.own.sample && (s.cloud.invented || s.own.index == nil) {
		return "Ask about the sample documents, as in: When does the harbour museum open?"
	}
	const ask = "Ask a question that your documents answer"
	if s.own.index == nil {
		return ask + "."
	}
	list, err := s.own.index.List()
	if err != nil || len(list) == 0 {
		return ask + "."
	}
	const most = 3
	var titles, words []string // a single word, such as a name, seldom says what can be asked
	for _, d := range list {
		title := "“" + cli.Shorten(strings.TrimSpace(cli.Escape(d.Title)), 40) + "”"
		to := &titles
		if !strings.Contains(title, " ") {
			to = &words
		}
		if len(*to) < most && !slices.Contains(*to, title) { // files of one name in several folders share a title
			*to = append(*to, title)
		}
	}
	titles = append(titles, words...)
	titles = titles[:min(len(titles), most)]
	if last := len(titles) - 1; last > 0 {
		titles = append(titles[:last-1], titles[last-1]+" or "+titles[last])
	}
	return ask + ", such as one about " + strings.Join(titles, ", ") + "."
}

// greets reports whether a text only greets, thanks, tries out the program or orders what it cannot do, so that no document
// can answer it.
func greets(text string) bool {
	return greeting.MatchString(plainWords(text))
}

// plainWords returns a text in lower case and without marks.
func plainWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return strings.Join(words, " ")
}

// thanks matches a greeting that begins or ends with thanks, listing one that asks for the documents.
var (
	thanks  = regexp.MustCompile(`^(?:thanks|thank you|thx|danke|merci|gracias)\b|\b(?:thanks|thank you|danke|merci|gracias)(?: (?:so|very) much| a lot)?$`)
	listing = regexp.MustCompile(`\b(?:what|which) (?:documents|files|notes) (?:do you (?:have|know|read)|are there)\b`)
)

// greeting matches a text that consists of greetings and the like, in lower case and without marks.
var greeting = regexp.MustCompile(`^(?:(?:` + strings.Join([]string{
	`hello|hi|hey|hallo|bye|goodbye|good (?:day|morning|afternoon|evening|night)|guten (?:tag|morgen|abend)|gute nacht|bonjour|hola|ciao|there`,
	`thanks|thank you|thx|danke|merci|gracias|(?:so|very) much|a lot|please|no|yes|ok|okay|nice|great|cool|perfect|well done`,
	`(?:that|this|it) (?:was|is|s) (?:very |really |so )?(?:helpful|useful|great|good|nice|cool|perfect)`,
	`how are (?:you|u)|who are you|what are you|what (?:can|do) you do|help(?: me)?|test(?:ing)?|start|stop|exit|quit`,
	`(?:what|which) (?:documents|files|notes) (?:do you (?:have|know|read)|are there)`,
	`(?:tell|sing|write)(?: me| us)? (?:a|another) (?:joke|story|poem|song)`,
	`(?:delete|erase|remove) (?:all )?(?:my|your|the) (?:files|documents|notes|data)`,
}, `|`) + `)(?: |$))*$`)
