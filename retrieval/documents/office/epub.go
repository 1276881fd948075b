package office

import (
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"

	"tandem/retrieval/internal/blocks"
	"tandem/retrieval/internal/english"
)

// EPUB reads the chapters of a book in their order, each as an HTML page.
func (r Reader) EPUB(ctx context.Context, data []byte) (blocks.Document, error) {
	a, err := openArchive(ctx, data, "an EPUB book")
	if err != nil {
		return blocks.Document{}, err
	}
	container := &bookFile{}
	if !a.has("META-INF/container.xml") {
		return blocks.Document{}, errors.New("not an EPUB book, despite its name (it has no META-INF/container.xml)")
	}
	if err := a.scan("META-INF/container.xml", container); err != nil {
		return blocks.Document{}, err
	}
	b := &book{dir: path.Dir(container.path), items: map[string]string{}}
	if err := a.scan(path.Clean(container.path), b); err != nil {
		return blocks.Document{}, err
	}
	doc := blocks.Document{Title: english.Collapse(b.title.String())}
	for _, author := range b.authors {
		doc.Add(blocks.Line, "Author: "+author.String())
	}
	if a.isLocked(b.chapters) {
		return blocks.Document{}, errors.New("EPUB book with copy protection (DRM), which cannot be read")
	}
	lines := len(doc.Blocks)
	if err := r.chapters(a, b.chapters, &doc); err != nil {
		return blocks.Document{}, err
	}
	if len(doc.Blocks) == lines {
		return blocks.Document{}, errors.New("no text in it (only pictures?)")
	}
	return doc, nil
}

// chapters appends the chapters of a book, each once.
func (r Reader) chapters(a *archive, names []string, doc *blocks.Document) error {
	size := 0
	done := map[string]bool{}
	for _, name := range names {
		if done[name] || !a.has(name) { // a book may name chapters of a larger edition
			continue
		}
		done[name] = true
		page, err := a.read(name)
		if err != nil {
			return err
		}
		if len(page) > maxPage {
			return blocks.ErrMuchText
		}
		chapter, err := r.Page(a.ctx, page)
		if err != nil {
			return err
		}
		if len(chapter.Blocks) > 0 && chapter.Blocks[0].Kind != blocks.Heading && !strings.EqualFold(chapter.Title, doc.Title) && !hasHeading(chapter) {
			doc.AddHeading(1, chapter.Title)
		}
		for _, block := range chapter.Blocks {
			size += len(block.Text)
			doc.Blocks = append(doc.Blocks, block)
		}
		if size > blocks.MaxText {
			return blocks.ErrMuchText
		}
	}
	return nil
}

func hasHeading(doc blocks.Document) bool {
	return slices.ContainsFunc(doc.Blocks, func(b blocks.Block) bool { return b.Kind == blocks.Heading })
}

// isLocked reports whether a chapter is encrypted, or whether that is not known. Fonts often are encrypted, in books without
// copy protection.
func (a *archive) isLocked(chapters []string) bool {
	const list = "META-INF/encryption.xml"
	if !a.has(list) {
		return false
	}
	locked := lockedFiles{names: map[string]bool{}}
	if err := a.scan(list, locked); err != nil {
		return true
	}
	return slices.ContainsFunc(chapters, func(name string) bool { return locked.names[name] })
}

// lockedFiles are the files that encryption.xml says to be encrypted.
type lockedFiles struct {
	unhandled
	names map[string]bool
}

func (l lockedFiles) start(name string, attrs attributes) {
	if name == "CipherReference" {
		l.names[path.Clean(unescaped(attrs.get("URI")))] = true
	}
}

// unescaped returns the name of a file that an address names within the book.
func unescaped(address string) string {
	if name, err := url.PathUnescape(address); err == nil {
		return name
	}
	return address
}

// bookFile finds the book's list of contents in container.xml.
type bookFile struct {
	unhandled
	path string
}

func (b *bookFile) start(name string, attrs attributes) {
	if name == "rootfile" && b.path == "" {
		b.path = attrs.get("full-path")
	}
}

// book is a book's list of contents.
type book struct {
	dir      string
	title    excerpt
	authors  []*excerpt
	items    map[string]string // the files, by id
	chapters []string          // the files in the order of reading
	inside   string            // the element being read
}

func (b *book) start(name string, attrs attributes) {
	b.inside = name
	switch name {
	case "title":
		if b.title.Len() > 0 {
			b.inside = "" // the main title comes first
		}
	case "creator":
		b.authors = append(b.authors, &excerpt{})
	case "item":
		b.items[attrs.get("id")] = path.Join(b.dir, unescaped(attrs.get("href")))
	case "itemref":
		if file := b.items[attrs.get("idref")]; file != "" {
			b.chapters = append(b.chapters, file)
		}
	}
}

func (b *book) text(s string) {
	switch b.inside {
	case "title":
		b.title.add(s)
	case "creator":
		b.authors[len(b.authors)-1].add(s)
	}
}

func (b *book) end(string) { b.inside = "" }
