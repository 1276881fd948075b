// Package refusal recognises answers that say that they do not know.
package refusal

import "regexp"

var refusal = regexp.MustCompile(`(?i)\b(unknown|not known|(do|does) not (know|say|mention)|don't know|cannot be answered|no information|not (mentioned|stated|provided|specified))\b`)

// In reports whether an answer, or a part of it, says that it does not know.
func In(answer string) bool { return refusal.MatchString(answer) }
