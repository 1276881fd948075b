package documents

import (
	"context"
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"

	"tandem/internal/lazyregexp"
	"tandem/retrieval/internal/english"
	"tandem/retrieval/internal/textline"
)

// Where the text of subtitles is divided.
const (
	subtitlePart  = 120 // seconds after which a heading tells the time, before the next paragraph
	subtitlePause = 4   // seconds of silence that end a paragraph
	subtitleFull  = 60  // words after which a sentence ends a paragraph,
	subtitleMost  = 160 // and after which anything does
)

// parseSubtitles reads what is said in a film (.srt, .vtt), without the times and numbers of its pieces, which break sentences
// anywhere. Headings tell the time every few minutes. Another speaker begins another paragraph.
func parseSubtitles(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	s := subtitles{}
	for i := range lines {
		if ctx.Err() != nil {
			return Document{}, ctx.Err()
		}
		s.line(lines, i)
	}
	s.endCue()
	s.end()
	if !s.timed {
		return Document{}, errors.New("no subtitles, despite its name (it has no line such as 00:00:01,000 --> 00:00:04,000)")
	}
	return s.doc, nil
}

// subtitles makes a document of the lines of subtitles.
type subtitles struct {
	doc   Document
	timed bool // a time has been read
	aside bool // in a remark, or in what says how the text looks

	cue  []string // the lines of the piece that is being read
	from int      // the seconds of its start
	to   int      // and its end
	last string   // the last line of the piece before, which some programs repeat

	para    []string // of the paragraph that has not ended
	words   int      // in it
	begun   int      // the second in which it begins
	spoken  int      // the second in which its last piece ends
	speaker string
	heading int // the second that the last heading tells
}

// cueTimes matches the line with the times of a piece. Its groups are the hours, minutes and seconds of its start and its end.
var cueTimes = lazyregexp.New(`^(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.]\d{1,3}\s+-->\s+(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.]\d{1,3}(?:\s|$)`)

// line reads line i.
func (s *subtitles) line(lines []string, i int) {
	line := strings.TrimSpace(lines[i])
	if m := cueTimes.FindStringSubmatch(line); m != nil {
		s.endCue()
		s.timed, s.aside = true, false
		s.from, s.to = seconds(m[1:4]), seconds(m[4:7])
		return
	}
	apart := i == 0 || strings.TrimSpace(lines[i-1]) == ""
	first := firstWord(line)
	switch {
	case line == "":
		s.aside = false
	case apart && (first == "NOTE" || first == "STYLE" || first == "REGION"):
		s.aside = true
	case s.aside, !s.timed:
	case i+1 < len(lines) && (apart || strings.Trim(line, "0123456789") == "") && cueTimes.MatchString(strings.TrimSpace(lines[i+1])): // the piece's number or name
	default:
		s.cue = append(s.cue, line)
	}
}

// seconds returns the time in hours, minutes and seconds.
func seconds(clock []string) (n int) {
	for _, part := range clock {
		of, _ := strconv.Atoi(part) // no hours are 0
		n = n*60 + of
	}
	return n
}

// Marks of subtitles: how they look, and who speaks.
var (
	subtitleTag   = lazyregexp.New(`<[^<>]{0,200}>|\{\\[^{}]{0,200}\}`)
	subtitleVoice = lazyregexp.New(`^<v(?:\.[^ <>]{1,40})? ([^<>]{1,60})>`)
)

// endCue adds the lines of the piece that ends to the paragraph.
func (s *subtitles) endCue() {
	for i, line := range s.cue {
		speaker := ""
		if m := subtitleVoice.FindStringSubmatch(line); m != nil {
			speaker = english.Collapse(m[1])
		}
		line = english.Collapse(html.UnescapeString(subtitleTag.ReplaceAllString(line, "")))
		said, dashed := strings.CutPrefix(strings.TrimPrefix(line, "–"), "-")
		said = strings.TrimSpace(strings.TrimLeft(said, "> "))
		repeats := i == 0 && line == s.last
		if i == len(s.cue)-1 {
			s.last = line
		}
		if said != "" && !repeats {
			s.say(said, speaker, dashed && i > 0 || strings.HasPrefix(line, ">>"))
		}
	}
	s.cue = nil
}

// say adds a line to the paragraph, or begins another one with it.
func (s *subtitles) say(line, speaker string, other bool) {
	if n := len(s.para); n > 0 {
		ends := textline.EndsSentence(s.para[n-1])
		if other || speaker != "" && speaker != s.speaker || s.from-s.spoken >= subtitlePause || s.words >= subtitleFull && ends || s.words >= subtitleMost {
			s.end()
		}
	}
	if len(s.para) == 0 {
		s.begun = s.from
		if speaker != "" {
			line = speaker + ": " + line
		}
	}
	if speaker != "" {
		s.speaker = speaker
	}
	s.para, s.words, s.spoken = append(s.para, line), s.words+english.CountWords(line), s.to
}

// end ends the paragraph, below a heading if the last one is long ago.
func (s *subtitles) end() {
	if len(s.para) == 0 {
		return
	}
	if first := len(s.doc.Blocks) == 0; first && s.begun >= subtitlePart || !first && s.begun-s.heading >= subtitlePart {
		s.heading = s.begun
		s.doc.AddHeading(LowestLevel, "At "+clock(s.begun))
	}
	s.doc.Add(Paragraph, strings.Join(s.para, " "))
	s.para, s.words = nil, 0
}

// clock writes seconds as players do: 4:05, 1:04:05.
func clock(n int) string {
	if n < 3600 {
		return fmt.Sprintf("%d:%02d", n/60, n%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
}
