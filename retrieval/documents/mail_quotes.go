package documents

import (
	"iter"
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
		if block.Quoted == 0 {
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
		case b.Quoted > 0 && introducesQuotation(b):
			if dropped {
				lead = nil
			}
			lead, dropped = append(lead, b), false
		case b.Quoted > 0 && t.says(b.Text, n, keys):
			dropped = true
		default:
			if !dropped || b.Quoted > 0 {
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

// mailFields are the names of the lines that mail programs put above a mail that is quoted, as patterns: the sender, the
// subject and others.
type mailFields struct {
	names []string
	wrote string // says whose words follow a name
	line  *lazyregexp.Regexp
}

// quotedFields has them in the languages of mail programs.
var quotedFields = []mailFields{
	newMailFields("wrote", "From", "Subject", "Sent|Date", "To", "C[Cc]"),
	newMailFields("schrieb", "Von", "Betreff", "Gesendet|Datum", "An", "C[Cc]"),
	newMailFields("a écrit", "De", "Objet", "Envoyé|Date", "À", "C[Cc]"),
	newMailFields("escribió", "De", "Asunto", "Enviado(?: el)?|Fecha", "Para", "C[Cc]"),
	newMailFields("escreveu", "De", "Assunto", "Enviad[ao](?: em)?|Data", "Para", "C[Cc]"),
	newMailFields("ha scritto", "Da", "Oggetto", "Inviato|Data", "A", "C[Cc]"),
	newMailFields("schreef", "Van", "Onderwerp", "Verzonden|Datum", "Aan", "C[Cc]"),
	newMailFields("skrev", "Från", "Ämne", "Skickat|Datum", "Till", "Kopia"),
	newMailFields("napisał", "Od", "Temat", "Wysłan[oey]|Data", "Do", "DW"),
}

// The places of fields in the names of mailFields.
const (
	fromField = iota
	subjectField
)

// newMailFields returns the fields with some names. Some programs set them in bold: "*From:* Ada".
func newMailFields(wrote string, names ...string) mailFields {
	return mailFields{names, wrote, lazyregexp.New(`(?:^|\s)\*?(?:(` + strings.Join(names, ")|(") + `)) ?:\*?(?:\s|$)`)}
}

// headLine matches a line of what mail programs put above a mail that is quoted.
var headLine = func() *lazyregexp.Regexp {
	var names []string
	for _, f := range quotedFields {
		names = append(names, f.names...)
	}
	return lazyregexp.New(`^\*?(?:` + strings.Join(names, "|") + `) ?:\*?(?: |$)`)
}()

// Bounds of the lines above a quoted mail.
const (
	longestHead = 16 // lines
	fewestHead  = 3  // fields, with the sender
)

// isHeadLine reports whether a line may be the first of those above a quoted mail.
func isHeadLine(line string) bool {
	return strings.Contains(line, ":") && headLine.MatchString(english.Collapse(line))
}

// quotedHead returns how many lines come first that mail programs put above a quoted mail, and a heading that says who
// wrote it: "Ada Lund wrote". n is 0 if there are none.
func quotedHead(lines iter.Seq[string]) (n int, heading string) {
	for _, f := range quotedFields {
		if n, heading = f.head(lines); n > 0 {
			break
		}
	}
	return n, heading
}

// head is quotedHead in one language. Such lines name the sender and have two more fields. Since a ticket and a transfer
// may have these, one is the subject, or there is an address.
func (f mailFields) head(lines iter.Seq[string]) (n int, heading string) {
	sender, before, addressed := "", "", false
	seen := map[int]bool{}
	for line := range lines {
		text := english.Collapse(line)
		fields := f.fieldsOf(text)
		goesOn := n > 0 && text != "" && (strings.ContainsAny(line[:1], " \t") || strings.HasSuffix(before, ",") || strings.HasSuffix(before, ";"))
		if n == longestHead || len(fields) == 0 && !goesOn || fields[fromField] != "" && sender != "" {
			break
		}
		for i, value := range fields {
			seen[i] = true
			if i == fromField {
				sender = personOf(value)
			}
		}
		n, before, addressed = n+1, text, addressed || strings.Contains(text, "@")
	}
	if sender == "" || len(seen) < fewestHead || !seen[subjectField] && !addressed || english.CountWords(sender) > MaxHeading {
		return 0, ""
	}
	return n, sender + " " + f.wrote
}

// fieldsOf returns the values of the fields in a line that begins with one, by their places in f.names. HTML may have
// several in a line.
func (f mailFields) fieldsOf(text string) map[int]string {
	all := f.line.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 || all[0][0] > 0 {
		return nil
	}
	values := map[int]string{}
	for n, m := range all {
		end := len(text)
		if n+1 < len(all) {
			end = all[n+1][0]
		}
		for i := range f.names {
			if m[2+2*i] >= 0 {
				values[i] = strings.TrimSpace(text[m[1]:max(m[1], end)])
			}
		}
	}
	return values
}

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
