package extract

import (
	"regexp"
	"strings"
)

// inMailHead reports whether an offset stands in one of the lines above a mail.
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

var (
	mailLine = regexp.MustCompile(`^(?:Subject|From|To|Cc|Reply-To|Date|Sent|Betreff|Von|An|Datum|Gesendet|Objet|De|À|Envoyé|Asunto|Para|Fecha|Enviado) ?: `)
	// ofMail matches in lines above a mail, and not in those of a ticket or a transfer.
	ofMail = regexp.MustCompile(`(?m)^(?:Subject|Betreff|Objet|Asunto) ?: |@`)
	// fromAddress matches the line of a mail with an address, which lists with a subject and a date do not have.
	fromAddress = regexp.MustCompile(`(?m)^(?:From|To|Cc|Reply-To|Von|An|De|À|Para) ?: .*@`)
	// asksMailHead matches a question for what such a line says.
	asksMailHead = regexp.MustCompile(`(?i)\b(?:wrote|writ(?:es?|ten|ing)|sen[dt]s?|sender|e?-?mail(?:s|ed)?|letters?|messages?|author|recipient|addresse?[ds]?|subject|schr(?:ieb|eib)\pL*|geschrieben|geschickt|gesendet|écrit|envoyé|escri\pL+|envi(?:ó|ad\pL+))`)

	// mailHead matches a line above a mail; asksWriter a question for what such a line says.
	mailHead   = regexp.MustCompile(`^(?:From|To|Cc|Reply-To|Von|An|De|À|Para): `)
	asksWriter = regexp.MustCompile(`(?i)\b(?:wrote|writ(?:es?|ten|ing)|sen[dt]s?|sender|from|to|e?-?mails?(?:ed)?|letters?|message|author|contact|recipient|addressed|gets?|got|receive[ds]?)\b`)
)
