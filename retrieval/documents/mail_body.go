package documents

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/internal/lazyregexp"
	"tandem/internal/words"
	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// mailLine is a line of a mail's text. Of a mail in HTML it is a block.
type mailLine struct {
	depth int // of quotation
	text  string
	block *Block
}

// plainLines returns the lines of a mail in plain text.
func plainLines(lines []string) []mailLine {
	out := make([]mailLine, len(lines))
	for i, line := range lines {
		out[i].depth, out[i].text = unquote(line)
	}
	return out
}

// mailPart is a run of lines of a mail's text.
type mailPart struct {
	depth     int // of quotation
	signature bool
	heading   string // the line that says who wrote the part
	whole     bool   // it begins with the lines above a mail: all of that mail follows
	lead      string // such a line before what the mail answers piece by piece
	lines     []mailLine
}

// mailBody divides the text of a mail: what its sender wrote, what is quoted, the signature. If nothing but quotation
// follows, the line that introduces it becomes its heading. level is the level of the mail's own heading.
func mailBody(ctx context.Context, lines []mailLine, level int) Document {
	parts := divideMail(lines)
	own := introduceParts(parts)
	var doc Document
	headed := -1 // how deep the quotation is whose words a heading says; -1 if none does
	headings := map[int]string{}
	for i, p := range parts {
		if len(doc.Blocks) >= blocks.MaxBlocks || ctx.Err() != nil {
			break // Parse refuses the file
		}
		if p.heading == "" && p.depth < headed && i >= own && p.hasText() {
			p.heading = headings[p.depth] // who quoted goes on
		}
		if p.heading != "" {
			maps.DeleteFunc(headings, func(depth int, _ string) bool { return depth > p.depth })
			headings[p.depth], headed = p.heading, p.depth
		} else if i < own {
			headed = -1
		}
		first := len(doc.Blocks)
		above := level
		if p.depth > 0 || headed >= 0 {
			above += max(1, p.depth)
		}
		doc.AddHeading(above, p.heading)
		doc.Add(Paragraph, p.lead)
		p.addTo(ctx, &doc, above, p.depth > 0 && p.depth != headed)
		for j := range doc.Blocks[first:] {
			quoted := p.depth
			if headed >= 0 && !p.signature {
				quoted = max(1, quoted)
			}
			doc.Blocks[first+j].Quoted = quotedAs(quoted)
		}
	}
	return doc
}

// introduceParts gives the parts of a mail the lines that introduce them. It returns the index from which on nothing but
// quotation follows.
func introduceParts(parts []mailPart) (own int) {
	own = len(parts)
	for own > 0 && (parts[own-1].depth > 0 || parts[own-1].signature || parts[own-1].heading != "" || !parts[own-1].hasText()) {
		own--
	}
	if first := slices.IndexFunc(parts, func(p mailPart) bool { return p.whole && p.depth == 0 }); first >= 0 {
		own = min(own, first)
	}
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
	return raiseSignature(parts, own)
}

// raiseSignature moves the sender's signature from below the quotations to above the first, which is the part own, and returns
// the index of the part that follows. What stands below a whole mail is its writer's.
func raiseSignature(parts []mailPart, own int) int {
	end := own
	for end < len(parts) && (parts[end].depth > 0 || parts[end].heading == "") {
		end++
	}
	var signatures, others []mailPart
	for _, p := range parts[own:end] {
		if p.signature && p.depth == 0 {
			signatures = append(signatures, p)
		} else {
			others = append(others, p)
		}
	}
	copy(parts[own:], append(signatures, others...))
	return own + len(signatures)
}

// hasText reports whether a part has more than blank lines.
func (p mailPart) hasText() bool {
	return slices.ContainsFunc(p.lines, func(l mailLine) bool { return strings.TrimSpace(l.text) != "" })
}

// addTo adds the text of a part to a document, below a heading of the level above. The text is marked if no heading says
// whose it is: it is not what the sender of the mail says.
func (p mailPart) addTo(ctx context.Context, doc *Document, above int, marked bool) {
	first := len(doc.Blocks)
	plain := make([]string, 0, len(p.lines))
	for _, l := range p.lines {
		switch {
		case l.block != nil:
			doc.Blocks = append(doc.Blocks, *l.block)
		case p.signature:
			doc.Add(Line, l.text)
		default:
			plain = append(plain, l.text)
		}
	}
	doc.Blocks = append(doc.Blocks, textDocument(ctx, plain, false).Blocks...)
	if i := first; i < len(doc.Blocks) && doc.Blocks[i].Kind == Heading && greets.MatchString(doc.Blocks[i].Text) {
		doc.Blocks[i].Kind, doc.Blocks[i].Level = Paragraph, 0
	}
	for i := range doc.Blocks[first:] {
		switch b := &doc.Blocks[first+i]; {
		case b.Kind == Heading:
			b.Level = uint8(min(above+int(b.Level), LowestLevel))
		case marked:
			b.Text = quoteMark + b.Text
		}
	}
}

// greets matches a line that greets and looks like a heading, since it ends in no comma: "Morning Aroha". Without a name,
// "Morning" may head what happens then, as "Evening programme" does.
var greets = lazyregexp.New(`^(?i:dear|hi|hello|hey|hallo|moin|liebe[rs]?|bonjour|bonsoir|salut|hola|(?:good|guten?|buen[oa]s) (?:morning|afternoon|evening|morgen|tag|abend|días|tardes|noches))(?:[ ,][^.!?:\d]{0,40})?$|` +
	`^(?i:morning|afternoon|evening|morgen|tag|abend)(?:,? (?:\p{Lu}[\pL'’-]*|all|everyone|everybody|both|folks|team|there|and|zusammen|und))+$`)

// dashed matches a line such as "-----Original Message-----".
var dashed = lazyregexp.New(`^-{3,}\s*([^-\s].*?[^-\s])\s*-{3,}$`)

// divideMail divides the lines of a mail at changes of quotation, before the signature and before the lines that a mail
// program puts above a mail that is answered or forwarded. It drops cryptographic signatures, and uses the space of lines.
func divideMail(lines []mailLine) []mailPart {
	parts := []mailPart{{}}
	dropped := false
	headEnd := 0 // of the lines above a quoted mail
	for i, line := range lines {
		depth, text := line.depth, line.text
		if i >= headEnd && !dropped && isHeadLine(text) {
			if n, heading := quotedHead(withDepth(lines[i:], depth)); n > 0 {
				if last := parts[len(parts)-1]; last.heading != "" && last.depth == depth && !last.hasText() {
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
		if last.lines == nil {
			last.lines = lines[i:i] // in place: those before have been read
		}
		last.lines = append(last.lines, line)
	}
	return parts
}

// withDepth yields the text of the lines up to the first that is not quoted as often as depth says.
func withDepth(lines []mailLine, depth int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			if line.depth != depth || !yield(line.text) {
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
func introduced(lines []mailLine) (heading string, rest []mailLine) {
	end := len(lines)
	for end > 0 && strings.TrimSpace(lines[end-1].text) == "" {
		end--
	}
	for n := 1; n <= min(introductionLines, end); n++ {
		if text := joined(lines[end-n : end]); isIntroduction(text) {
			return strings.TrimSuffix(text, ":"), lines[:end-n]
		}
	}
	return "", lines
}

// introduces takes the introduction from the start of a quotation.
func introduces(lines []mailLine) (heading string, rest []mailLine) {
	for n := 1; n <= min(introductionLines, len(lines)); n++ {
		if text := joined(lines[:n]); isIntroduction(text) {
			return strings.TrimSuffix(text, ":"), lines[n:]
		}
	}
	return "", lines
}

// joined returns some lines as one. A block is one already, and "" with another.
func joined(lines []mailLine) string {
	var b strings.Builder
	for _, l := range lines {
		if l.block != nil && len(lines) > 1 {
			return ""
		}
		b.WriteString(l.text + " ")
	}
	return english.Collapse(b.String())
}

// isIntroduction reports whether a text reads like "On 1 May 2024 Anna wrote:": it begins as a sentence does, ends with a
// colon, and has a figure or an address.
func isIntroduction(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return !unicode.IsLower(first) && first != '<' && strings.HasSuffix(text, ":") && strings.ContainsAny(text, "0123456789@") && english.CountWords(text) <= MaxHeading
}

// wrote is what a mail program says of the writer of a mail that it quotes.
var wrote = lazyregexp.New(`(?i)(^|\PL)(` + words.Wrote + `)(\PL|$)`)

// htmlLines returns the blocks of a mail in HTML as lines.
func htmlLines(all []Block) []mailLine {
	out := make([]mailLine, 0, len(all))
	add := func(b Block, text string) {
		if b.Text = text; text != "" {
			out = append(out, mailLine{int(b.Quoted), text, &b})
		}
	}
	for _, b := range all {
		switch m := begins.FindStringSubmatch(b.Text); {
		case m == nil || b.Kind != Paragraph && b.Kind != Line || english.CountWords(m[1]) > MaxHeading:
			add(b, b.Text)
		default:
			add(b, m[1])
			add(b, m[2])
		}
	}
	return out
}

// begins matches a block with what stands on a line of its own in plain text: "---------- Forwarded message --------- From:
// Bo", or "-- Ada", a signature.
var begins = lazyregexp.New(`^(-{5,}\s*[^-\s][^-]*[^-\s]\s*-{5,}|--)(?:\s+(.*))?$`)

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
