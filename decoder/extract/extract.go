package extract

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"tandem"
	"tandem/aggregator"
	"tandem/decoder"
	"tandem/decoder/question"
	"tandem/internal/refusal"
	"tandem/internal/words"
	"tandem/model/span"
	"tandem/model/tokenizer"
	"tandem/retrieval/passages"
)

// Unknown is what the context without a passage answers to an English question.
var Unknown = refusal.Sentences[span.English]

// Config holds what all answers of a side have in common.
type Config struct {
	Reader      *span.Reader
	Tokenizer   *tokenizer.Tokenizer // spells the answers; the same on both sides
	Scorer      decoder.Scorer
	Constants   Constants
	TopP        float64 // probability mass that a Dist keeps; 0 for decoder.DefaultTopP
	MaxSupport  int     // most tokens in a Dist; 0 for decoder.DefaultMaxSupport
	MaxTokens   int     // of an answer; 0 for decoder.DefaultMaxTokens
	Temperature float64 // of the posterior over passages and their texts; 0 keeps the likeliest text of the likeliest passage
}

// DefaultConstants have the curves of "lab answers --fit" on xquad/open, generated, sets of people, and those
// of reading whose answers are no whole sentences, which a bare value never equals (docs/answers.md has the command).
// They were fitted to a built-in reader before the present one, for which others are no better (docs/answers-lessons.md).
// Nothing stands for a probability of .55, so a wrong answer costs more than a right one is worth.
var DefaultConstants = Constants{
	Value:    Curve{Bias: -1.633, Reader: 0.33, Lead: 0.206, Coverage: 1.867, Rank: -0.947, Share: 0.289, Length: 0.033, Whole: 0.74},
	Sentence: Curve{Bias: -2.035, Reader: 0.348, Lead: 0.24, Coverage: 2.048, Rank: -0.889, Share: 0.133, Length: 0.313, Whole: -0.167},
	Nothing:  0.2, Bare: 0.1,
}

// Confidence returns the probability that an answer is right which draws on a passage of this relevance, in nats, where a text of
// another says something else (decoder.Part.Otherwise), -Inf if none does: only one of them can be right. It is a logistic curve
// between the pair's answers on lab/answers/testdata/people/tune and those on XQuAD, where fewer are right.
func Confidence(relevance, otherwise float64) float64 {
	return logistic(0.75 + 0.5*(relevance-math.Log1p(math.Exp(otherwise))))
}

// Decoder computes one side's distributions for one answer. It is not safe for concurrent use.
type Decoder struct {
	cfg     Config
	parts   []part // of the question, as far as an answer came; the first is always there
	prefill decoder.Prefill
	words   int // read, in all contexts together

	passages   []passages.Passage
	known      []passage       // what of them does not depend on the question
	asked      []string        // the content words of the question of the conversation that was answered last
	lastSource string          // the source of the passage that the last answer of the conversation came from; "" for none here
	clauses    []string        // the parts of the question, as inEnglish returns them
	languages  []span.Language // of the clauses
	refusal    string          // what the context without a passage answers
	newline    []tandem.Token  // between two parts of an answer
	lost       []tandem.Token  // ends a part that this side cannot finish: an ellipsis and the refusal
	end        tandem.Token    // after the last part

	answer []tandem.Token
	masses []float64 // for output, which overwrites it each time
}

// New reads the first part of the question in each passage. The others are read when an answer comes to them, so that its
// first word need not wait for them. ctx stops it between passages.
func New(ctx context.Context, cfg Config, req decoder.Request) (*Decoder, error) {
	began := time.Now()
	cfg, err := cfg.defaults()
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	d := &Decoder{cfg: cfg, newline: cfg.encode("\n"), end: cfg.Tokenizer.EOGs()[0]}
	d.divide(req)
	d.lost = cfg.encode(" … " + d.refusal)
	if err := d.read(ctx, req); err != nil {
		return nil, fmt.Errorf("extract: %d passages: %w", len(req.Passages), err)
	}
	d.prefill = decoder.Prefill{Contexts: len(req.Passages), Tokens: d.words, Took: time.Since(began)}
	return d, nil
}

// defaults fills in zero fields and checks the others.
func (c Config) defaults() (Config, error) {
	if c.TopP == 0 {
		c.TopP = decoder.DefaultTopP
	}
	if c.MaxSupport == 0 {
		c.MaxSupport = decoder.DefaultMaxSupport
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = decoder.DefaultMaxTokens
	}
	if c.Constants == (Constants{}) {
		c.Constants = DefaultConstants
	}
	switch {
	case c.Reader == nil || c.Tokenizer == nil || c.Scorer == nil:
		return c, fmt.Errorf("no reader, no tokenizer or no scorer")
	case len(c.Tokenizer.EOGs()) == 0:
		return c, fmt.Errorf("the vocabulary has no token that ends an answer")
	case !(c.TopP > 0 && c.TopP <= 1):
		return c, fmt.Errorf("top-p %v of drafts: want more than 0 and at most 1", c.TopP)
	case c.MaxSupport < 1 || c.MaxSupport > tandem.MaxSupport:
		return c, fmt.Errorf("support of %d tokens: want 1 to %d", c.MaxSupport, tandem.MaxSupport)
	case c.MaxTokens < 0:
		return c, fmt.Errorf("answer of %d tokens", c.MaxTokens)
	case !(c.Temperature >= 0):
		return c, fmt.Errorf("temperature %v: want 0 or more", c.Temperature)
	}
	if c.Temperature > 0 {
		c.Temperature = max(c.Temperature, lowest)
	}
	return c, nil
}

// lowest is the least temperature but 0. Weights at lower ones would be beyond what tandem.Fixed holds.
const lowest = 0.01

// Next sets the answer to its first keep tokens followed by app, and returns the distribution of the token after it. The
// same answer gives the same Output to the bit.
func (d *Decoder) Next(ctx context.Context, keep int, app []tandem.Token) (decoder.Output, error) {
	if err := d.edit(keep, app); err != nil {
		return decoder.Output{}, err
	}
	if err := d.reach(ctx, d.answer); err != nil {
		return decoder.Output{}, err
	}
	began := time.Now() // to read a part of the question is no part of a pass
	out := d.output(d.answer)
	out.Took, out.Fed, out.Length = time.Since(began), max(1, len(app)), d.words
	return out, nil
}

// Finish sets the answer as both sides agreed on it, of which the last tokens may have been checked ahead, for Parts
// and MeanWeights.
func (d *Decoder) Finish(ctx context.Context, answer []tandem.Token) error {
	if err := d.edit(0, answer); err != nil {
		return err
	}
	return d.reach(ctx, answer)
}

// NextAhead is Next, and returns also what follows other answers: branches of it (p.Branches), and the answer
// continued by drafts and then by the tokens that this side thinks likeliest. All of it costs no pass, and it goes no further
// than the parts of the question that were read.
func (d *Decoder) NextAhead(ctx context.Context, p tandem.Pass) (out decoder.Output, branches, chain []tandem.Continuation, err error) {
	if out, err = d.Next(ctx, p.Keep, p.Append); err != nil {
		return out, nil, nil, err
	}
	return out, d.afterBranches(p.Branches), d.afterDrafts(p, out.Dist.Mode()), nil
}

// afterBranches returns what follows branches of the answer, up to the first that it cannot follow.
func (d *Decoder) afterBranches(branches []tandem.Branch) (out []tandem.Continuation) {
	var answers [][]tandem.Token
	for i, b := range branches {
		var before []tandem.Token
		switch {
		case b.After > 0 && b.After <= i:
			before = answers[b.After-1]
		case b.After == 0 && b.Back > 0 && b.Back <= len(d.answer):
			before = d.answer[:len(d.answer)-b.Back]
		default:
			return out
		}
		answer := append(slices.Clip(before), b.Token)
		c, ok := d.continuation(answer)
		if !ok {
			break
		}
		c.After = b.After
		out, answers = append(out, c), append(answers, answer)
	}
	return out
}

// afterDrafts returns what follows the answer with one draft after the other, then with guesses: tokens that this side
// thinks likeliest, of which the first would be likeliest.
func (d *Decoder) afterDrafts(p tandem.Pass, likeliest tandem.Token) (chain []tandem.Continuation) {
	answer := d.answer
	for i := range len(p.Drafts) + p.Guess {
		t := likeliest
		if i < len(p.Drafts) {
			t = p.Drafts[i]
		}
		answer = append(slices.Clip(answer), t)
		c, ok := d.continuation(answer)
		if !ok || d.cfg.Tokenizer.EOG(t) {
			break
		}
		c.After, likeliest = i, c.Dist.Mode()
		chain = append(chain, c)
	}
	return chain
}

// continuation returns the distribution after an answer, as one that follows its last token. ok is false if that is not in
// the vocabulary, or if the answer comes to a part of the question that was not read.
func (d *Decoder) continuation(answer []tandem.Token) (c tandem.Continuation, ok bool) {
	t := answer[len(answer)-1]
	if d.unknown(t) || !d.reached(answer) {
		return c, false
	}
	out := d.output(answer)
	return tandem.Continuation{Token: t, Dist: out.Dist, H: out.H}, true
}

// unknown reports whether t is not in the vocabulary.
func (d *Decoder) unknown(t tandem.Token) bool { return t < 0 || int(t) >= d.cfg.Tokenizer.Size() }

// edit sets a new answer.
func (d *Decoder) edit(keep int, app []tandem.Token) error {
	if keep < 0 || keep > len(d.answer) {
		return fmt.Errorf("extract: keep %d tokens of an answer of %d", keep, len(d.answer))
	}
	if i := slices.IndexFunc(app, d.unknown); i >= 0 {
		return fmt.Errorf("extract: token %d in a vocabulary of %d", app[i], d.cfg.Tokenizer.Size())
	}
	d.answer = append(d.answer[:keep:keep], app...)
	return nil
}

// output returns the distribution after an answer. If no text of this side begins like the answer, the side has no say
// in it: its weight is decoder.Mute. Should it have to go on alone, it says that it does not know the rest, and goes on
// with the next part.
func (d *Decoder) output(answer []tandem.Token) decoder.Output {
	n, prefix := d.progress(answer)
	if n == len(d.clauses) {
		return muted(d.end)
	}
	if d.masses == nil {
		d.masses = make([]float64, d.cfg.Tokenizer.Size())
	}
	clear(d.masses)
	h := d.parts[n].next(d.masses, prefix)
	if math.IsInf(h, -1) {
		return muted(d.cutOff(n, prefix))
	}
	return decoder.Output{Dist: aggregator.Nucleus(d.masses, d.cfg.TopP, d.cfg.MaxSupport), H: tandem.FixedOf(h)}
}

// muted is the output of a side that has no say.
func muted(t tandem.Token) decoder.Output {
	return decoder.Output{Dist: tandem.Dist{IDs: []tandem.Token{t}, Weights: []uint32{tandem.Mass}}, H: tandem.FixedOf(decoder.Mute)}
}

// cutOff returns the token that follows in a part that this side did not begin: those of lost, then the end.
func (d *Decoder) cutOff(part int, prefix []tandem.Token) tandem.Token {
	rest := slices.Concat(d.lost, d.ends(part))
	for n := len(d.lost); n > 0; n-- {
		if len(prefix) >= n && slices.Equal(prefix[len(prefix)-n:], rest[:n]) {
			return rest[n]
		}
	}
	return rest[0]
}

// ends returns the tokens after a part of the answer.
func (d *Decoder) ends(part int) []tandem.Token {
	if part == len(d.clauses)-1 {
		return []tandem.Token{d.end}
	}
	return d.newline
}

// endsPart reports whether a token of a part of the answer is its last: one with a line end, if another part follows.
func (d *Decoder) endsPart(part int, t tandem.Token) bool {
	return part < len(d.clauses)-1 && slices.Contains(d.cfg.Tokenizer.Piece(t), '\n')
}

// progress returns which part of the question an answer has come to, and its tokens for that part.
func (d *Decoder) progress(answer []tandem.Token) (part int, prefix []tandem.Token) {
	from := 0
	for i, t := range answer {
		if d.endsPart(part, t) {
			part, from = part+1, i+1
		} else if d.cfg.Tokenizer.EOG(t) {
			return len(d.clauses), nil
		}
	}
	return part, answer[from:]
}

// Prefill describes what New read. A token is a word here.
func (d *Decoder) Prefill() decoder.Prefill { return d.prefill }

// Close does nothing.
func (d *Decoder) Close() error { return nil }

// divide divides the question. An answer refuses in one language, that of the first part that is surely in another than
// English: both sides see the same question, so they say the same.
func (d *Decoder) divide(req decoder.Request) {
	d.clauses = askedIn(req).Clauses()
	d.languages = make([]span.Language, len(d.clauses))
	language := span.English
	for i, c := range d.clauses {
		var sure bool
		if d.clauses[i], d.languages[i], sure = inEnglish(beginning(c)); sure && language == span.English {
			language = d.languages[i]
		}
	}
	d.refusal = refusal.Sentences[language]
}

// maxClause is how many bytes of a part of the question are read. All candidates are compared with it in a hundred ways, and the span
// reader reads no more than the first few dozen words.
const maxClause = 2048

// beginning returns the whole characters of the first maxClause bytes of a text.
func beginning(s string) string {
	if len(s) <= maxClause {
		return s
	}
	end := maxClause
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func askedIn(req decoder.Request) question.Asked {
	return question.Asked{Text: req.Question, History: req.History}
}

// read reads the passages, and the first part of the question in them.
func (d *Decoder) read(ctx context.Context, req decoder.Request) error {
	d.passages = req.Passages
	if asked, said := askedIn(req).LastAnswered(); said != "" {
		d.asked = words.Content(asked)
		if i := question.AnsweringPassage(asked, said, req.Passages); i >= 0 {
			d.lastSource = req.Passages[i].Source
		}
	}
	d.known = make([]passage, len(req.Passages))
	for i, p := range req.Passages {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.known[i] = d.cfg.passage(p)
	}
	return d.reach(ctx, nil)
}

// reach reads the parts of the question up to the one that an answer has come to.
func (d *Decoder) reach(ctx context.Context, answer []tandem.Token) error {
	for !d.reached(answer) {
		p, err := d.readPart(ctx, len(d.parts))
		if err != nil {
			return fmt.Errorf("extract: read part %d of the question: %w", len(d.parts)+1, err)
		}
		d.parts = append(d.parts, p)
	}
	return nil
}

// reached reports whether the part of the question that an answer has come to was read.
func (d *Decoder) reached(answer []tandem.Token) bool {
	n, _ := d.progress(answer)
	return n < len(d.parts) || n == len(d.clauses)
}
