package chat

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tandem"
	"tandem/model/tokenizer"
)

// Labelled reports whether a template itself labels the system message as a text to answer from, as the built-in decoder's
// "Context: …" does.
func (t *Template) Labelled() bool {
	const mark = "PASSAGE"
	text, err := t.Render([]Message{{Role: "system", Content: mark}, {Role: "user", Content: "?"}})
	return err == nil && strings.Contains(text, "Context: "+mark)
}

// Escape breaks up the name of every control token in text, and every mark of a turn that the template spells with ordinary
// tokens, so that a document or a question cannot end its part of a prompt and continue as the system or the assistant. It
// cannot do so for a template whose marks are plain words, such as "Question:".
func (t *Template) Escape(tok *tokenizer.Tokenizer, text string) string {
	const gap, rounds = "\u200b", 16 // breaking up a name may reveal another that overlapped it
	for range rounds {
		before, done := text, map[tandem.Token]bool{}
		for _, id := range tok.Encode(text, tokenizer.Options{ParseSpecial: true}) {
			if done[id] || !tok.IsControl(id) && !t.marksTurn(tok.Text(id)) {
				continue
			}
			done[id] = true
			name := string(tok.Piece(id))
			if _, n := utf8.DecodeRuneInString(name); n < len(name) && !strings.Contains(name, gap) {
				text = strings.ReplaceAll(text, name, name[:n]+gap+name[n:])
			}
		}
		for _, mark := range t.marks() {
			text = strings.ReplaceAll(text, mark, mark[:1]+gap+mark[1:])
		}
		if text == before {
			break
		}
	}
	return text
}

// marksTurn reports whether a token begins or ends a turn though its vocabulary lists it as text. It goes by the name, or by
// the name's occurrence in the template; since that also holds words and line ends, the name must be in brackets.
func (t *Template) marksTurn(name string) bool {
	return len(name) > 2 && (name[0] == '<' || name[0] == '[') &&
		(turnMark.MatchString(name) || name[0] == '<' && name[len(name)-1] == '>' && strings.Contains(t.source, name))
}

// otherMarks are the usual marks of turns without bars.
const otherMarks = `\[/?[A-Z_]{3,}\]|</?\w+_turn>|<</?SYS>>`

var (
	// turnMark matches the usual names of such tokens: <|im_start|>, [INST], <start_of_turn>.
	turnMark = regexp.MustCompile(`^(<[|｜].*[|｜]>|` + otherMarks + `)$`)
	// turnMarkIn matches them within a text.
	turnMarkIn = regexp.MustCompile(`<[|｜][^|｜\n]{1,64}[|｜]>|` + otherMarks)
)

// findMarks returns the marks of turns in the template's source, and those that it makes of the names of roles.
func (t *Template) findMarks() []string {
	text := t.source
	for _, roles := range [][]string{{"system", "user", "assistant", "user"}, {"user", "assistant", "user"}} {
		var said []Message
		for _, role := range roles {
			said = append(said, Message{Role: role, Content: "x"})
		}
		prompt, _ := t.Render(said) // a template may refuse the role system
		text += "\n" + prompt
	}
	marks := turnMarkIn.FindAllString(text, -1)
	slices.Sort(marks)
	return slices.Compact(marks)
}
