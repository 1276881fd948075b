package answers

import (
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
)

// Set is questions about documents.
type Set struct {
	Name   string
	Worlds []World
}

// World is documents that are indexed together, and questions about them.
type World struct {
	Sides     [2][]Document // of the device and of the cloud
	Questions []Question
}

// Document is a file.
type Document struct {
	Name string
	Data []byte
}

// Question is a question with what a right answer says.
type Question struct {
	ID      string
	Kind    string // such as fact or table; empty if the set has none
	Text    string
	Earlier []Turn
	Before  *Question // the question before in its conversation; see Replay
	Answers []string  // accepted ones, whole; none if no document holds one
	Parts   []Part    // what is asked for: one part, or more of lists and compound questions
	YesNo   bool      // the answer is yes or no
	Names   []string  // of the documents that hold the answer, if the set says so
	Without []string  // documents that are withheld: see Set.Withheld
}

// Turn is a question of the same conversation that was answered before.
type Turn struct{ Question, Answer string }

// Part is one of the things that a question asks for.
type Part struct {
	Answers  []string `json:"answers"`            // accepted ones
	Sentence string   `json:"sentence,omitempty"` // the sentence or line that holds it, as in the file; empty if the set does not say
	Others   []string `json:"others,omitempty"`   // further sentences, each of which holds it too
}

// Replay returns the question with the turns before it as ask answers them, each with those before it: a follow-up of a set
// is asked in a conversation. Other questions come back as they are.
func (q Question) Replay(ask func(Question) (Answer, error)) (Question, error) {
	if q.Before == nil {
		return q, nil
	}
	before, err := q.Before.Replay(ask)
	if err != nil {
		return q, err
	}
	said, err := ask(before)
	q.Earlier = append(slices.Clone(before.Earlier), Turn{before.Text, said.Text})
	return q, err
}

// conversation returns the question after the turns before it.
func (q Question) conversation() string {
	var all strings.Builder
	for _, t := range q.Earlier {
		all.WriteString(t.Question + "\n" + t.Answer + "\n")
	}
	return all.String() + q.Text
}

// Answerable reports whether a document holds the answer.
func (q Question) Answerable() bool { return len(q.Parts) > 0 }

// KnowsSentences reports whether the set says where the answer to an answerable question stands.
func (q Question) KnowsSentences() bool {
	return q.Answerable() && !slices.ContainsFunc(q.Parts, func(p Part) bool { return p.Sentence == "" })
}

// Count returns the number of questions.
func (s Set) Count() (n int) {
	for _, w := range s.Worlds {
		n += len(w.Questions)
	}
	return n
}

// Sample returns the set with n of its questions, drawn without replacement, in their order; with all if n is 0 or there
// are no more. Worlds without a question are left out. The same seed draws the same questions.
func (s Set) Sample(n int, seed uint64) Set {
	total := s.Count()
	if n <= 0 || n >= total {
		return s
	}
	kept := make([]bool, total)
	for _, i := range random(s.Name+"/questions", seed).Perm(total)[:n] {
		kept[i] = true
	}
	out := Set{Name: s.Name}
	at := 0
	for _, w := range s.Worlds {
		var questions []Question
		for _, q := range w.Questions {
			if kept[at] {
				questions = append(questions, q)
			}
			at++
		}
		if len(questions) > 0 {
			out.Worlds = append(out.Worlds, World{w.Sides, questions})
		}
	}
	return out
}

// Replace puts the files of a folder in the place of the documents that have their names but for the extension, such as a
// PDF of each, and returns how many documents it replaced.
func (s Set) Replace(dir fs.FS) (n int, err error) {
	files, err := fs.ReadDir(dir, ".")
	if err != nil {
		return 0, err
	}
	stem := func(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
	renamed := map[string]string{}
	for _, w := range s.Worlds {
		for _, side := range w.Sides {
			for i, d := range side {
				at := slices.IndexFunc(files, func(f fs.DirEntry) bool { return !f.IsDir() && stem(f.Name()) == stem(d.Name) })
				if at < 0 {
					continue
				}
				data, err := fs.ReadFile(dir, files[at].Name())
				if err != nil {
					return n, err
				}
				renamed[d.Name], side[i] = files[at].Name(), Document{files[at].Name(), data}
				n++
			}
		}
		for _, q := range w.Questions {
			for i, name := range q.Names {
				if to, ok := renamed[name]; ok {
					q.Names[i] = to
				}
			}
		}
	}
	return n, nil
}

// deal divides documents between the two sides at random, as evenly as can be. The same name and seed deal alike.
func deal(name string, seed uint64, documents []Document) (sides [2][]Document) {
	r := random(name+"/deal", seed)
	first := r.IntN(2)
	for i, at := range r.Perm(len(documents)) {
		side := (first + i) % 2
		sides[side] = append(sides[side], documents[at])
	}
	return sides
}

// random returns the source of randomness for a purpose.
func random(purpose string, seed uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
