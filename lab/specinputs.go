package lab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/examples"
)

// SpecTasks are the tasks that SpecPrompts knows (sd.npu §5.1).
var SpecTasks = []string{"summary", "rag", "ui", "reply"}

// SpecPrompts returns prompts of a task. With data, a folder that holds specbench/questions.jsonl (Spec-Bench) and
// ui/tasks.json (AutoDroid), they come from there; without, from the sample documents and from generators of
// screens and conversations, which also give the conversations that replies are written to.
func SpecPrompts(task, data string) ([]string, error) {
	switch {
	case task == "reply":
		return conversations(), nil
	case data != "" && (task == "summary" || task == "rag"):
		return specBench(filepath.Join(data, "specbench", "questions.jsonl"), map[string]string{"summary": "summarization", "rag": "rag"}[task])
	case data != "" && task == "ui":
		return screensOf(filepath.Join(data, "ui", "tasks.json"))
	case task == "summary":
		return sampleSummaries()
	case task == "rag":
		return sampleQuestions()
	case task == "ui":
		return screens(), nil
	}
	return nil, fmt.Errorf("task %q is not known: use one of %s", task, strings.Join(SpecTasks, ", "))
}

// maxInputs bounds what is read of a file.
const maxInputs = 64 << 20

// ReadSpecPrompts reads prompts, JSON lines with "prompt".
func ReadSpecPrompts(r io.Reader) ([]string, error) {
	var out []string
	lines := bufio.NewScanner(io.LimitReader(r, maxInputs))
	lines.Buffer(nil, 4<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var in struct{ Prompt string }
		if err := json.Unmarshal(lines.Bytes(), &in); err != nil || in.Prompt == "" {
			return nil, fmt.Errorf(`line %d: want {"prompt": "…"}`, n)
		}
		out = append(out, in.Prompt)
	}
	return out, lines.Err()
}

func specBench(path, category string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(io.LimitReader(f, maxInputs))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var q struct {
			Category string
			Turns    []string
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if q.Category == category && len(q.Turns) > 0 {
			out = append(out, q.Turns[0])
		}
	}
	return out, lines.Err()
}

// screensOf reads AutoDroid's tasks: a prompt for every step of each.
func screensOf(path string) ([]string, error) {
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
	var out []string
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
			for _, s := range tasks[id].Profile {
				out = append(out, screenPrompt(tasks[id].Task, s.History, s.State))
			}
		}
	}
	return out, nil
}

func screenPrompt(task, history, state string) string {
	return fmt.Sprintf("Task: %s\nDone so far:%s\nScreen:\n%s\nWrite the element to use next as it stands on the screen, and what to do with it.", task, history, state)
}

func sampleSummaries() (out []string, err error) {
	for _, corpus := range []fs.FS{examples.Notes, examples.Public} {
		err = fs.WalkDir(corpus, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(corpus, path)
			out = append(out, "Summarize: "+string(b))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("sample documents: %w", err)
		}
	}
	return out, nil
}

// sampleQuestions puts each sample question behind the documents that hold its values.
func sampleQuestions() (out []string, err error) {
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
			if slices.ContainsFunc(q.Values, func(v string) bool { return strings.Contains(d, v) }) && len(context) < 3 {
				context = append(context, strings.TrimPrefix(d, "Summarize: "))
			}
		}
		out = append(out, strings.Join(context, "\n\n")+"\n\n"+q.Question)
	}
	return out, nil
}

// screens are screens of made-up apps with something to do on them.
func screens() (out []string) {
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

// conversations are made-up chats that want a reply which says again what was said.
func conversations() (out []string) {
	r := rand.New(rand.NewPCG(6, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	for range 40 {
		a, b := pick("Anna", "Marek", "Ines", "Tomas"), pick("Ravi", "Nora", "Eva", "Ben")
		place := pick("the harbour museum", "the bakery on Alder Street", "the boat house", "the lake cabin", "platform 3")
		hour := fmt.Sprintf("%d:%02d", 8+r.IntN(11), 15*r.IntN(4))
		thing := pick("the blue tin with the spare key", "two loaves of rye bread", "the tickets for the guided tour", "a torch and the map of the valley")
		day := pick("Monday", "Thursday", "Saturday", "Sunday")
		lines := []string{
			fmt.Sprintf("%s: Hi %s, are you free on %s?", a, b, day),
			fmt.Sprintf("%s: I think so. What is the plan for %s?", b, day),
			fmt.Sprintf("%s: We meet at %s at %s. %s", a, place, hour, pick("The others come later.", "It should not rain.", "We need about two hours.")),
			fmt.Sprintf("%s: Good. Shall I bring anything?", b),
			fmt.Sprintf("%s: Please bring %s, and tell me again where and when we meet, so that I know you read this.", a, thing),
		}
		if r.IntN(2) == 0 {
			lines = append(lines[:2], append([]string{fmt.Sprintf("%s: Let me look at the calendar first. Last time it was %s.", a, pick("too crowded", "closed", "very pleasant"))}, lines[2:]...)...)
		}
		out = append(out, fmt.Sprintf("%s\n\nWrite the reply of %s: where and when do they meet on %s, and what does %[2]s bring?", strings.Join(lines, "\n"), b, day))
	}
	return out
}
