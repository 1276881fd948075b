package node

import (
	"fmt"

	"tandem"
	"tandem/transport"
)

// Fits returns why a question would be refused for its memory, however long it waits, or nil.
func (c *Cloud) Fits(q Question, s tandem.Settings) error {
	c.boundDocuments(&s)
	return c.memory.neverFits(c.reserves(q, s))
}

// needs returns how many bytes of keys and values an answer may need. What is to be refused needs none.
func (c *Cloud) needs(begin transport.Begin) int64 {
	q, s, err := questionOf(begin)
	if err != nil || c.checkLimits(begin.Settings) != nil {
		return 0
	}
	c.boundTokens(&s)
	return c.reserves(q, s)
}

// reserves returns how many bytes of keys and values an answer may need, 0 if nothing bounds them.
func (c *Cloud) reserves(q Question, s tandem.Settings) int64 {
	switch {
	case c.KVMemory <= 0 || s.Want == tandem.WantText:
		return 0
	case s.Want == tandem.WantKV: // a cache for each passage, its bytes, and all bytes together
		s.Contexts = 0
		return 3 * c.Local.keysAndValues(q, s)
	}
	return c.Local.keysAndValues(q, s)
}

// boundDocuments lowers the number of passages that a device asks for to what the cloud reads.
func (c *Cloud) boundDocuments(s *tandem.Settings) {
	if c.Documents > 0 {
		s.Documents, s.Contexts = min(s.Documents, c.Documents), min(s.Contexts, c.Documents)
	}
}

// boundTokens lowers the length of an answer that a device asks for to the cloud's limit. It returns the limit if that is lower, 0 if
// it is not.
func (c *Cloud) boundTokens(s *tandem.Settings) int {
	if c.Tokens <= 0 || s.MaxTokens <= c.Tokens {
		return 0
	}
	s.MaxTokens = c.Tokens
	return c.Tokens
}

// checkLimits returns why the cloud does not do what a device asks for, or nil. A device that asks for drafts learns the cloud's
// limit (transport.Ready); the baselines do not.
func (c *Cloud) checkLimits(s tandem.Settings) error {
	if s.Want != tandem.WantDrafts && c.boundTokens(&s) > 0 {
		return fmt.Errorf("it takes part in answers of at most %d tokens", c.Tokens)
	}
	return nil
}
