package documents

import (
	"bytes"
	"context"
	"errors"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/blocks"
)

// maxMailboxBlocks bounds the blocks of a mailbox before what its messages quote of each other is left out.
const maxMailboxBlocks = 2 * blocks.MaxBlocks

// parseMailbox reads a file of messages in the mbox format. Each message is a section with its subject as the heading. If a
// message is damaged but another is not, only the damaged one's header is read.
func parseMailbox(ctx context.Context, data []byte) (Document, error) {
	data = bytes.TrimLeft(withoutMark(data), "\r\n")
	if !bytes.HasPrefix(data, []byte("From ")) {
		return Document{}, errors.New("not a mailbox, despite its name (it does not begin with \"From \")")
	}
	m := &mailReader{ctx: ctx, level: 1}
	var damage error // of the last message that could not be read
	sound, size := 0, 0
	var all []mailText
	for len(data) > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n")) // the line "From …"
		end := endOfMessage(data)
		m.parts = 0
		msg, err := m.message(unescapeFrom(data[:end]), 0)
		switch {
		case ctx.Err() != nil:
			return Document{}, ctx.Err()
		case errors.Is(err, blocks.ErrMuchText):
			return Document{}, err
		case err != nil: // the others may be sound
			damage = err
		default:
			sound++
		}
		data = data[end:]
		if len(msg.lines.Blocks) == 0 && len(msg.text.Blocks) == 0 {
			continue
		}
		if size += len(msg.lines.Blocks) + len(msg.text.Blocks) + len(msg.files); size > maxMailboxBlocks {
			return Document{}, errManyBlocks
		}
		all = append(all, msg)
	}
	if sound == 0 && damage != nil {
		return Document{}, damage
	}
	return mailboxDocument(all), nil
}

// mailboxDocument returns the document of a mailbox with some messages.
func mailboxDocument(all []mailText) (doc Document) {
	said := newThread()
	for _, msg := range all {
		said.add(msg)
	}
	for i, msg := range all {
		first := len(doc.Blocks)
		doc.AddHeading(1, msg.heading())
		doc.Blocks = append(doc.Blocks, said.without(msg.blocks(), i, msg.keys)...)
		if first < len(doc.Blocks) {
			doc.Blocks[first].Apart = true
		}
	}
	if len(all) == 1 {
		doc.Title = all[0].title()
	}
	return doc
}

// mailboxStart matches the start of a mailbox: "From ", a sender, a date with the year at its end, and a header.
var mailboxStart = lazyregexp.New(`^From \S+ [^\n]* (19|20)\d\d( [+-]\d{4})?\r?\n>?[!-9;-~]+:? `)

// endOfMessage returns the offset of the next line that begins a message: "From …" after a blank line and before a header.
func endOfMessage(data []byte) int {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("\nFrom "))
		if i < 0 {
			return len(data)
		}
		at += i + 1
		line, rest, _ := bytes.Cut(data[at:], []byte("\n"))
		blank := at == 1 || data[at-2] == '\n' || at > 2 && data[at-2] == '\r' && data[at-3] == '\n'
		next, _, _ := bytes.Cut(rest, []byte("\n"))
		name, _, colon := bytes.Cut(next, []byte(":"))
		if blank && len(line) < 1000 && colon && isFieldName(name) {
			return at
		}
	}
}

// unescapeFrom removes the mark that keeps lines of a text from looking like the start of a message.
func unescapeFrom(data []byte) []byte {
	if !bytes.Contains(data, []byte("\n>")) || !bytes.Contains(data, []byte(">From ")) {
		return data
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte(">")) && bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From ")) {
			lines[i] = line[1:]
		}
	}
	return bytes.Join(lines, nil)
}
