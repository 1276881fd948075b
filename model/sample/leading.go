package sample

import "strings"

// LeadingSpace cuts spaces and line breaks off the beginning of a text that comes in pieces: some tokenizers begin each text with
// a space.
type LeadingSpace struct{ begun bool }

// Cut returns a piece of the text, without what precedes the first character that is shown.
func (l *LeadingSpace) Cut(piece string) string {
	if !l.begun {
		piece = strings.TrimLeft(piece, " \n")
		l.begun = piece != ""
	}
	return piece
}

// Keep lets the whole text stand as it is: one in a form has the spaces that the form demands.
func (l *LeadingSpace) Keep() { l.begun = true }

// Begun reports whether anything but leading space has come.
func (l *LeadingSpace) Begun() bool { return l.begun }
