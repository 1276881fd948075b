package api

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"tandem/internal/refusal"
	"tandem/node"
)

// answerQuery is run for a query of a job. Below an answer that is not known it writes what comes close, since many clients show
// only the text.
func (s *Server) answerQuery(ctx context.Context, j *job, i int, emit func(text string, tokens []node.Token), record func(node.Line)) (outcome, error) {
	q := j.queries[i]
	o, err := s.run(ctx, q, j.Stop, emit, record)
	unwanted := j.Tandem.Nearest != nil && !*j.Tandem.Nearest
	if err != nil || unwanted || j.logprobs || len(j.Stop) > 0 || q.Settings.Form != "" || o.finish != "stop" {
		return o, err
	}
	if lines := s.nearest(o.answer); len(lines) > 0 {
		more := "\n\n" + nearestHeading + "\n" + strings.Join(lines, "\n")
		emit(more, nil)
		o.text += more
	}
	return o, nil
}

// nearestHeading stands above the passages that come close to a question.
const nearestHeading = "Nearest:"

// nearest returns lines that show what comes close to the parts that a span reader does not know.
func (s *Server) nearest(a node.Answer) (lines []string) {
	if s.cfg.Nearest == nil || !s.cfg.Pointing {
		return nil
	}
	sides := s.cfg.Answers.Sides()
	parts, _ := Parts(a, true)
	for _, p := range parts {
		if !p.Unknown {
			continue
		}
		p.Citations = slices.DeleteFunc(p.Citations, func(c Citation) bool { return c.Text == "" })
		for i := range p.Citations {
			if c := &p.Citations[i]; len(sides.Clouds) == 0 && c.Title != "" {
				c.Side = "" // there is only one
			}
		}
		for _, line := range s.cfg.Nearest(p) {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// withoutNearest returns an answer that a client sends back without what came close: that is no answer, and quotes documents that
// a cloud must not see.
func withoutNearest(said string) string {
	if at := nearestBelow.FindStringIndex(said); at != nil && refusal.In(said[:at[0]]) {
		return said[:at[0]]
	}
	return said
}

var nearestBelow = regexp.MustCompile(`\s*\n\s*` + nearestHeading + `\s*\n`)
