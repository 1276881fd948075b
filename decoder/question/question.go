// Package question understands questions as people type them: which parts to answer one by one, and what a follow-up leaves
// out. It knows patterns of English, no grammar, and no document. Words that it does not understand stay as they are.
package question

import "tandem/model/chat"

// Asked is a question in its conversation.
type Asked struct {
	Text    string
	History []chat.Message // earlier turns, oldest first
}

// Limits of a question, which may come from the other side.
const (
	maxClauses = 8
	maxAsked   = 4096     // bytes of a question that is cut into parts or completed, and of what it is completed to
	maxPlaces  = 128      // places at which a question might be cut, each of which takes a look at all before it
	maxTalk    = 32 << 10 // bytes of the turns that a follow-up is completed from: each is read several times
)
