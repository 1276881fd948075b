package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/pair"
	"tandem/transport"
)

// transcript is the answer as it is shown, recorded and, in the end, completed.
type transcript struct {
	answer        Answer
	emit          func(Token)
	speller       speller
	record        *recorder     // nil for none
	parts         [2][]sidePart // where each side drew the sentences from
	sourcesKnown  bool          // the cloud has said which documents it used
	wantsCloud    bool          // a cloud is to take part
	questionParts int           // the parts of the question that a span reader answers; 0 if a model writes the answer
}

// speller turns tokens into text: a *tokenizer.Stream, or silence in tests.
type speller interface {
	Write(tandem.Token) string
	Flush() string
}

// lastWordsWait is the shortest wait for the cloud's last message.
const lastWordsWait = 500 * time.Millisecond

// show emits a token.
func (a *deviceAnswer) show(e pair.Emit) {
	t := Token{ID: e.Token, Text: a.speller.Write(e.Token), By: e.By, Alone: e.Alone, Own: float64(e.Own) / tandem.Mass, At: time.Since(a.start)}
	a.answer.Tokens = append(a.answer.Tokens, t)
	a.emit(t)
}

// remark adds a line for the person who asked.
func (a *deviceAnswer) remark(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	a.log.Info(line)
	a.answer.Remarks = append(a.answer.Remarks, line)
}

// ErrEnough is wrapped by the cause of the end of an answer's context if the answer is long enough for who asked, and so has not
// failed.
var ErrEnough = errors.New("the answer is long enough")

// lastWord is why the device ends the exchange.
func (a *deviceAnswer) lastWord() string {
	if errors.Is(a.failure, ErrEnough) {
		return "enough"
	}
	return a.answer.Reason.String()
}

// finish ends the exchange and completes the answer.
func (a *deviceAnswer) finish() Answer {
	a.answer.Took = time.Since(a.start)
	a.answer.Pair = a.machine.Stats()
	a.past.learn(a.machine)
	learned := a.machine.Learned()
	if costs := learned.Costs(4); len(costs) == 4 {
		a.measured.fourRows = costs[3] / costs[0]
	}
	a.answer.Text = textOf(a.answer.Tokens, a.speller)
	if a.answer.Reason == pair.ReasonStop && min(a.questionParts, a.answer.MaxTokens) > 0 && isAbridged(a.answer.Tokens, a.questionParts, a.answer.MaxTokens) {
		a.answer.Reason = pair.ReasonLength
	}
	a.record.end(a.answer)
	if a.exchange != nil {
		if err := a.exchange.Send(transport.End{Reason: a.lastWord()}); err != nil {
			a.log.Debug("send", "error", err)
		}
		if a.joined { // otherwise the cloud has nothing to say of the answer
			a.awaitSources()
		}
		a.exchange.Close()
	}
	if !a.sourcesKnown && !a.alone && a.failure == nil && a.ctx.Err() == nil && a.answer.Pair.Together > 0 {
		a.remark("the cloud was lost at the end of the answer, before it said where its part is from")
	}
	a.dropOther("the answer is complete")
	a.answer.Traffic = a.traffic()
	a.answer.Degraded = a.wantsCloud && a.answer.Pair.Alone > 0
	a.answer.Parts = cite(a.answer.Tokens, a.parts[tandem.Device], a.parts[tandem.Cloud])
	if slices.ContainsFunc(a.answer.Parts, func(p Part) bool { return p.Overruled && len(p.Otherwise) == 0 }) {
		a.remark("the cloud's answer contradicts what your own documents seem to say; --local-only shows their answer")
	}
	a.stop()
	return a.answer
}

// textOf returns the text of all tokens, which s has spelled. The bytes of an unfinished character at its end become the last
// token's.
func textOf(tokens []Token, s speller) string {
	if tail := s.Flush(); tail != "" && len(tokens) > 0 {
		tokens[len(tokens)-1].Text += tail
	}
	var text strings.Builder
	for _, t := range tokens {
		text.WriteString(t.Text)
	}
	return strings.TrimSpace(text.String())
}

// sources records which documents the cloud used.
func (t *transcript) sources(m transport.Sources) {
	t.answer.Documents[tandem.Cloud], t.parts[tandem.Cloud], t.sourcesKnown = sourcesOf(m.Sources), partsOf(m), true
}

// awaitSources waits for the cloud's list of the documents that it used.
func (a *deviceAnswer) awaitSources() {
	wait := max(lastWordsWait, 4*a.conn.RTT())
	if a.conn.Stats().RTT == 0 && a.answer.Pair.Together > 0 { // not measured yet; but what the cloud has said took a round trip
		wait = max(wait, min(time.Since(a.start)+lastWordsWait, openWithin))
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for {
		select {
		case <-timeout.C:
			return
		case <-a.line.Done():
			return
		case in := <-a.inbox:
			switch in := in.(type) {
			case received:
				for _, m := range in.messages {
					if m, ok := m.(transport.Sources); ok && in.exchange == a.exchange {
						a.sources(m)
						return
					}
				}
			case exchangeEnded:
				if in.exchange == a.exchange {
					return
				}
			}
		}
	}
}
