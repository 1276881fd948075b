package office

import (
	"bytes"
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

// isLocked reports whether a chapter is encrypted. Fonts often are, in books without copy protection.
func (a *archive) isLocked(chapters []string) bool {
	if !a.has("META-INF/encryption.xml") {
		return false
	}
	list, err := a.read("META-INF/encryption.xml")
	if err != nil {
		return true
	}
	names := map[string]bool{}
	for _, name := range chapters {
		names[name] = true
	}
	for quoted := range bytes.SplitSeq(list, []byte(`"`)) {
		if names[string(quoted)] {
			return true
		}
	}
	return false
}

// bookFile finds the book's list of contents in container.xml.
type bookFile struct{ path string }

func (b *bookFile) start(name string, attrs attributes) {
	if name == "rootfile" && b.path == "" {
		b.path = attrs.get("full-path")
	}
}
func (b *bookFile) text(string) {}
func (b *bookFile) end(string)  {}

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
		href, err := url.PathUnescape(attrs.get("href"))
		if err != nil {
			href = attrs.get("href")
		}
		b.items[attrs.get("id")] = path.Join(b.dir, href)
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
