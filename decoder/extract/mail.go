package extract

import "regexp"

var (
	// fromAddress matches the line of a mail with an address, which lists with a subject and a date do not have.
	fromAddress = regexp.MustCompile(`(?m)^(?:From|To|Cc|Reply-To|Von|An|De|À|Para) ?: .*@`)
	// asksMailHead matches a question for what such a line says.
	asksMailHead = regexp.MustCompile(`(?i)\b(?:wrote|writ(?:es?|ten|ing)|sen[dt]s?|sender|e?-?mail(?:s|ed)?|letters?|messages?|author|recipient|addresse?[ds]?|subject|schr(?:ieb|eib)\pL*|geschrieben|geschickt|gesendet|écrit|envoyé|escri\pL+|envi(?:ó|ad\pL+))`)

	// mailHead matches a line above a mail; asksWriter a question for what such a line says.
	mailHead   = regexp.MustCompile(`^(?:From|To|Cc|Reply-To|Von|An|De|À|Para): `)
	asksWriter = regexp.MustCompile(`(?i)\b(?:wrote|writ(?:es?|ten|ing)|sen[dt]s?|sender|from|to|e?-?mails?(?:ed)?|letters?|message|author|contact|recipient|addressed|gets?|got|receive[ds]?)\b`)
)
