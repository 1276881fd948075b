package cli

import "regexp"

var refusal = regexp.MustCompile(`(?i)\b(unknown|not known|(do|does) not (know|say|mention)|don't know|cannot be answered|no information|not (mentioned|stated|provided|specified))\b`)

// Refused reports whether an answer, or a part of it, says that it does not know.
func Refused(answer string) bool { return refusal.MatchString(answer) }
