package documents

import (
	"net/mail"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
)

// Bounds of the search for what replies repeat.
const (
	maxThread   = 64      // messages of a thread that are searched, the last ones
	maxSearched = 1 << 30 // bytes that are searched for all quotations of a mailbox
	searchCost  = 1 << 7  // bytes that take as long as the beginning of a search, of a short message too
)

// thread has what the messages of a mailbox say themselves, by what ties them to each other: their subject and their identifiers.
type thread struct {
	said map[string][]int // indices of messages
	own  []string         // of each message
	left int              // bytes that may still be searched
}

func newThread() *thread { return &thread{said: map[string][]int{}, left: maxSearched} }

// add notes the next message.
func (t *thread) add(m mailText) {
	var b strings.Builder
	for _, block := range m.text.Blocks {
		if !block.Quoted {
			b.WriteString(" " + block.Text)
		}
	}
	for _, key := range m.keys {
		t.said[key] = append(t.said[key], len(t.own))
	}
	t.own = append(t.own, b.String()+" ")
}

// without returns the blocks of the nth message without what they quote of others in its thread, and without the lines
// that introduce only that. Those others are indexed themselves: with the quotation, what they said would count once
// more, under a later date.
func (t *thread) without(blocks []Block, n int, keys []string) []Block {
	out := blocks[:0:0]
	var lead []Block // introduces what follows
	dropped := false // something below lead
	for _, b := range blocks {
		switch {
		case b.Quoted && introducesQuotation(b):
			if dropped {
				lead = nil
			}
			lead, dropped = append(lead, b), false
		case b.Quoted && t.says(b.Text, n, keys):
			dropped = true
		default:
			if !dropped || b.Quoted {
				out = append(out, lead...)
			}
			out, lead, dropped = append(out, b), nil, false
		}
	}
	if !dropped {
		out = append(out, lead...)
	}
	return out
}

// says reports whether another message of the nth one's thread says a text.
func (t *thread) says(text string, n int, keys []string) bool {
	text = " " + strings.TrimPrefix(text, quoteMark) + " "
	for _, key := range keys {
		all := t.said[key]
		for _, i := range all[max(0, len(all)-maxThread):] {
			if t.left -= len(t.own[i]) + searchCost; t.left < 0 {
				return false
			}
			if i != n && strings.Contains(t.own[i], text) {
				return true
			}
		}
	}
	return false
}

// quoteMark stands before what a mail quotes where no heading says whose words they are.
const quoteMark = "> "

// headLine matches a line of what mail programs put above a mail that is answered.
var headLine = lazyregexp.New(`^(?:Subject|From|To|Cc|Date|Sent|Betreff|Von|An|Datum|Gesendet|Objet|De|À|Envoyé|Asunto|Para|Fecha|Enviado) ?: `)

// introducesQuotation reports whether a block says whose words follow.
func introducesQuotation(b Block) bool {
	return b.Kind == Heading || headLine.MatchString(b.Text) || isIntroduction(b.Text) && wrote.MatchString(b.Text)
}

// threadKeys returns what ties a message to others.
func threadKeys(h mail.Header) (keys []string) {
	if subject := answered.ReplaceAllString(strings.ToLower(headerText(h, "Subject")), ""); subject != "" {
		keys = append(keys, subject)
	}
	for _, name := range []string{"Message-Id", "In-Reply-To"} {
		if id := english.Collapse(h.Get(name)); strings.HasPrefix(id, "<") {
			keys = append(keys, id)
		}
	}
	return keys
}

// answered is what mail programs put before the subject of an answer.
var answered = lazyregexp.New(`^(?:(?:re|aw|antw|sv|rv|tr|fwd?|wg)(?:\[\d+\])?: *)+`)
