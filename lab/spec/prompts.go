package spec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tandem/examples"
	"tandem/model/chat"
	"tandem/models"
)

// Tasks are the tasks of Prompts (sd.npu §5.1).
var Tasks = []string{"summary", "rag", "ui", "reply"}

// Prompt is a request about a text. Only the text may be cut.
type Prompt struct {
	Context string
	Request string
	Cut     CutRule
	Answer  string // a reference that someone wrote, or empty
}

// CutRule says how to cut a text that is too long.
type CutRule int

// The rules.
const (
	AtSentence CutRule = iota // drop the end, after a sentence if one fits, otherwise after a word
	AtLine                    // drop the last lines
	Oldest                    // drop the first lines
)

// Messages returns the prompt for a chat template. A template that labels contexts (chat.Template.Labelled) gets the text as the
// system message. Any other gets the text and the request as one message from the user.
func (p Prompt) Messages(labelled bool) []chat.Message {
	switch {
	case p.Context == "":
		return []chat.Message{{Role: "user", Content: p.Request}}
	case labelled:
		return []chat.Message{{Role: "system", Content: p.Context}, {Role: "user", Content: p.Request}}
	}
	return []chat.Message{{Role: "user", Content: p.Context + "\n\n" + p.Request}}
}

// Fit returns the prompt with the longest context that fits, and whether it had to be cut.
func (p Prompt) Fit(fits func(Prompt) (bool, error)) (Prompt, bool, error) {
	ok, err := fits(p)
	if ok || err != nil {
		return p, false, err
	}
	for _, places := range p.places() {
		best := p
		lo, hi := 0, len(places) // places[:lo] fit
		for lo < hi && err == nil {
			mid := (lo + hi) / 2
			try := p
			if p.Cut == Oldest {
				try.Context = p.Context[places[mid]:]
			} else {
				try.Context = p.Context[:places[mid]]
			}
			if ok, err = fits(try); ok {
				best, lo = try, mid+1
			} else {
				hi = mid
			}
		}
		if lo > 0 || err != nil {
			return best, true, err
		}
	}
	p.Context = ""
	return p, true, nil
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?]['"’”)]*\s`)
	wordEnd     = regexp.MustCompile(`\S\s`)
	lineEnd     = regexp.MustCompile(`\S\n`)
)

// places returns where the context may be cut: first the better places, then the others, each by the length that remains.
func (p Prompt) places() (out [][]int) {
	ends := []*regexp.Regexp{sentenceEnd, wordEnd}
	if p.Cut != AtSentence {
		ends = []*regexp.Regexp{lineEnd}
	}
	for _, end := range ends {
		var places []int
		for _, at := range end.FindAllStringIndex(p.Context, -1) {
			if p.Cut == Oldest {
				places = append(places, at[1])
			} else {
				places = append(places, at[1]-1)
			}
		}
		if p.Cut == Oldest {
			slices.Reverse(places)
		}
		out = append(out, places)
	}
	return out
}

// trimmed returns a text without spaces around its lines and without blank lines at its ends.
func trimmed(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.Join(lines, "\n")
}

// articlePrompt asks for a summary of a text.
func articlePrompt(text string) Prompt {
	return Prompt{Context: trimmed(strings.TrimPrefix(text, "Summarize: ")), Request: "Summarize the text in two or three sentences."}
}

// ragPrompt takes the last line as a question about the lines before it.
func ragPrompt(text string) Prompt {
	text = trimmed(text)
	at := strings.LastIndexByte(text, '\n')
	return Prompt{Context: trimmed(text[:at+1]), Request: text[at+1:]}
}

// screenPrompt asks for the next element of a screen to use. history holds a step on each line; the last two are shown.
func screenPrompt(task, history, state string) Prompt {
	var steps []string
	for _, l := range strings.Split(trimmed(history), "\n") {
		steps = append(steps, strings.TrimSuffix(strings.TrimPrefix(l, "- "), "."))
	}
	steps = steps[max(0, len(steps)-2):]
	return Prompt{Context: trimmed(state), Cut: AtLine,
		Request: fmt.Sprintf("Task: %s. Done: %s. Which element is used next, and how?", strings.TrimSuffix(trimmed(task), "."), strings.Join(steps, "; "))}
}

// Prompts returns the prompts of a task. They come from the folder data, which holds specbench/questions.jsonl (Spec-Bench)
// and ui/tasks.json (AutoDroid). If data is empty, they come from the sample documents and a generator of screens. Replies are
// always to the conversations that ship with the program.
func Prompts(task, data string) ([]Prompt, error) {
	switch {
	case task == "reply":
		return conversations()
	case task == "answers":
		return answerPrompts()
	case data != "" && task == "summary":
		return specBench(filepath.Join(data, "specbench", "questions.jsonl"), "summarization", articlePrompt)
	case data != "" && task == "rag":
		return specBench(filepath.Join(data, "specbench", "questions.jsonl"), "rag", ragPrompt)
	case data != "" && task == "ui":
		return screensOf(filepath.Join(data, "ui", "tasks.json"))
	case task == "summary":
		return sampleSummaries()
	case task == "rag":
		return sampleQuestions()
	case task == "ui":
		return screens(), nil
	}
	return nil, fmt.Errorf("unknown task %q: use one of %s", task, strings.Join(Tasks, ", "))
}

// maxInputs is the most that is read of a file, in bytes.
const maxInputs = 64 << 20

// ReadPrompts reads prompts as JSON lines with "prompt" and, for prompts about a text, "context".
func ReadPrompts(r io.Reader) ([]Prompt, error) {
	var out []Prompt
	lines := bufio.NewScanner(io.LimitReader(r, maxInputs))
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var in struct{ Prompt, Context, Answer string }
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil || in.Prompt == "" {
			return nil, fmt.Errorf(`line %d: want {"prompt": "…"}, and "context" if it is about a text`, n)
		}
		out = append(out, Prompt{Context: in.Context, Request: in.Prompt, Answer: in.Answer})
	}
	return out, lines.Err()
}

// specBench reads the prompts of one of Spec-Bench's categories.
func specBench(path, category string, prompt func(string) Prompt) ([]Prompt, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Prompt
	lines := bufio.NewScanner(io.LimitReader(f, maxInputs))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var q struct {
			Category  string
			Turns     []string
			Reference []json.RawMessage // texts, or lists of texts that are each right
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if q.Category == category && len(q.Turns) > 0 {
			p := prompt(q.Turns[0])
			p.Answer = reference(q.Reference)
			out = append(out, p)
		}
	}
	return out, lines.Err()
}

// reference is the first of a question's references; empty if there is none.
func reference(list []json.RawMessage) (text string) {
	if len(list) == 0 {
		return ""
	}
	var several []string
	if json.Unmarshal(list[0], &several) == nil && len(several) > 0 {
		return trimmed(several[0])
	}
	if json.Unmarshal(list[0], &text) != nil {
		return ""
	}
	return trimmed(text)
}

// lastStep returns the last line of a history of steps.
func lastStep(history string) string {
	lines := strings.Split(trimmed(history), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "- ")
}

// screensOf reads AutoDroid's tasks: a prompt for every step of each.
func screensOf(path string) ([]Prompt, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var apps map[string]json.RawMessage
	if err := json.Unmarshal(b, &apps); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	type step struct{ History, State string }
	type todo struct {
		Task    string
		Profile []step
	}
	var out []Prompt
	names := make([]string, 0, len(apps))
	for name := range apps {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var tasks map[string]todo
		if err := json.Unmarshal(apps[name], &tasks); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, name, err)
		}
		ids := make([]string, 0, len(tasks))
		for id := range tasks {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			steps := tasks[id].Profile
			for i, s := range steps {
				p := screenPrompt(tasks[id].Task, s.History, s.State)
				if i+1 < len(steps) { // the step that was taken
					p.Answer = lastStep(steps[i+1].History)
				}
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// sampleSummaries asks for a summary of each sample document.
func sampleSummaries() (out []Prompt, err error) {
	for _, corpus := range []fs.FS{examples.Notes, examples.Public} {
		err = fs.WalkDir(corpus, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(corpus, path)
			out = append(out, articlePrompt(string(b)))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("sample documents: %w", err)
		}
	}
	return out, nil
}

// sampleQuestions puts each sample question after the documents that hold its values.
func sampleQuestions() (out []Prompt, err error) {
	docs, err := sampleSummaries()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(examples.Questions)) {
		var q struct {
			Question string
			Values   []string
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			return nil, fmt.Errorf("sample questions: %w", err)
		}
		var context []string
		for _, d := range docs {
			if slices.ContainsFunc(q.Values, func(v string) bool { return strings.Contains(d.Context, v) }) && len(context) < 3 {
				context = append(context, d.Context)
			}
		}
		out = append(out, Prompt{Context: strings.Join(context, "\n"), Request: q.Question})
	}
	return out, nil
}

// screens generates screens of invented apps, each with a task.
func screens() (out []Prompt) {
	r := rand.New(rand.NewPCG(6, 1))
	labels := []string{"Search", "Sort by", "Settings", "About", "Contacts", "Calendar", "Alarm", "New note", "Share", "Delete", "Rename", "Archive", "Go back", "More options", "Dark theme", "Language", "Backup", "Sign out", "Add photo", "Send"}
	kinds := []string{"button", "checkbox", "input"}
	for range 40 {
		order := r.Perm(len(labels))[:6+r.IntN(8)]
		var lines []string
		for i, l := range order {
			lines = append(lines, fmt.Sprintf("<%s id=%d>%s</%[1]s>", kinds[r.IntN(len(kinds))], i, labels[l]))
		}
		out = append(out, screenPrompt("Open "+labels[order[r.IntN(len(order))]], "\n- Start the app.", strings.Join(lines, "\n")))
	}
	return out
}

// conversations returns the conversations that ship with the program.
func conversations() ([]Prompt, error) {
	out, err := ReadPrompts(bytes.NewReader(models.Replies))
	if err != nil {
		return nil, fmt.Errorf("sample conversations: %w", err)
	}
	for i := range out {
		out[i].Cut = Oldest
	}
	return out, nil
}

// answerPrompts are the held-out questions with one part, each about the passage that answers it.
func answerPrompts() (list []Prompt, err error) {
	lines := bufio.NewScanner(bytes.NewReader(models.Eval))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var x struct {
			Question      string
			Values        []string
			Device, Cloud []struct{ Title, Text string }
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("held-out questions: %w", err)
		}
		if len(x.Values) != 1 {
			continue
		}
		for _, p := range append(x.Device, x.Cloud...) {
			text := strings.TrimSpace(p.Title + "\n" + p.Text)
			if strings.Contains(strings.ToLower(text), strings.ToLower(x.Values[0])) {
				list = append(list, Prompt{Context: text, Request: x.Question})
				break
			}
		}
	}
	return list, lines.Err()
}
