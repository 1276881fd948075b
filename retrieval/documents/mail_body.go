package documents

import (
	"context"
	"html"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// mailPart is a run of lines of a mail's text.
type mailPart struct {
	depth     int // of quotation
	signature bool
	heading   string // the line that says who wrote the part
	whole     bool   // it begins with the lines above a mail: all of that mail follows
	lead      string // such a line before what the mail answers piece by piece
	lines     []string
}

// mailBody divides the plain text of a mail: what its sender wrote, what is quoted, the signature. If nothing but quotation
// follows, the line that introduces it becomes its heading. level is the level of the mail's own heading.
func mailBody(ctx context.Context, lines []string, level int) Document {
	parts := divideMail(lines)
	own := len(parts) // from here on nothing but quotation follows
	for own > 0 && (parts[own-1].depth > 0 || parts[own-1].signature || parts[own-1].heading != "" || !hasText(parts[own-1].lines)) {
		own--
	}
	if first := slices.IndexFunc(parts, func(p mailPart) bool { return p.whole && p.depth == 0 }); first >= 0 {
		own = min(own, first)
	}
	var doc Document
	before := 0
	for i := range parts {
		p := &parts[i]
		switch {
		case p.heading != "" && p.depth > 0 && i < own: // what follows the quotation is the sender's
			p.lead, p.heading = p.heading+":", ""
		case p.heading != "", p.depth <= before, i == 0 && own > 0:
		case i < own:
			if lead, rest := introduced(parts[i-1].lines); wrote.MatchString(lead) {
				p.lead, parts[i-1].lines = lead+":", rest
			}
		default:
			if i > 0 {
				p.heading, parts[i-1].lines = introduced(parts[i-1].lines)
			}
			if p.heading == "" {
				p.heading, p.lines = introduces(p.lines)
			}
		}
		before = p.depth
	}
	headed := -1 // how deep the quotation is whose words a heading says; -1 if none does
	headings := map[int]string{}
	for i, p := range parts {
		if len(doc.Blocks) >= blocks.MaxBlocks || ctx.Err() != nil {
			break // Parse refuses the file
		}
		if p.heading == "" && p.depth < headed && i >= own && hasText(p.lines) {
			p.heading = headings[p.depth] // who quoted goes on
		}
		if p.heading != "" {
			maps.DeleteFunc(headings, func(depth int, _ string) bool { return depth > p.depth })
			headings[p.depth], headed = p.heading, p.depth
		} else if i < own {
			headed = -1
		}
		first := len(doc.Blocks)
		doc.AddHeading(level+max(1, p.depth), p.heading)
		doc.Add(Paragraph, p.lead)
		p.addTo(ctx, &doc, p.depth > 0 && p.depth != headed)
		for j := range doc.Blocks[first:] {
			doc.Blocks[first+j].Quoted = p.depth > 0 || headed >= 0 && !p.signature
		}
	}
	return doc
}

// addTo adds the text of a part to a document, marked if no heading above it says whose it is: it is not what the sender
// of the mail says.
func (p mailPart) addTo(ctx context.Context, doc *Document, marked bool) {
	first := len(doc.Blocks)
	if p.signature {
		for _, line := range p.lines {
			doc.Add(Line, line)
		}
	} else {
		doc.Blocks = append(doc.Blocks, textDocument(ctx, p.lines, false).Blocks...)
	}
	for i := range doc.Blocks[first:] {
		if b := &doc.Blocks[first+i]; marked && b.Kind != Heading {
			b.Text = quoteMark + b.Text
		}
	}
}

// dashed matches a line such as "-----Original Message-----".
var dashed = lazyregexp.New(`^-{3,}\s*([^-\s].*?[^-\s])\s*-{3,}$`)

// divideMail divides the lines of a mail at changes of quotation, before the signature and before the lines that a mail
// program puts above a mail that is answered or forwarded. It drops cryptographic signatures.
func divideMail(lines []string) []mailPart {
	parts := []mailPart{{}}
	dropped := false
	headEnd := 0 // of the lines above a quoted mail
	for i, line := range lines {
		depth, text := unquote(line)
		if i >= headEnd && !dropped && isHeadLine(text) {
			if n, heading := quotedHead(withDepth(lines[i:], depth)); n > 0 {
				if last := parts[len(parts)-1]; last.heading != "" && last.depth == depth && !hasText(last.lines) {
					parts = parts[:len(parts)-1] // such as "-----Original Message-----"
				}
				parts = append(parts, mailPart{depth: depth, heading: heading, whole: true})
				headEnd = i + n
			}
		}
		last := &parts[len(parts)-1]
		m := dashed.FindStringSubmatch(strings.TrimSpace(text))
		switch {
		case m != nil && strings.HasSuffix(m[1], "PGP SIGNATURE"):
			dropped = strings.HasPrefix(m[1], "BEGIN")
			continue
		case dropped, m != nil && strings.HasSuffix(m[1], "PGP SIGNED MESSAGE"):
			continue
		case m != nil:
			parts = append(parts, mailPart{depth: depth, heading: m[1]})
			continue
		case strings.TrimRight(text, " ") == "--":
			parts = append(parts, mailPart{depth: depth, signature: true})
			continue
		case depth != last.depth:
			parts = append(parts, mailPart{depth: depth})
			last = &parts[len(parts)-1]
		}
		last.lines = append(last.lines, text)
	}
	return parts
}

// withDepth yields the text of the lines up to the first that is not quoted as often as depth says.
func withDepth(lines []string, depth int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			if d, text := unquote(line); d != depth || !yield(text) {
				return
			}
		}
	}
}

// unquote returns how often a line is quoted, and its text.
func unquote(line string) (depth int, text string) {
	text = line
	for {
		rest, ok := strings.CutPrefix(strings.TrimLeft(text, " "), ">")
		if !ok {
			break
		}
		depth, text = depth+1, rest
	}
	if depth > 0 {
		text = strings.TrimPrefix(text, " ")
	}
	return depth, text
}

// introductionLines is the number of lines on which "On … wrote:" may stand.
const introductionLines = 3

// introduced takes the introduction of a quotation from the end of the lines before it.
func introduced(lines []string) (heading string, rest []string) {
	end := len(lines)
	for end > 0 && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	for n := 1; n <= min(introductionLines, end); n++ {
		if text := english.Collapse(strings.Join(lines[end-n:end], " ")); isIntroduction(text) {
			return strings.TrimSuffix(text, ":"), lines[:end-n]
		}
	}
	return "", lines
}

// introduces takes the introduction from the start of a quotation.
func introduces(lines []string) (heading string, rest []string) {
	for n := 1; n <= min(introductionLines, len(lines)); n++ {
		if text := english.Collapse(strings.Join(lines[:n], " ")); isIntroduction(text) {
			return strings.TrimSuffix(text, ":"), lines[n:]
		}
	}
	return "", lines
}

// isIntroduction reports whether a text reads like "On 1 May 2024 Anna wrote:": it begins as a sentence does, ends with a
// colon, and has a figure or an address.
func isIntroduction(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return !unicode.IsLower(first) && first != '<' && strings.HasSuffix(text, ":") && strings.ContainsAny(text, "0123456789@") && english.CountWords(text) <= MaxHeading
}

// wrote is what a mail program says of the writer of a mail that it quotes.
var wrote = lazyregexp.New(`(?i)(^|\PL)(` + wroteWords + `)(\PL|$)`)

var tag = lazyregexp.New(`<[^>]*>`)

// endsQuoted reports whether a mail in HTML ends with a quotation, apart from a signature.
func endsQuoted(text string) bool {
	const end = "</blockquote>"
	at := strings.LastIndex(text, end[:2])
	for at >= 0 && !strings.EqualFold(text[at:min(at+len(end), len(text))], end) {
		at = strings.LastIndex(text[:at], end[:2])
	}
	if at < 0 {
		return false
	}
	rest := strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(text[at:], " ")))
	return rest == "" || strings.HasPrefix(rest, "--")
}

// markQuotations makes headings of the lines that introduce quotations in a mail that is written in HTML. level is the
// level of the mail's own heading.
func markQuotations(doc *Document, level int) {
	depth := level
	for i, b := range doc.Blocks {
		if b.Kind != Heading && i+1 < len(doc.Blocks) && isIntroduction(b.Text) && wrote.MatchString(b.Text) {
			depth = min(depth+1, LowestLevel)
			doc.Blocks[i] = Block{Kind: Heading, Level: uint8(depth), Text: strings.TrimSuffix(b.Text, ":")}
		}
	}
}

// forwarded matches a line such as "---------- Forwarded message --------- From: Bo".
var forwarded = lazyregexp.New(`^-{5,}\s*([^-\s][^-]*[^-\s])\s*-{5,}(?:\s+(.*))?$`)

// markForwarded makes headings of the lines above the mails that a mail in HTML forwards. level is the level of the mail's own heading.
func markForwarded(doc *Document, level int) {
	var out []Block
	for _, b := range doc.Blocks {
		m := forwarded.FindStringSubmatch(b.Text)
		if m == nil || b.Kind != Paragraph && b.Kind != Line || english.CountWords(m[1]) > MaxHeading {
			out = append(out, b)
			continue
		}
		level = min(level+1, LowestLevel)
		out = append(out, Block{Kind: Heading, Level: uint8(level), Apart: b.Apart, Text: m[1], Quoted: true})
		if m[2] != "" {
			out = append(out, Block{Kind: b.Kind, Text: m[2]})
		}
	}
	doc.Blocks = out
}

// markHeads puts headings above the mails that a mail in HTML quotes whole, and marks all below as quoted. level is the
// level of the mail's own heading.
func markHeads(doc *Document, level int) {
	out := make([]Block, 0, len(doc.Blocks))
	quoted, headEnd := false, 0
	for i, b := range doc.Blocks {
		n, heading := 0, ""
		if i >= headEnd && isHeadLine(b.Text) {
			n, heading = quotedHead(textsOf(doc.Blocks[i:]))
		}
		if n > 0 {
			if len(out) == 0 || out[len(out)-1].Kind != Heading || !out[len(out)-1].Quoted { // that of markForwarded
				out = append(out, Block{Kind: Heading, Level: uint8(min(level+1, LowestLevel)), Apart: b.Apart, Quoted: true})
			}
			out[len(out)-1].Text = heading
			quoted, headEnd = true, i+n
		}
		b.Quoted = b.Quoted || quoted
		out = append(out, b)
	}
	doc.Blocks = out
}

// textsOf yields the texts of the paragraphs and lines with which blocks begin.
func textsOf(all []Block) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, b := range all {
			if b.Kind != Paragraph && b.Kind != Line || !yield(b.Text) {
				return
			}
		}
	}
}

// unflow joins the lines of a text in the "flowed" format (RFC 3676): a space at the end says that the line goes on. If
// joined is set, that space is not part of the text.
func unflow(text string, joined bool) string {
	var out strings.Builder
	goesOn, quoted := false, 0
	for i, line := range splitLines(text) {
		depth, rest := unquote(line)
		if depth == 0 {
			rest = strings.TrimPrefix(rest, " ") // protects lines that look quoted
		}
		if !goesOn || depth != quoted || rest == "-- " {
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(strings.Repeat(">", depth) + strings.Repeat(" ", min(depth, 1)))
		}
		goesOn, quoted = strings.HasSuffix(rest, " ") && rest != "-- ", depth
		if goesOn && joined {
			rest = strings.TrimSuffix(rest, " ")
		}
		out.WriteString(rest)
	}
	return out.String()
}
