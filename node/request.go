package node

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"tandem"
	"tandem/decoder"
	"tandem/model"
	"tandem/model/chat"
	"tandem/model/grammar"
	"tandem/model/sample"
	"tandem/pair"
	"tandem/scheduler"
	"tandem/transport"
)

// beginOf returns the message that asks a cloud the question. Of a long conversation it has the latest turns.
func beginOf(q Question, s tandem.Settings) transport.Begin {
	b := transport.Begin{ID: q.ID, Question: q.Text, Settings: s}
	b.ShareTitles = true
	for _, m := range Recent(q.History, transport.MaxTurns) {
		b.History = append(b.History, transport.Turn{Role: m.Role, Content: m.Content})
	}
	return b
}

// Recent returns the latest turns that a cloud can be told, at most the given number. If it leaves some out, the rest begins with
// one of the user, as many chat templates demand.
func Recent(history []chat.Message, turns int) []chat.Message {
	from, bytes := len(history), 0
	for from > max(0, len(history)-min(turns, transport.MaxTurns)) {
		m := history[from-1]
		if bytes += len(m.Role) + len(m.Content); bytes > MaxHistory {
			break
		}
		from--
	}
	for 0 < from && from < len(history) && history[from].Role != "user" {
		from++
	}
	return history[from:]
}

// questionOf reads a device's question and checks its settings as it would check a user's flags.
func questionOf(b transport.Begin) (Question, tandem.Settings, error) {
	if err := checkSettings(b.Settings); err != nil {
		return Question{}, tandem.Settings{}, err
	}
	if b.Lookahead == 0 {
		return Question{}, tandem.Settings{}, errors.New("lookahead 0: the device must choose one")
	}
	q := Question{ID: b.ID, Text: b.Question}
	for i, t := range b.History {
		if t.Role != "user" && t.Role != "assistant" {
			return Question{}, tandem.Settings{}, fmt.Errorf("turn %d has role %q: want user or assistant", i, t.Role)
		}
		q.History = append(q.History, chat.Message{Role: t.Role, Content: t.Content})
	}
	return q.composed(), b.Settings, nil
}

// checkSettings reports the first setting that is out of range or unknown.
func checkSettings(s tandem.Settings) error {
	_, err := weights(s)
	_, wrongForm := form(s)
	return errors.Join(s.Check(), sample.Params{Sampling: s.Sampling}.Validate(), err, wrongForm)
}

// FormOf returns a grammar, schema or pattern as Settings.Form has it, if it is one.
func FormOf(text string) (string, error) {
	s := tandem.Settings{Form: strings.TrimSpace(text) + "\n"}
	_, err := form(s)
	return s.Form, err
}

// form returns the grammar of answers, nil for no limit.
func form(s tandem.Settings) (*grammar.Grammar, error) {
	switch {
	case s.Form == "":
		return nil, nil
	case len(s.Form) > MaxForm:
		return nil, fmt.Errorf("the form has %d bytes: want at most %d", len(s.Form), MaxForm)
	case !strings.HasSuffix(s.Form, "\n"):
		return nil, errors.New("the form does not end with a line feed")
	}
	return grammar.Of(s.Form)
}

// weights parses how document weights follow the answer.
func weights(s tandem.Settings) (decoder.Weights, error) {
	if s.Weights == "" {
		return decoder.Weights{}, nil
	}
	return decoder.ParseWeights(s.Weights)
}

// pairConfig returns the configuration of the pair's machine on side self. A decoder with drafters may fill a pass with guesses;
// a span reader's own are no use there, since its passes are over before the answer begins.
func (l Local) pairConfig(s tandem.Settings, self tandem.Side) pair.Config {
	cfg := sharedPairConfig(s, self, l.Model)
	cfg.Past = l.Past.passPlanner()
	if l.Reader == nil && !l.Draft.None() {
		cfg.PassRows = cmp.Or(l.Rows, tandem.MaxRows)
	}
	return cfg
}

// sharedPairConfig returns the same without what only this side knows.
func sharedPairConfig(s tandem.Settings, self tandem.Side, m *model.Model) pair.Config {
	return pair.Config{
		Self:     self,
		Settings: s,
		Stop:     m.Tokenizer().EOGs(),
		Switch:   scheduler.Policy{Horizon: scheduler.DefaultHorizon},
		Vocab:    m.Tokenizer().Size(),
	}
}
