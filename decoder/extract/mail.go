package extract

import (
	"slices"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
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

// mailFields are what the lines above a mail begin with.
const mailFields = `From|To|Cc|Reply-To|Von|An|De|À|Para|Date|Sent|Subject|Datum|Betreff|Objet|Fecha|Asunto`

// ofMail matches what lines above a mail have, and those of a ticket or a transfer do not: "Subject: ", "@".
var ofMail = lazyregexp.New(`(?m)^(?:Subject|Betreff|Objet|Asunto) ?: |@`)

var (
	// fromLine matches the line above a mail that other documents lack: "From: Ada".
	fromLine = lazyregexp.New(`(?m)^(?:From|Von|De): `)
	// mailField matches a line above a mail without a space before its colon: "Date: 3 May".
	mailField = lazyregexp.New(`^(?:` + mailFields + `): `)
)

// isMarked reports whether the line around an offset has the mark of what a mail quotes.
func (p passage) isMarked(at int) bool { return strings.HasPrefix(p.text[p.lineStart(at):], "> ") }

// isQuoted reports whether a mail quotes the line around an offset: it is marked, or below a heading that says who wrote it.
func (p passage) isQuoted(at int) bool {
	if p.isMarked(at) || slices.ContainsFunc(strings.Split(p.title(), ": "), saysWrote) {
		return true
	}
	for begin, end := range p.lines() {
		if end > at {
			break
		}
		if (begin == p.body || strings.HasSuffix(p.text[:begin], "\n\n")) && saysWrote(p.text[begin:end]) {
			return true
		}
	}
	return false
}

// saysWrote reports whether a heading reads like "Ada wrote" or "Am 3. Mai schrieb Ada".
func saysWrote(heading string) bool {
	m := wroteWord.FindStringIndex(heading)
	return m != nil && (m[1] == len(heading) || strings.ContainsAny(heading, "0123456789@")) && !strings.ContainsAny(heading[len(heading)-1:], ".!?;,:")
}

var wroteWord = lazyregexp.New(`(?:^|\PL)(?:` + words.Wrote + `)(?:\PL|$)`)
