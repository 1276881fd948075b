package documents

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// Bounds of reading mail.
const (
	mailLimit    = 32 << 20 // bytes of a message, with its attachments
	mailboxLimit = 64 << 20 // bytes of a file of messages
	mailDepth    = 16       // parts and forwarded messages within each other
	mailParts    = 1000     // of a message
)

// parseMail reads a message: its subject, sender, receivers and date as lines, the names of its attachments, its text, and that
// of the attachments that can be read.
// Of several forms of the text it takes the plain one, unless another says much more. Quoted mail and the signature are
// blocks of their own.
func parseMail(ctx context.Context, data []byte) (Document, error) {
	m := &mailReader{ctx: ctx, level: 1}
	msg, err := m.message(data, 0)
	switch {
	case err != nil:
		return Document{}, err
	case len(msg.lines.Blocks) == 0:
		return Document{}, errors.New("not a mail, despite its name (it has no header such as From: or Subject:)")
	case m.encrypted && len(msg.text.Blocks)+len(msg.files) == 0:
		return Document{}, errors.New("encrypted mail (open it in your mail program and save its text)")
	}
	return Document{Title: msg.title(), Blocks: msg.blocks()}, nil
}

// mailReader reads messages within bounds.
type mailReader struct {
	ctx       context.Context
	level     int // of the headings within a message
	size      int // bytes of the text of all parts
	parts     int
	encrypted bool
	files     map[[sha256.Size]byte]bool // those read: many mails have a file as a part and as an attachment, or send another's again
	attached  struct{ size, blocks int } // bytes and blocks of the text of attachments
}

// mailText is what a message, or a part of one, says.
type mailText struct {
	subject string
	sender  string   // the name
	lines   Document // the header
	text    Document
	rank    int      // how well it serves among alternatives
	words   int      // of the text
	names   []string // of attachments
	files   []Block  // of calendars and attachments
	keys    []string // see threadKeys
}

// The ranks of alternatives.
const (
	rankOther = iota
	rankMixed // several parts
	rankHTML
	rankPlain
)

// title returns the subject and the sender, to whom "I" and "our" in the text refer.
func (m mailText) title() string {
	switch {
	case m.sender == "":
		return m.subject
	case m.subject == "":
		return "Mail from " + m.sender
	}
	return m.subject + ", from " + m.sender
}

// heading returns what stands above the message in a mailbox.
func (m mailText) heading() string {
	if title := m.title(); title != "" || len(m.lines.Blocks) == 0 {
		return title
	}
	return m.lines.Blocks[0].Text
}

// blocks returns the header, the attachments' names, the text and the attachments'.
func (m mailText) blocks() []Block {
	out := m.lines
	for _, name := range m.names {
		out.Add(Line, "Attachment: "+name)
	}
	return slices.Concat(out.Blocks, m.text.Blocks, m.files)
}

// message reads a whole message. If its body cannot be read, the error comes with what its header says.
func (m *mailReader) message(data []byte, depth int) (mailText, error) {
	msg, err := readMessage(data)
	if err != nil {
		return mailText{}, fmt.Errorf("damaged mail (%v)", err)
	}
	out, err := m.part(textproto.MIMEHeader(msg.Header), msg.Body, depth)
	out.subject = headerText(msg.Header, "Subject")
	out.sender = senderOf(msg.Header)
	out.keys = threadKeys(msg.Header)
	for _, name := range []string{"Subject", "From", "To", "Cc", "Date"} {
		if value := headerText(msg.Header, name); value != "" {
			out.lines.Add(Line, name+": "+value)
		}
	}
	return out, err
}

// senderOf returns the name of who wrote a message, or the address.
func senderOf(h mail.Header) string {
	if list, err := h.AddressList("From"); err == nil && len(list) > 0 {
		return nameOrAddress(list[0])
	}
	return personOf(headerText(h, "From"))
}

// nameOrAddress returns the name that an address has, or the address.
func nameOrAddress(a *mail.Address) string {
	return english.Collapse(strings.ToValidUTF8(cmp.Or(a.Name, a.Address), "\ufffd"))
}

// personOf returns the name before an address, or the address if that is all.
func personOf(text string) string {
	if a, err := mail.ParseAddress(text); err == nil {
		return nameOrAddress(a)
	}
	if at := strings.IndexAny(text, "<["); at > 0 { // "Ada Lund [mailto:ada@mill.example]"
		text = text[:at]
	}
	return strings.Trim(text, ` "'`)
}

// readMessage reads the header of a message, also one with lines that belong to no field.
func readMessage(data []byte) (*mail.Message, error) {
	header, body := splitHeader(data)
	return mail.ReadMessage(io.MultiReader(bytes.NewReader(header), strings.NewReader("\r\n"), bytes.NewReader(body)))
}

// splitHeader divides a message at the blank line after its header. It drops lines that belong to no field: some programs
// write them, and they would make the message unreadable.
func splitHeader(data []byte) (header, body []byte) {
	data = bytes.TrimLeft(withoutMark(data), "\r\n")
	var out []byte
	field := false
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		text := bytes.TrimRight(line, "\r")
		name, _, colon := bytes.Cut(text, []byte(":"))
		switch {
		case len(text) == 0:
			return out, rest
		case text[0] == ' ' || text[0] == '\t':
			if len(bytes.TrimSpace(text)) == 0 {
				field = false
			}
		default:
			field = colon && isFieldName(name)
		}
		if field {
			out = append(append(out, text...), "\r\n"...)
		}
		data = rest
	}
	return out, nil
}

// isFieldName reports whether a header field can have that name.
func isFieldName(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c > '~' || bytes.IndexByte([]byte(`()<>@,;\"/[]?={}`), c) >= 0 {
			return false
		}
	}
	return len(name) > 0
}

var headerWords = mime.WordDecoder{CharsetReader: func(name string, r io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(r)
	return strings.NewReader(decodeAs(data, name)), err
}}

// headerText returns a header field as people read it.
func headerText(h mail.Header, name string) string {
	value := decodeAs([]byte(h.Get(name)), "")
	if text, err := headerWords.DecodeHeader(value); err == nil {
		value = text
	}
	return english.Collapse(strings.ToValidUTF8(value, "\ufffd"))
}

// part reads a message's body or one of its parts.
func (m *mailReader) part(h textproto.MIMEHeader, body io.Reader, depth int) (mailText, error) {
	if m.parts++; m.parts > mailParts || depth > mailDepth {
		return mailText{}, fmt.Errorf("damaged mail (more than %d parts, or %d within each other)", mailParts, mailDepth)
	}
	if err := m.ctx.Err(); err != nil {
		return mailText{}, err
	}
	kind, params := contentType(h)
	name := fileName(h, params)
	attached := strings.HasPrefix(strings.ToLower(strings.TrimSpace(h.Get("Content-Disposition"))), "attachment")
	switch {
	case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "":
		return m.multipart(kind, multipart.NewReader(body, params["boundary"]), depth)
	case kind == "message/rfc822":
		return m.forwarded(h, body, depth)
	case kind == "text/calendar", kind == "application/ics":
		return m.calendar(h, kind, name, decodeAs(joinSplit(partBytes(h, body)), params["charset"]))
	case attached, !strings.HasPrefix(kind, "text/"), kind == "text/csv", kind == "text/x-vcard", kind == "text/vcard":
		return m.file(h, kind, name, body)
	}
	return m.body(kind, params, partBytes(h, body))
}

// body reads the text of a part.
func (m *mailReader) body(kind string, params map[string]string, data []byte) (out mailText, err error) {
	text := decodeAs(data, params["charset"])
	if err := countLines(text); err != nil {
		return out, err
	}
	switch {
	case kind == "text/html" && len(text) > 2*textLimit:
		return out, blocks.ErrMuchText
	case kind == "text/html":
		out.rank = rankHTML
		page, err := htmlDocument(m.ctx, []byte(text))
		if err != nil {
			return out, err
		}
		out.text = mailBody(m.ctx, htmlLines(page.Blocks), m.level)
	default:
		if strings.EqualFold(params["format"], "flowed") {
			text = unflow(text, strings.EqualFold(params["delsp"], "yes"))
		}
		if out.text = mailBody(m.ctx, plainLines(splitLines(text)), m.level); kind == "text/plain" {
			out.rank = rankPlain
		}
	}
	for _, b := range out.text.Blocks {
		out.words += english.CountWords(b.Text)
	}
	if m.size += textSize(out.text.Blocks); m.size > blocks.MaxText {
		return out, blocks.ErrMuchText
	}
	return out, nil
}

// textSize returns the bytes of the text of blocks.
func textSize(all []Block) (n int) {
	for _, b := range all {
		n += len(b.Text)
	}
	return n
}

// contentType returns the kind of a part and its parameters. Without one it is plain text.
func contentType(h textproto.MIMEHeader) (string, map[string]string) {
	value := h.Get("Content-Type")
	if value == "" {
		return "text/plain", map[string]string{}
	}
	kind, params, err := mime.ParseMediaType(value)
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(value, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if params == nil {
		params = map[string]string{}
	}
	return kind, params
}

// fileName returns the name of a part's file, "" if it has none.
func fileName(h textproto.MIMEHeader, params map[string]string) string {
	name := params["name"]
	if _, p, err := mime.ParseMediaType(h.Get("Content-Disposition")); err == nil && p["filename"] != "" {
		name = p["filename"]
	}
	if text, err := headerWords.DecodeHeader(name); err == nil {
		name = text
	}
	return english.Collapse(english.FirstBytes(decodeAs([]byte(name), ""), 256))
}

// attachment notes a part's name. Signatures, and pictures within the text, have no name that says anything.
func (m *mailReader) attachment(h textproto.MIMEHeader, kind, name string) mailText {
	switch {
	case kind == "application/pkcs7-mime", kind == "application/x-pkcs7-mime", kind == "application/pgp-encrypted":
		m.encrypted = true
	case name == "", strings.HasSuffix(kind, "signature"), strings.HasPrefix(kind, "image/") && h.Get("Content-Id") != "":
	default:
		return mailText{names: []string{name}}
	}
	return mailText{}
}

// known reports whether a file was read before, and notes it.
func (m *mailReader) known(data []byte) bool {
	sum := sha256.Sum256(data)
	before := m.files[sum]
	if m.files == nil {
		m.files = map[[sha256.Size]byte]bool{}
	}
	m.files[sum] = true
	return before
}

// Bounds of reading attachments, of a message or of a mailbox. What is beyond them is named, and not read.
const (
	maxFiles      = 1000
	maxFileText   = blocks.MaxText / 4
	maxFileBlocks = blocks.MaxBlocks / 4
)

// file reads an attachment as if it were a file by itself: a section below its name. One that cannot be read is only named.
func (m *mailReader) file(h textproto.MIMEHeader, kind, name string, body io.Reader) (mailText, error) {
	out := m.attachment(h, kind, name)
	p := parserFor(fileParsers, name)
	if len(out.names) == 0 || p == nil || extension(name) == "" || len(m.files) >= maxFiles {
		return out, nil
	}
	data := partBytes(h, body)
	if int64(len(data)) > p.limit || mailboxStart.Match(data[:min(len(data), 1024)]) || m.known(data) {
		return out, nil
	}
	doc, err := m.parsed(p, data)
	size := textSize(doc.Blocks)
	if err != nil || m.attached.size+size > maxFileText || m.attached.blocks+len(doc.Blocks) > maxFileBlocks {
		return out, m.ctx.Err()
	}
	m.attached.size += size
	m.attached.blocks += len(doc.Blocks)
	section := Document{}
	section.AddHeading(m.level+1, name)
	section.AddHeading(m.level+2, doc.Title)
	for _, b := range doc.Blocks {
		if b.Kind == Heading {
			b.Level = uint8(min(m.level+2+int(b.Level), LowestLevel))
		}
		section.Blocks = append(section.Blocks, b)
	}
	section.Blocks[0].Apart = true // so that its name stands in the place of all that it says
	out.files = section.Blocks
	return out, nil
}

// parsed parses a file. A panic becomes an error.
func (m *mailReader) parsed(p *parser, data []byte) (doc Document, err error) {
	defer contain(&err)
	return p.parse(m.ctx, data)
}

// calendar reads the events of a calendar in a mail, such as what an invitation is for.
func (m *mailReader) calendar(h textproto.MIMEHeader, kind, name, text string) (mailText, error) {
	out := m.attachment(h, kind, name)
	if m.known([]byte(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))) {
		return out, nil
	}
	c := calendar{zone: time.UTC}
	if err := properties(m.ctx, text, c.property); err != nil {
		return out, err
	}
	for _, b := range c.doc.Blocks {
		if b.Kind == Heading {
			b.Level = uint8(min(m.level+1, LowestLevel))
		}
		out.files = append(out.files, b)
	}
	if m.size += textSize(out.files); m.size > blocks.MaxText {
		return out, blocks.ErrMuchText
	}
	return out, nil
}

// multipart reads the parts of a part. Of alternatives it keeps the one that serves best.
func (m *mailReader) multipart(kind string, r *multipart.Reader, depth int) (mailText, error) {
	out := mailText{rank: rankMixed}
	for {
		p, err := r.NextRawPart()
		if err != nil { // the end, also of a message that was cut off
			return out, m.ctx.Err()
		}
		if kind == "multipart/digest" && p.Header.Get("Content-Type") == "" {
			p.Header.Set("Content-Type", "message/rfc822") // as RFC 2046 has it
		}
		one, err := m.part(p.Header, p, depth+1)
		if err != nil {
			return mailText{}, err
		}
		out.names, out.files = append(out.names, one.names...), append(out.files, one.files...)
		switch {
		case len(one.text.Blocks) == 0:
		case kind != "multipart/alternative":
			out.text.Blocks, out.words = append(out.text.Blocks, one.text.Blocks...), out.words+one.words
		case len(out.text.Blocks) == 0 || one.betterThan(out):
			out.text, out.rank, out.words = one.text, one.rank, one.words
		}
	}
}

// muchMore is how many times as many words an alternative has to have to say more than one of a higher rank, which then only
// points to it: "This message is in HTML."
const muchMore = 2

// betterThan reports whether m serves better than another alternative.
func (m mailText) betterThan(other mailText) bool {
	switch {
	case m.rank == other.rank, m.rank == rankOther:
		return false
	case other.rank == rankOther:
		return true
	case m.rank > other.rank:
		return other.words <= muchMore*m.words
	}
	return m.words > muchMore*other.words
}

// forwarded reads a message within a message. It is a section with its subject as the heading.
func (m *mailReader) forwarded(h textproto.MIMEHeader, body io.Reader, depth int) (mailText, error) {
	m.level++
	msg, err := m.message(partBytes(h, body), depth+1)
	m.level--
	if err != nil {
		return mailText{}, err
	}
	out := mailText{rank: rankMixed, words: msg.words}
	out.text.AddHeading(m.level+1, msg.title())
	out.text.Blocks = append(out.text.Blocks, msg.blocks()...)
	return out, nil
}

// partBytes returns the bytes of a part. Where its encoding is damaged, it returns what stands before that.
func partBytes(h textproto.MIMEHeader, body io.Reader) []byte {
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, onlyBase64{body})
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	data, _ := io.ReadAll(body)
	return data
}

// onlyBase64 drops the bytes that are not base64, as RFC 2045 requires.
type onlyBase64 struct{ r io.Reader }

func (o onlyBase64) Read(p []byte) (int, error) {
	for {
		n, err := o.r.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
				p[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil || len(p) == 0 {
			return kept, err
		}
	}
}
