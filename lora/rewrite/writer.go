package rewrite

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"tandem"
	"tandem/internal/sentences"
	"tandem/lora/streams"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/gguf"
	"tandem/model/span"
	"tandem/model/tokenizer"
	"tandem/models"
)

// A Writer is a model that does something to a text, with an adapter for that.
type Writer struct {
	*model.Model
	BuiltIn bool // model and adapter
	adapter *model.Adapter
}

// NewWriter returns a Writer for m with an adapter, which may be nil. builtIn says that both are part of the program.
func NewWriter(m *model.Model, adapter *model.Adapter, builtIn bool) *Writer {
	return &Writer{Model: m, BuiltIn: builtIn, adapter: adapter}
}

// Seq returns an empty sequence with the adapter.
func (w *Writer) Seq() *model.Seq { return w.NewSeqWith(w.adapter) }

// TaskPrompt returns the prompt for something to do with a text. The built-in decoder's template has a place for the text and
// knows the short request; other models get the long one before the text.
func TaskPrompt(m *model.Model, text, short, long string) ([]tandem.Token, error) {
	tok, template := m.Tokenizer(), m.Template()
	text = template.Escape(tok, text)
	messages := []chat.Message{{Role: "user", Content: template.Escape(tok, long) + "\n\n" + text}}
	if template.Labelled() {
		messages = []chat.Message{{Role: "system", Content: text}, {Role: "user", Content: template.Escape(tok, short)}}
	}
	prompt, err := template.Render(messages)
	if err != nil {
		return nil, err
	}
	return chat.Encode(tok, prompt), nil
}

// vocabulary returns the words that the built-in span reader knows.
var vocabulary = sync.OnceValues(func() (*span.Vocabulary, error) {
	file, err := gguf.Parse("tandem-span", models.Span)
	if err != nil {
		return nil, err
	}
	return span.VocabularyOf(file)
})

// MinFirst is the least share of the likeliest first token's probability that another one may have to begin a stream.
const MinFirst = 0.003

// versions of a sentence are written at once.
const versions = 4

// Correct returns a sentence without its errors in spelling and grammar, or "" if there is no version that keeps its names and
// numbers. The built-in adapter chooses among the ways to write each word; other models write most tokens or fewer.
func (w *Writer) Correct(ctx context.Context, sentence string, most int) (string, error) {
	if !w.BuiltIn {
		sentence = oneLine(sentence)
		prompt, err := TaskPrompt(w.Model, sentence, "Correct the text.", "Correct spelling and grammar of this text. Write only the corrected text.")
		if err != nil {
			return "", err
		}
		return w.version(ctx, prompt, sentence, most)
	}
	if ok, err := w.readable(sentence); !ok || err != nil {
		return "", err
	}
	v, err := vocabulary()
	if err != nil {
		return "", err
	}
	return choose(ctx, w.Seq(), slotsOf(sentence, v))
}

// readable reports whether the built-in adapters can do something with a sentence: it is English, and it fits into the
// model's context together with a way to write it.
func (w *Writer) readable(sentence string) (bool, error) {
	v, err := vocabulary()
	if err != nil {
		return false, err
	}
	return !foreign(sentence, v) && 2*len(w.Tokenizer().Encode(sentence, tokenizer.Options{})) <= w.Config().Context, nil
}

// CountForeign returns how many sentences of a text are not English, as far as the built-in model can tell.
func CountForeign(text string) (n int) {
	v, err := vocabulary()
	if err != nil {
		return 0
	}
	for _, s := range sentences.Split(text) {
		if foreign(s, v) {
			n++
		}
	}
	return n
}

// Tone returns a sentence in a tone, or "" if there is no version that keeps its names and numbers. The built-in
// adapter chooses among what the sentence may become; other models write most tokens or fewer.
func (w *Writer) Tone(ctx context.Context, sentence, tone string, most int) (string, error) {
	if !w.BuiltIn {
		sentence = oneLine(sentence)
		short := "Rewrite the text in a " + tone + " tone."
		prompt, err := TaskPrompt(w.Model, sentence, short, short+" Keep its meaning. Write only the new text.")
		if err != nil {
			return "", err
		}
		return w.version(ctx, prompt, sentence, most)
	}
	if ok, err := w.readable(sentence); !ok || err != nil {
		return "", err
	}
	sentence = oneLine(sentence)
	keeping := slices.DeleteFunc(versionsOf(sentence, tone), func(v string) bool { return !Keeps(sentence, v) })
	return likeliest(ctx, w.Seq(), keeping)
}

// Summarize returns the sentence that says what a message is about. The built-in adapter chooses it; other models write
// one, of most tokens or fewer, and "" stands for none that has no other names and numbers than the message.
func (w *Writer) Summarize(ctx context.Context, text string, most int) (string, error) {
	if !w.BuiltIn {
		prompt, err := TaskPrompt(w.Model, text, "Give a short summary.", "Say in one short sentence what this message is about. Write only that sentence.")
		if err != nil {
			return "", err
		}
		list, err := w.written(ctx, prompt, most)
		for _, s := range list {
			if adds(text, s) {
				continue
			}
			return s, nil
		}
		return "", err
	}
	list := sentencesOf(text)
	if len(list) < 2 {
		return strings.TrimSpace(text), nil
	}
	i, err := mainSentence(ctx, w.Seq, list)
	if err != nil {
		return "", err
	}
	return WithoutGreeting(list[i]), nil
}

// EachSentence returns a text with what version returns in the place of each sentence, and how many sentences stay as
// they were because it returned nothing. White space between sentences stays.
func EachSentence(text string, version func(sentence string) (string, error)) (out string, kept int, err error) {
	from := 0
	for _, end := range append(sentenceEnds(text), len(text)) {
		piece := text[from:end]
		from = end
		sentence := strings.TrimSpace(piece)
		if sentence == "" {
			out += piece
			continue
		}
		v, err := version(sentence)
		if err != nil {
			return "", 0, err
		}
		if v == "" {
			v, kept = sentence, kept+1
		}
		at := strings.Index(piece, sentence)
		out += piece[:at] + v + piece[at+len(sentence):]
	}
	return out, kept, nil
}

// sentenceEnds returns where the sentences of a text end. Unlike sentences.Ends, it does not count the ends of lines
// that were broken to fit a width, as those of a letter or a mail.
func sentenceEnds(text string) []int {
	const narrow = 40 // characters: shorter lines are not broken to fit
	width := 0
	for line := range strings.Lines(text) {
		width = max(width, utf8.RuneCountInString(strings.TrimSpace(line)))
	}
	if width < narrow {
		return sentences.Ends(text)
	}
	return slices.DeleteFunc(sentences.Ends(text), func(end int) bool {
		return text[end-1] == '\n' && broken(text[:end-1], text[end:], width)
	})
}

// broken reports whether a sentence goes on after the end of a line: the line has no mark at its end and no room for
// the next word, which begins with a small letter or begins a long line, since a short one may be the name below a
// letter.
func broken(before, after string, width int) bool {
	line := strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])
	next, _, _ := strings.Cut(after, "\n")
	next = strings.TrimSpace(next)
	word, _, _ := strings.Cut(next, " ")
	last, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(word)
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != ',' || !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return false
	}
	full := utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width
	return full && (unicode.IsLower(first) || utf8.RuneCountInString(next) > width/2)
}

// sentencesOf returns the sentences of a text, each on one line.
func sentencesOf(text string) (list []string) {
	from := 0
	for _, end := range append(sentenceEnds(text), len(text)) {
		if s := strings.TrimSpace(text[from:end]); s != "" {
			list = append(list, oneLine(s))
		}
		from = end
	}
	return list
}

// oneLine returns a sentence without the ends of lines in it.
func oneLine(sentence string) string {
	return strings.ReplaceAll(strings.ReplaceAll(sentence, "\r\n", " "), "\n", " ")
}

// version returns the likeliest version of a sentence that keeps its names and numbers, or "".
func (w *Writer) version(ctx context.Context, prompt []tandem.Token, sentence string, most int) (string, error) {
	list, err := w.written(ctx, prompt, most)
	for _, v := range list {
		if Keeps(sentence, v) {
			return v, nil
		}
	}
	return "", err
}

// written returns several lines that the model writes, the likeliest first. All have ended.
func (w *Writer) written(ctx context.Context, prompt []tandem.Token, most int) (lines []string, err error) {
	list, _, err := streams.Generate(ctx, w.Seq(), prompt, versions, streams.Options{Tokens: most, Stop: []string{"\n"}, Min: MinFirst})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(x, y streams.Stream) int { return cmp.Compare(y.PerToken(), x.PerToken()) })
	for _, s := range list {
		if line := strings.TrimSpace(s.Text); line != "" && len(s.Tokens) < most {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
