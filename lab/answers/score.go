package answers

import (
	"slices"
	"strings"
	"time"
)

// Answer is what a method gives to a question.
type Answer struct {
	Text       string
	Unknown    bool          // the method says that it does not know
	Shown      []string      // the texts that it shows or cites with the answer
	First      []string      // the sentence that stands first among them, for each part of the answer
	Other      []string      // the sentences that it shows as saying something else, one for each part of the answer at most
	Read       []string      // the passages that it read, with their titles
	Confidence float64       // the probability of being right that it claims; 0 if it claims none
	Took       time.Duration // from the question to the whole answer
}

// Score is what an answer is worth.
type Score struct {
	Exact    bool     // an accepted answer after SQuAD's normalisation, and nothing else
	Holds    bool     // it contains an accepted answer to each part, as whole words
	F1       float64  // against the nearest accepted answer
	Sentence bool     // each sentence that holds the answer is in the answer or in what is shown with it
	First    bool     // each sentence that holds the answer is in the answer, or the first that is shown for a part of it
	Read     bool     // each sentence that holds the answer was read
	Invented []string // see Invented
	Doubted  bool     // it shows a sentence that says something else
	Spared   bool     // such a sentence holds an accepted answer to a part that the answer does not hold
	Outcome  Outcome
}

// Outcome is what became of a question.
type Outcome uint8

const (
	Right       Outcome = iota // it holds the answer, or says that it does not know what no document says
	Wrong                      // it says something else, in words of the documents
	WrongWords                 // it says something else, in words that are in no passage that it read
	SaysUnknown                // it says that it does not know, though a document does
)

// Judge scores an answer.
func Judge(q Question, a Answer) Score {
	s := Score{Invented: Invented(a.Text, q.conversation(), a.Read)}
	empty := strings.TrimSpace(a.Text) == ""
	if q.Answerable() {
		s.Exact, s.F1 = compareWhole(q, a.Text)
		s.Holds = s.Exact || holds(q, a.Text)
		s.Sentence = holdsSentences(q, append([]string{a.Text}, a.Shown...))
		s.First = holdsSentences(q, append([]string{a.Text}, a.First...))
		s.Read = holdsSentences(q, a.Read)
	}
	s.Doubted = len(a.Other) > 0 && !a.Unknown
	s.Spared = s.Doubted && !s.Holds && slices.ContainsFunc(q.Parts, func(p Part) bool {
		says := func(text string) bool {
			return slices.ContainsFunc(p.Answers, func(answer string) bool { return Contains(text, answer) })
		}
		return !says(a.Text) && slices.ContainsFunc(a.Other, says)
	})
	switch {
	case q.Answerable() && s.Holds, !q.Answerable() && (a.Unknown || empty):
		s.Outcome = Right
	case a.Unknown || empty:
		s.Outcome = SaysUnknown
	case len(s.Invented) > 0:
		s.Outcome = WrongWords
	default:
		s.Outcome = Wrong
	}
	return s
}

// compareWhole compares an answer with the accepted ones.
func compareWhole(q Question, text string) (equal bool, f1 float64) {
	for _, accepted := range q.Answers {
		equal = equal || slices.Equal(Normal(text), Normal(accepted))
		f1 = max(f1, F1(text, accepted))
	}
	return equal, f1
}

// holds reports whether a text contains an accepted answer to each part. A yes or no must come first. Why, how, yes or no are
// answered by the whole sentence, too.
func holds(q Question, text string) bool {
	for _, p := range q.Parts {
		has := slices.ContainsFunc(p.Answers, func(a string) bool {
			if q.YesNo {
				words, want := tokens(text), tokens(a)
				return len(words) > 0 && slices.Equal(words[:1], want)
			}
			return Contains(text, a)
		})
		quoted := (q.Kind == "why" || q.Kind == "how" || q.YesNo) && p.Sentence != "" && Contains(text, p.Sentence)
		if !has && !quoted {
			return false
		}
	}
	return true
}

// holdsSentences reports whether texts contain a sentence that holds the answer, for each part.
func holdsSentences(q Question, texts []string) bool {
	for _, p := range q.Parts {
		if !slices.ContainsFunc(texts, p.within) {
			return false
		}
	}
	return q.KnowsSentences()
}

// within reports whether a text contains a sentence that holds the answer.
func (p Part) within(text string) bool {
	return slices.ContainsFunc(append([]string{p.Sentence}, p.Others...), func(s string) bool { return ContainsSentence(text, s, p.Answers) })
}

func (o Outcome) String() string {
	return [...]string{"right", "wrong", "wrong, with invented words", "unknown"}[o]
}
