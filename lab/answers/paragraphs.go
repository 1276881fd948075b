package answers

import (
	"fmt"
	"strings"
)

// Scope says in which paragraphs of a set a question is asked.
type Scope uint8

const (
	AllParagraphs Scope = iota // retrieval must find the one that answers
	OwnParagraph               // the gold paragraph alone, which retrieval cannot miss
)

// paragraphs gathers questions about paragraphs: each paragraph becomes a document.
type paragraphs struct {
	documents  []Document
	index      map[string]int // by title and text
	questions  []Question
	documentOf []int // the document of each question
}

// add adds a question about a paragraph.
func (p *paragraphs) add(title, text string, q Question) {
	key := title + "\n" + text
	at, ok := p.index[key]
	if !ok {
		if p.index == nil {
			p.index = map[string]int{}
		}
		at = len(p.documents)
		p.index[key] = at
		heading := strings.Join(strings.Fields(strings.ReplaceAll(title, "_", " ")), " ")
		if heading != "" {
			heading = "# " + heading + "\n\n"
		}
		p.documents = append(p.documents, Document{fmt.Sprintf("%05d.md", at), []byte(heading + text + "\n")})
	}
	q.Names = []string{p.documents[at].Name}
	p.questions, p.documentOf = append(p.questions, q), append(p.documentOf, at)
}

// set returns the gathered questions, each asked in the scope. The seed deals the paragraphs to the two sides.
func (p *paragraphs) set(name string, scope Scope, seed uint64) (Set, error) {
	if len(p.questions) == 0 {
		return Set{}, fmt.Errorf("%s holds no questions", name)
	}
	if scope == OwnParagraph {
		return p.eachInOwnWorld(name, seed), nil
	}
	return p.inOneWorld(name, seed), nil
}

// inOneWorld makes one world of all paragraphs, dealt to the two sides.
func (p *paragraphs) inOneWorld(name string, seed uint64) Set {
	return Set{name, []World{{deal(name, seed, p.documents), p.questions}}}
}

// eachInOwnWorld makes a world of each paragraph, on one of the sides.
func (p *paragraphs) eachInOwnWorld(name string, seed uint64) Set {
	out := Set{Name: name}
	worlds := map[int]int{}
	r := random(name+"/deal", seed)
	for i, q := range p.questions {
		at, ok := worlds[p.documentOf[i]]
		if !ok {
			at = len(out.Worlds)
			worlds[p.documentOf[i]] = at
			var w World
			side := r.IntN(2)
			w.Sides[side] = []Document{p.documents[p.documentOf[i]]}
			out.Worlds = append(out.Worlds, w)
		}
		out.Worlds[at].Questions = append(out.Worlds[at].Questions, q)
	}
	return out
}
