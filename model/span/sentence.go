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
