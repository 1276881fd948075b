package extract

import (
	"strings"

	"tandem/internal/lazyregexp"
)

// inMailHead reports whether an offset is in one of the lines above a mail.
func (p passage) inMailHead(at int) bool {
	from, to := p.lineStart(at), p.lineEnd(at)
	if !mailLine.MatchString(p.text[from:to]) {
		return false
	}
	for from > p.body && mailLine.MatchString(p.text[p.lineStart(from-1):from]) {
		from = p.lineStart(from - 1)
	}
	for to < len(p.text) && mailLine.MatchString(p.text[to+1:]) {
		to = p.lineEnd(to + 1)
	}
	return strings.Contains(p.text[from:to], "\n") && ofMail.MatchString(p.text[from:to])
}

// mailLine matches a line above a mail: "Subject: Keys".
var mailLine = lazyregexp.New(`^(?:` + mailFields + `|Gesendet|Envoyé|Enviado) ?: `)

// What the lines above a mail begin with.
const (
	mailFields = mailPersons + `|Date|Sent|Subject|Datum|Betreff|Objet|Fecha|Asunto`
	// mailPersons are those fields that name somebody.
	mailPersons = `From|To|Cc|Reply-To|Von|An|De|À|Para`
)

// ofMail matches what lines above a mail have, and those of a ticket or a transfer do not: "Subject: ", "@".
var ofMail = lazyregexp.New(`(?m)^(?:Subject|Betreff|Objet|Asunto) ?: |@`)

var (
	// fromLine matches the line above a mail that other documents lack: "From: Ada".
	fromLine = lazyregexp.New(`(?m)^(?:From|Von|De): `)
	// mailField matches a line above a mail without a space before its colon: "Date: 3 May".
	mailField = lazyregexp.New(`^(?:` + mailFields + `): `)
)

// fromAddress matches the line of a mail with an address, "To: ada@mill.example", which lists with a subject and a date
// do not have.
var fromAddress = lazyregexp.New(`(?m)^(?:` + mailPersons + `) ?: .*@`)

// mailHead matches a line above a mail that names somebody: "From: Ada".
var mailHead = lazyregexp.New(`^(?:` + mailPersons + `): `)
