package answers

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read: a whole file, unpacked, and a line of it.
const (
	maxBytes = 256 << 20
	maxLine  = 16 << 20
)

// Lines calls each for every line of JSON that is not blank, with its number from 1. The lines may be gzipped. Errors,
// those of each too, name the file and the line.
func Lines(name string, in io.Reader, each func(n int, line []byte) error) error {
	raw := bufio.NewReader(in)
	in = raw
	if magic, _ := raw.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(raw)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
		in = z
	}
	bounded := &io.LimitedReader{R: in, N: maxBytes + 1}
	lines := bufio.NewScanner(bounded)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() && bounded.N > 0 {
		n++
		switch line := bytes.TrimSpace(lines.Bytes()); {
		case len(line) == 0:
		case !utf8.Valid(line):
			return fmt.Errorf("%s, line %d: not UTF-8", name, n)
		default:
			if err := each(n, line); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, n, err)
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s, line %d: longer than %d MB", name, n+1, maxLine>>20)
	case err != nil:
		return fmt.Errorf("read %s after line %d: %w", name, n, err)
	case bounded.N == 0:
		return fmt.Errorf("%s holds more than %d MB; split it", name, maxBytes>>20)
	}
	return nil
}

// Folder reads questions about the documents/ of a folder from a file in it, such as questions.jsonl.
func Folder(name string, dir fs.FS, file string, seed uint64) (Set, error) {
	entries, err := fs.ReadDir(dir, "documents")
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	var documents []Document
	known := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := fs.ReadFile(dir, path.Join("documents", e.Name()))
		if err != nil {
			return Set{}, fmt.Errorf("%s: %w", name, err)
		}
		documents, known[e.Name()] = append(documents, Document{e.Name(), data}), true
	}
	f, err := dir.Open(file)
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	w := World{Sides: deal(name, seed, documents)}
	err = Lines(name+"/"+file, f, func(_ int, line []byte) error {
		q, err := readQuestion(line, w.Questions)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(q.Names, func(n string) bool { return !known[n] }); i >= 0 {
			return fmt.Errorf("no document %q", q.Names[i])
		}
		w.Questions = append(w.Questions, q)
		return nil
	})
	if err == nil && len(w.Questions) == 0 {
		err = fmt.Errorf("%s holds no questions", name)
	}
	return Set{name, []World{w}}, err
}

// readQuestion reads a question of a folder; earlier are those before it.
func readQuestion(line []byte, earlier []Question) (q Question, err error) {
	var in struct {
		ID, Question, Kind, Sentence, After string
		Documents, Answers, Items, Others   []string
		Parts                               []Part
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return q, err
	}
	q = Question{ID: in.ID, Kind: in.Kind, Text: in.Question, Answers: in.Answers, Names: in.Documents, YesNo: in.Kind == "yesno"}
	switch {
	case in.Kind == "":
		return q, errors.New(`lacks "kind"`)
	case in.Kind == "unanswerable":
	case len(in.Parts) > 0:
		q.Parts = in.Parts
	case len(in.Items) > 0:
		for _, item := range in.Items {
			q.Parts = append(q.Parts, Part{Answers: []string{item}, Sentence: in.Sentence})
		}
	default:
		q.Parts = []Part{{Answers: in.Answers, Sentence: in.Sentence, Others: in.Others}}
	}
	if in.After != "" {
		i := slices.IndexFunc(earlier, func(e Question) bool { return e.ID == in.After })
		if i < 0 {
			return q, fmt.Errorf(`"after": there is no question %q before it`, in.After)
		}
		q.follow(&earlier[i])
	}
	return q, q.check()
}

// follow puts a question after another in a conversation. Until it is replayed, the turn before has the accepted answer.
func (q *Question) follow(before *Question) {
	q.Before = before
	q.Earlier = append(slices.Clone(before.Earlier), Turn{before.Text, strings.Join(before.Answers[:min(1, len(before.Answers))], "")})
}

// check reports what a question lacks.
func (q Question) check() error {
	if strings.TrimSpace(q.Text) == "" {
		return errors.New(`lacks "question"`)
	}
	if !q.Answerable() && len(q.Answers) > 0 {
		return errors.New(`has "answers", but no part that they answer`)
	}
	for _, p := range q.Parts {
		if len(p.Answers) == 0 || slices.ContainsFunc(p.Answers, func(a string) bool { return strings.TrimSpace(a) == "" }) {
			return errors.New(`lacks "answers", or one is empty`)
		}
	}
	return nil
}

// paragraphs gathers questions about paragraphs: each paragraph becomes a document.
type paragraphs struct {
	documents []Document
	at        map[string]int // by title and text
	questions []Question
	about     []int // the document of each question
}

// add adds a question about a paragraph.
func (p *paragraphs) add(title, text string, q Question) {
	key := title + "\n" + text
	at, ok := p.at[key]
	if !ok {
		if p.at == nil {
			p.at = map[string]int{}
		}
		at = len(p.documents)
		p.at[key] = at
		heading := strings.Join(strings.Fields(strings.ReplaceAll(title, "_", " ")), " ")
		if heading != "" {
			heading = "# " + heading + "\n\n"
		}
		p.documents = append(p.documents, Document{fmt.Sprintf("%05d.md", at), []byte(heading + text + "\n")})
	}
	q.Names = []string{p.documents[at].Name}
	p.questions, p.about = append(p.questions, q), append(p.about, at)
}

// open makes one world of all paragraphs, dealt to the two sides.
func (p *paragraphs) open(name string, seed uint64) Set {
	return Set{name, []World{{deal(name, seed, p.documents), p.questions}}}
}

// gold makes a world of each paragraph, on one of the sides: retrieval looks in the right paragraph only.
func (p *paragraphs) gold(name string, seed uint64) Set {
	out := Set{Name: name}
	worlds := map[int]int{}
	r := random(name+"/deal", seed)
	for i, q := range p.questions {
		at, ok := worlds[p.about[i]]
		if !ok {
			at = len(out.Worlds)
			worlds[p.about[i]] = at
			var w World
			side := r.IntN(2)
			w.Sides[side] = []Document{p.documents[p.about[i]]}
			out.Worlds = append(out.Worlds, w)
		}
		out.Worlds[at].Questions = append(out.Worlds[at].Questions, q)
	}
	return out
}

func (p *paragraphs) set(name string, gold bool, seed uint64) (Set, error) {
	if len(p.questions) == 0 {
		return Set{}, fmt.Errorf("%s holds no questions", name)
	}
	if gold {
		return p.gold(name, seed), nil
	}
	return p.open(name, seed), nil
}

// SQuAD reads a set in SQuAD's format. With gold, the context of each question is its own paragraph,
// otherwise all paragraphs.
func SQuAD(name string, in io.Reader, gold bool, seed uint64) (Set, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return Set{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(raw) > maxBytes {
		return Set{}, fmt.Errorf("%s holds more than %d MB", name, maxBytes>>20)
	}
	var set struct {
		Data []struct {
			Title      string
			Paragraphs []struct {
				Context string
				QAs     []struct {
					ID, Question string
					Answers      []struct {
						Text  string
						Start int `json:"answer_start"` // in characters
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		return Set{}, fmt.Errorf("%s: %w", name, err)
	}
	var all paragraphs
	for _, a := range set.Data {
		for _, p := range a.Paragraphs {
			for _, qa := range p.QAs {
				q := Question{ID: qa.ID, Text: qa.Question}
				var part Part
				for i, gold := range qa.Answers {
					part.Answers = append(part.Answers, gold.Text)
					if s := sentenceAt(p.Context, byteOffset(p.Context, gold.Start)); i == 0 {
						part.Sentence = s
					} else {
						part.Others = append(part.Others, s)
					}
				}
				if len(part.Answers) > 0 {
					q.Answers, q.Parts = part.Answers, []Part{part}
				}
				if err := q.check(); err != nil {
					return Set{}, fmt.Errorf("%s, question %q: %w", name, qa.ID, err)
				}
				all.add(a.Title, p.Context, q)
			}
		}
	}
	return all.set(name, gold, seed)
}

// Reading reads questions about passages: one JSON object per line with title, passage, question,
// answers, and support or unanswerable. With gold, the context of each question is its own passage,
// otherwise all passages.
func Reading(name string, in io.Reader, gold bool, seed uint64) (Set, error) {
	var all paragraphs
	err := Lines(name, in, func(n int, line []byte) error {
		var in struct {
			Title, Passage, Question string
			Answers                  []string
			Unanswerable             bool
			Support                  []int
			Sentences                bool `json:"answer_is_sentence"`
		}
		if err := json.Unmarshal(line, &in); err != nil {
			return err
		}
		if strings.TrimSpace(in.Passage) == "" {
			return errors.New(`lacks "passage"`)
		}
		q := Question{ID: fmt.Sprint(n), Text: in.Question, Answers: in.Answers}
		if in.Unanswerable {
			q.Answers = nil
		} else {
			sentence, err := support(in.Passage, in.Support, in.Answers)
			if err != nil {
				return err
			}
			p := Part{Answers: in.Answers, Sentence: sentence}
			if in.Sentences {
				p.Others = in.Answers
			}
			q.Parts = []Part{p}
		}
		if err := q.check(); err != nil {
			return err
		}
		all.add(in.Title, in.Passage, q)
		return nil
	})
	if err != nil {
		return Set{}, err
	}
	return all.set(name, gold, seed)
}

// support returns the sentence of a passage that holds the answer: what lies between two offsets in characters, or else the
// sentence around the first answer. It is empty if the answer is in other words than the passage.
func support(passage string, at []int, answers []string) (string, error) {
	if len(at) > 0 {
		runes := []rune(passage)
		if len(at) != 2 || at[0] < 0 || at[0] >= at[1] || at[1] > len(runes) {
			return "", fmt.Errorf(`"support" %v: want [start, end] within %d characters`, at, len(runes))
		}
		return strings.TrimSpace(string(runes[at[0]:at[1]])), nil
	}
	for _, a := range answers {
		if i := strings.Index(passage, a); a != "" && i >= 0 {
			return sentenceAt(passage, i), nil
		}
	}
	return "", nil
}

// byteOffset returns where the n-th character of s begins.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
