package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tandem"
	"tandem/model/tokenizer"
)

// probes are texts of which both sides must make the same tokens.
var probes = []string{
	"The harbour museum opens at 9:30; a ticket costs 12.50, or 8 for children.",
	"Das Boot liegt an der Brücke.\n\n  if (x <= 10) { return f(x); }",
}

// probe compares the server's vocabulary with the file's, and finds out how many tokens of a row the server returns.
func (s *Server) probe(ctx context.Context) error {
	vocab, maxPrompt, err := s.whenReady(ctx)
	if err != nil {
		return err
	}
	tok := s.model.Tokenizer()
	if vocab > 0 && vocab != tok.Size() {
		return fmt.Errorf("its model has a vocabulary of %d tokens, and the file of --model one of %d: give the file that the server runs", vocab, tok.Size())
	}
	if maxPrompt > 0 {
		s.model.LimitContext(maxPrompt)
	}
	for _, text := range probes {
		theirs, err := s.dialect.tokenize(ctx, s.client, text)
		if err != nil {
			return err
		}
		ours := tok.Encode(text, tokenizer.Options{})
		if !slices.EqualFunc(ours, theirs, func(a tandem.Token, b int64) bool { return int64(a) == b }) {
			return fmt.Errorf("its tokens of %q are %d, and those of the file of --model %d: give the file that the server runs", text, theirs, ours)
		}
	}
	for _, t := range sample(tok, 16) {
		theirs, err := s.dialect.detokenize(ctx, s.client, t)
		if err != nil {
			return err
		}
		if ours := string(tok.Piece(t)); strings.TrimSpace(ours) != strings.TrimSpace(theirs) {
			return fmt.Errorf("its token %d is %.80q, and that of the file of --model %q: give the file that the server runs", t, theirs, ours)
		}
	}
	return s.probeRows(ctx)
}

// A server that loads its model is asked again this often, and for so long.
const (
	loadingPause = time.Second
	loadingFor   = 2 * time.Minute
)

// whenReady describes the server as soon as it has loaded its model.
func (s *Server) whenReady(ctx context.Context) (vocab, maxPrompt int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, loadingFor, errors.New("it is still loading its model"))
	defer cancel()
	for {
		vocab, maxPrompt, err = s.dialect.describe(ctx, s.client)
		var refused *statusError
		if !errors.As(err, &refused) || refused.status != 503 {
			return vocab, maxPrompt, err
		}
		if err := pause(ctx, loadingPause); err != nil {
			return 0, 0, err
		}
	}
}

// allowed matches vLLM's error that names the largest number of tokens of a row that it returns (--max-logprobs).
var allowed = regexp.MustCompile(`greater than max allowed: (\d{1,4})\b`)

// probeRows requests two rows, with fewer tokens if the server returns fewer.
func (s *Server) probeRows(ctx context.Context) error {
	tok := s.model.Tokenizer()
	if l, ok := s.dialect.(*llamaServer); ok {
		l.drawn = letter(tok)
	}
	s.top = min(topTokens, tok.Size())
	prompts := [][]tandem.Token{tok.Encode(probes[0], tokenizer.Options{AddSpecial: true}), tok.Encode(probes[1], tokenizer.Options{AddSpecial: true})}
	rows, err := s.complete(ctx, prompts)
	var refused *statusError
	if errors.As(err, &refused) && refused.status == 400 {
		if m := allowed.FindStringSubmatch(refused.text); m != nil {
			if n, _ := strconv.Atoi(m[1]); n > 0 && n < s.top {
				s.top = n
				s.log.Warn("the server tells few tokens of a row: start vLLM with --max-logprobs 256", "server", s.String(), "tokens", n)
				rows, err = s.complete(ctx, prompts)
			}
		}
	}
	if err != nil {
		return err
	}
	if l, ok := s.dialect.(*llamaServer); ok && rows[0].certain(l.drawn) && rows[1].certain(l.drawn) {
		return errors.New("it applies logit_bias to the probabilities that it returns: this is not llama.cpp's llama-server")
	}
	s.sayPoor(min(rows[0].covered, rows[1].covered))
	s.log.Info("rows are computed elsewhere", "server", s.String(), "tokens", s.top, "context", s.model.Config().Context,
		"covered", (rows[0].covered+rows[1].covered)/2)
	return nil
}

// certain reports whether a row is of nothing but one token.
func (r row) certain(t tandem.Token) bool {
	i, ok := slices.BinarySearch(r.ids, t)
	return ok && r.logs[i] > float32(math.Log(0.999))
}

// sample returns about n tokens that stand for a text, from all over the vocabulary, the last such token among them.
func sample(tok *tokenizer.Tokenizer, n int) (list []tandem.Token) {
	plain := func(t tandem.Token) bool {
		piece := string(tok.Piece(t))
		text := strings.TrimSpace(piece)
		is := func(text string) bool { return slices.Equal(tok.Encode(text, tokenizer.Options{}), []tandem.Token{t}) }
		return text != "" && utf8.ValidString(text) && (is(piece) || is(text)) // unused tokens stand for none
	}
	step := max(1, tok.Size()/n)
	for end := tok.Size(); end > 0; end -= step {
		for t := end - 1; t >= max(0, end-step); t-- {
			if plain(tandem.Token(t)) {
				list = append(list, tandem.Token(t))
				break
			}
		}
	}
	return list
}

// letter returns a token that is one ASCII letter, or -1.
func letter(tok *tokenizer.Tokenizer) tandem.Token {
	for t := range tok.Size() {
		if p := tok.Piece(tandem.Token(t)); len(p) == 1 && p[0] >= 'a' && p[0] <= 'z' && !tok.IsControl(tandem.Token(t)) {
			return tandem.Token(t)
		}
	}
	return -1
}
