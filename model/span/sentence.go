package span

// Sentence returns the bytes of the sentences or lines that a span, from byte begin up to byte end, lies in.
func (p *Passage) Sentence(begin, end int) (from, to int) {
	a, b := p.words(begin, end)
	if a == b {
		return begin, end
	}
	w := p.text.words
	for first := w[a].sentence; a > 0 && w[a-1].sentence == first; a-- {
	}
	for last := w[b-1].sentence; b < len(w) && w[b].sentence == last; b++ {
	}
	return w[a].begin, w[b-1].end
}

// Around returns the bytes of the sentences or lines around a span: all from byte first on, or as many as maxBytes hold,
// those after the span before those in front of it. It returns no less than Sentence does.
func (p *Passage) Around(begin, end, first, maxBytes int) (from, to int) {
	from, to = p.Sentence(begin, end)
	w := p.text.words
	a, b := p.words(from, to)
	for grown := true; grown; {
		grown = false
		if b < len(w) {
			if _, next := p.Sentence(w[b].begin, w[b].end); next-from <= maxBytes {
				_, b = p.words(from, next)
				to, grown = next, true
			}
		}
		if a > 0 {
			if before, _ := p.Sentence(w[a-1].begin, w[a-1].end); before >= first && to-before <= maxBytes {
				a, _ = p.words(before, to)
				from, grown = before, true
			}
		}
	}
	return from, to
}

// Items returns the bytes of the whole list around a span: its items and the line that introduces them. If the span is
// in no list, it returns what Sentence does.
func (p *Passage) Items(begin, end int) (from, to int) {
	a, b := p.words(begin, end)
	w := p.text.words
	if a == b || !w[a].item() || !w[b-1].item() {
		return p.Sentence(begin, end)
	}
	for a > 0 && (w[a-1].item() || w[a-1].line == w[a].line) {
		a--
	}
	for b < len(w) && (w[b].item() || w[b].line == w[b-1].line) {
		b++
	}
	if a > 0 && w[a-1].text == ":" {
		for line := w[a-1].line; a > 0 && w[a-1].line == line; a-- {
		}
	}
	return w[a].begin, w[b-1].end
}

// Heading reports whether a span begins in a line that says what follows it.
func (p *Passage) Heading(begin, end int) bool {
	a, b := p.words(begin, end)
	return a < b && p.text.words[a].base[9] > 0
}

// words returns the range of the words that lie in a span.
func (p *Passage) words(begin, end int) (a, b int) {
	for b = range p.text.words {
		if p.text.words[b].begin >= end {
			return a, b
		}
		if p.text.words[b].end <= begin {
			a = b + 1
		}
	}
	return a, len(p.text.words)
}

// item reports whether the word's line is an item of a list.
func (w *word) item() bool { return w.base[10] > 0 }
