// Package ground limits what a context may write: words of the question, a closed list of function words, and spans of the
// passages that it reads. An answer cannot hold a word from elsewhere, whatever the model.
//
// # Words
//
// Letters, digits, combining marks and symbols other than those of mathematics make up words. Between two of them a hyphen,
// apostrophe, full stop, underscore, slash, "&" or "@" belongs to the word, and between two digits a comma, colon or
// no-break space does: "9:40", "1,823", "14.05.2026", "tumbral-5827" and "info@example.org" are one word each. So is a
// number with its sign, "-5". Only "'s" may be taken from the end of a word, or be added to it.
//
// # Texts
//
// A text is a sequence of units between white space and punctuation marks:
//
//   - a word of the question or of the earlier conversation, whose first letter may change its case;
//   - a word of the list (Words), whose first letter may be a capital;
//   - a span of a passage, byte for byte, from the beginning of a word to the end of one. It does not end between a number
//     and its percent sign or currency. It may write a blank for white space.
//
// White space separates units. Two spans need another unit or a punctuation mark between them, so that a first name from one
// place cannot precede a last name from another. Marks that stand for something ("=", "|", a minus sign before a
// number) come only within spans.
//
// # Tokens
//
// A token is allowed after an answer if the answer with the token is the beginning of a text. All is defined on bytes,
// so tokens may begin and end within characters and words. The state of an answer is the set of its parses: each is a place
// in a passage, in the trie of words, or between units. The set of places in the passages is what the state of a suffix
// automaton stands for. The places themselves are kept, since a span must begin and end at the ends of words at the same
// place, which a suffix automaton forgets; a context holds few enough.
//
// # Pairs
//
// Other contexts, here and on the other side, may write what this one cannot. Then this one is lost: it has no say until
// the next white space, because it does not know where the word ends. The word began with a token of some context that is
// not lost, so at least one context on one side always continues.
package ground
