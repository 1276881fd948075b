package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tandem"
	"tandem/cmd/internal/cli"
	"tandem/cmd/internal/modelcmd"
	"tandem/lora/rewrite"
	"tandem/lora/streams"
	"tandem/model"
	"tandem/model/sample"
)

type replyCmd struct {
	Words []string `arg:"" name:"conversation" optional:"" help:"The conversation, with a line NAME: TEXT for each message. Default, and for a last argument \"-\": standard input."`
	textFlags
	showFlags           `group:"Output:"`
	Streams             int     `help:"How many replies to write at once, 1 to 16. Near-duplicates are left out." default:"8"`
	As                  string  `help:"Who replies. Default: the one who did not speak last." placeholder:"NAME"`
	Seed                int64   `help:"With --temperature: random seed; -1 draws a new one each time." default:"-1"`
	Temperature         float64 `help:"0 to begin with the likeliest words, 1 to draw from the model's own distribution." default:"0"`
	MaxTokens           int     `short:"n" help:"Maximum number of tokens in a reply." default:"40"`
	modelcmd.ModelFlags `group:"Model:"`
	modelcmd.LoraFlags  `group:"Model:"`
	SoC                 string `name:"soc" help:"Write at the simulated pace of a phone's NPU, as with ask." placeholder:"CHIP"`
}

func (c *replyCmd) Help() string {
	return `Examples:
  edge reply "Ada: Do you have time for lunch on Friday?"
  edge reply --streams 4 --as Tom < chat.txt
  edge reply --json --model qwen2.5-0.5b-instruct-q4_k_m --temperature 0.8 --file chat.txt

Suggests short replies to a conversation, the likeliest first and each unlike those before. The built-in model's are general ones of a few words: choose one that suits. All are written at once: each pass of the model computes the next token of every reply that has not ended, over one copy of the conversation. The built-in model uses its own adapter for replies, or yours with --lora.`
}

// replyJSON is a reply as --json prints it.
type replyJSON struct {
	Text    string  `json:"text"`
	Stream  int     `json:"stream"`
	Tokens  int     `json:"tokens"`
	LogProb float64 `json:"log_probability_per_token"`
	Finish  string  `json:"finish"` // stop, length
}

func (c *replyCmd) Run(a *cli.App) (err error) {
	if c.Quiet {
		a.Hush()
	}
	text, err := c.textUntyped(a, "conversation", c.Words, `edge reply "Ada: Are you free on Friday?"`)
	if err != nil {
		return err
	}
	sampling, err := c.checkFlags()
	if err != nil {
		return cli.Usage(err)
	}
	c.Chip = c.SoC
	m, err := modelcmd.OpenWriter(a, c.ModelFlags, c.LoraFlags, "reply")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	talk := parseTalk(text)
	as := c.As
	if as == "" {
		as = talk.other()
	}
	tokens, err := talk.prompt(m.Model, as, c.MaxTokens)
	if err != nil {
		return err
	}
	list, stats, err := streams.Generate(a, m.Seq(), tokens, c.Streams,
		streams.Options{Params: sampling, Tokens: c.MaxTokens, Stop: []string{"\n"}, Min: rewrite.MinFirst})
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(list[i].Text), as+":"))
	}
	written := len(list)
	if m.BuiltIn {
		list = slices.DeleteFunc(list, func(s streams.Stream) bool { return inventsName(s.Text, text) })
	}
	ranked := streams.Rank(list)
	if a.Globals.JSON {
		return a.JSON(map[string]any{"replies": repliesJSON(ranked), "as": as, "streams": written, "seed": sampling.Seed, "prompt_tokens": stats.PromptTokens,
			"tokens": stats.Tokens, "passes": stats.Passes, "prefill_ms": tandem.Milliseconds(stats.Prefill), "decode_ms": tandem.Milliseconds(stats.Decode)})
	}
	return c.print(a, ranked, written, stats)
}

func repliesJSON(ranked []streams.Stream) []replyJSON {
	out := []replyJSON{}
	for _, s := range ranked {
		out = append(out, replyJSON{s.Text, s.Index, len(s.Tokens), s.PerToken(), finished(s.Reason)})
	}
	return out
}

// checkFlags returns the parameters of sampling, or an error if a flag is out of its range.
func (c *replyCmd) checkFlags() (sample.Params, error) {
	if c.Streams < 1 || c.Streams > streams.Max {
		return sample.Params{}, fmt.Errorf("--streams %d: want 1 to %d", c.Streams, streams.Max)
	}
	if err := checkMaxTokens(c.MaxTokens); err != nil {
		return sample.Params{}, err
	}
	return samplingFlags{Seed: c.Seed, Temperature: c.Temperature, TopP: 1, RepeatPenalty: 1}.sampling()
}

// print prints the replies that are left of those written, the best first, and what the flags ask for.
func (c *replyCmd) print(a *cli.App, ranked []streams.Stream, written int, stats streams.Stats) error {
	if len(ranked) == 0 {
		return errors.New("the model wrote no reply: try --temperature 0.8, or another model")
	}
	for _, s := range ranked {
		fmt.Fprintln(a.Out, cli.StripControls(s.Text))
	}
	c.printSpeed(a, c.SoC, fmt.Sprintf("%d of %d replies · %d tokens in %d passes · %.0f tokens/s · prompt of %d in %v", len(ranked), written, stats.Tokens, stats.Passes,
		float64(stats.Tokens-written)/max(stats.Decode.Seconds(), 1e-9), stats.PromptTokens, stats.Prefill.Round(time.Millisecond)))
	return nil
}

// inventsName reports whether a reply has a word with a capital, not at the beginning of a sentence, that the conversation lacks:
// the built-in model learnt from invented names, and at times writes one.
func inventsName(reply, conversation string) bool {
	words := strings.Fields(reply)
	for i := 1; i < len(words); i++ {
		w := strings.TrimFunc(words[i], func(r rune) bool { return !unicode.IsLetter(r) })
		r, _ := utf8.DecodeRuneInString(w)
		if unicode.IsUpper(r) && utf8.RuneCountInString(w) > 1 && !strings.HasPrefix(w, "I'") && !strings.ContainsAny(words[i-1], ".!?") && !strings.Contains(conversation, w) {
			return true
		}
	}
	return false
}

// said is a message of a conversation.
type said struct{ who, text string }

// talk is a conversation, the oldest message first.
type talk []said

// messageLine matches "Ada: text" and "[12:05] Ada: text".
var messageLine = regexp.MustCompile(`^\s*(?:\[[^\]]{1,40}\]\s*)?([^:\n]{1,40}?)\s*:\s+(\S.*)$`)

// parseTalk reads a conversation. Lines without a name continue the message before; a text without any name is one message.
func parseTalk(text string) (t talk) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if m := messageLine.FindStringSubmatch(line); m != nil {
			t = append(t, said{m[1], m[2]})
		} else if len(t) == 0 {
			t = append(t, said{"They", line})
		} else {
			t[len(t)-1].text += " " + line
		}
	}
	return t
}

// other returns who is to reply: the last to speak before the last one, or "Me".
func (t talk) other() string {
	for _, s := range slices.Backward(t) {
		if s.who != t[len(t)-1].who {
			return s.who
		}
	}
	return "Me"
}

func (t talk) String() string {
	var lines []string
	for _, s := range t {
		lines = append(lines, s.who+": "+s.text)
	}
	return strings.Join(lines, "\n")
}

// prompt returns the prompt for a reply. It leaves out the oldest messages if they and the reply exceed the model's context.
func (t talk) prompt(m *model.Model, as string, reply int) ([]tandem.Token, error) {
	for {
		tokens, err := rewrite.TaskPrompt(m, t.String(), "Write a short reply of "+as+".",
			"Write the next message of "+as+" in this conversation. Write only that message, and keep it short.")
		if err != nil || len(tokens)+min(reply, m.Config().Context/2) <= m.Config().Context || len(t) < 2 {
			return tokens, err
		}
		t = t[1:]
	}
}
