package api

import (
	"bytes"
	"cmp"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"tandem"
	"tandem/internal/spelling"
	"tandem/model/chat"
	"tandem/node"
	"tandem/specdec"
)

// MaxTemperature is the highest temperature of a request, as in OpenAI's API.
const MaxTemperature = 2.0

// MaxRTT is the longest round trip that is emulated: over a slower network no connection is made in the five seconds that each
// side gives it.
const MaxRTT = 4 * time.Second

// options are what a request may say about how it is answered. Pointers tell what is missing from what is 0.
type options struct {
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options"`
	Stop          stringList      `json:"stop"`
	Seed          *integer        `json:"seed"`
	Temperature   *float64        `json:"temperature"`
	TopP          *float64        `json:"top_p"`
	MaxTokens     *integer        `json:"max_tokens"`
	MaxNew        *integer        `json:"max_completion_tokens"`
	N             *integer        `json:"n"`
	Format        *responseFormat `json:"response_format"`
	Tools         json.RawMessage `json:"tools"`
	Functions     json.RawMessage `json:"functions"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	FunctionCall  json.RawMessage `json:"function_call"`
	LogitBias     json.RawMessage `json:"logit_bias"`
	Presence      float64         `json:"presence_penalty"`
	Frequency     float64         `json:"frequency_penalty"`
	Tandem        ownOptions      `json:"tandem"`
	forms

	bounds bounds // of the API that the request is of
}

// bounds are those of an API. Their zero value is OpenAI's.
type bounds struct {
	stops   int     // 0 for maxStops
	hottest float64 // temperature; 0 for MaxTemperature
	format  string  // the name of options.Format; empty for response_format
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

// typed is an object that counts by its type alone.
type typed struct {
	Type string `json:"type"`
}

// ownOptions are Tandem's own.
type ownOptions struct {
	Placement string  `json:"placement"`  // auto, mirror, device, cloud, greedy, sync
	RTT       float64 `json:"rtt_ms"`     // of an emulated path to the cloud
	Loss      float64 `json:"loss"`       // share of packets that it loses
	LocalOnly bool    `json:"local_only"` // ask no cloud
	Private   bool    `json:"private"`    // send the cloud no draft of the device
	Draft     string  `json:"draft"`      // drafters of this side, as specdec.ParseSet reads them; empty for the server's
	Record    bool    `json:"record"`     // stream what happens, as events named "record"
	Nearest   *bool   `json:"nearest"`    // false: leave out of the text what comes close to a part that is not known
}

// UnmarshalJSON reads an object of known options. Other servers ignore these options, and this one refuses a misspelt one:
// a question that was to stay here would otherwise go to the cloud.
func (o *ownOptions) UnmarshalJSON(b []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(b, &given); err != nil {
		return err
	}
	var names []string
	for f := range reflect.TypeFor[ownOptions]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(name, known) }) {
			continue
		}
		want := "want some of " + strings.Join(names, ", ")
		if near := spelling.Nearest(name, names); near != "" {
			want = "did you mean " + near + "?"
		}
		return badRequest("tandem."+name, "tandem.%s is no option: %s", name, want)
	}
	type plain ownOptions
	return json.Unmarshal(b, (*plain)(o))
}

// integer is a whole number. Programs whose numbers are all floating-point write it as 128.0 or 1.28e2.
type integer int64

// UnmarshalJSON reads a number without a fraction, or null.
func (n *integer) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*int64)(n))
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Value, "number") {
		return err
	}
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	switch {
	case f != math.Trunc(f):
		return wrong
	case f < math.MinInt64 || f >= math.MaxInt64:
		wrong.Type = reflect.TypeFor[float64]() // it is whole, and out of range
		return wrong
	}
	*n = integer(f)
	return nil
}

// stringList is a string or several.
type stringList []string

// UnmarshalJSON reads a string, several, or null.
func (l *stringList) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte(`"`)) {
		*l = stringList{""}
		return json.Unmarshal(b, &(*l)[0])
	}
	err := json.Unmarshal(b, (*[]string)(l))
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Type.Kind() == reflect.Slice { // and not one of its strings
		wrong.Type = reflect.TypeFor[stringList]()
	}
	return err
}

// Bounds of options.
const (
	maxStops   = 4
	maxChoices = 8
	maxTop     = 20
	maxTurns   = 64
)

// isGiven reports whether a field of a request has a value that asks for something.
func isGiven(raw json.RawMessage) bool {
	text := string(bytes.TrimSpace(raw))
	return !slices.Contains([]string{"", "null", "[]", "{}", `""`}, text)
}

// mustCall reports whether a choice of tools demands the call of one.
func mustCall(choice json.RawMessage) bool {
	return isGiven(choice) && !slices.Contains([]string{`"auto"`, `"none"`}, string(bytes.TrimSpace(choice)))
}

// check refuses what cannot be done.
func (o options) check() error {
	stops, hottest := cmp.Or(o.bounds.stops, maxStops), cmp.Or(o.bounds.hottest, MaxTemperature)
	switch {
	case isGiven(o.Tools):
		return badRequest("tools", "tools are not supported: this server answers from documents")
	case isGiven(o.Functions):
		return badRequest("functions", "functions are not supported: this server answers from documents")
	case mustCall(o.ToolChoice):
		return badRequest("tool_choice", "tool_choice: tools are not supported: leave it out, or give auto or none")
	case mustCall(o.FunctionCall):
		return badRequest("function_call", "function_call: tools are not supported: leave it out, or give auto or none")
	case isGiven(o.LogitBias):
		return badRequest("logit_bias", "logit_bias is not supported: leave it out")
	case o.Presence != 0:
		return badRequest("presence_penalty", "presence_penalty is not supported: leave it at 0")
	case o.Frequency != 0:
		return badRequest("frequency_penalty", "frequency_penalty is not supported: leave it at 0")
	case len(o.Stop) > stops || slices.Contains(o.Stop, ""):
		return badRequest("stop", "stop: want up to %d strings that are not empty", stops)
	case o.N != nil && (*o.N < 1 || *o.N > maxChoices):
		return badRequest("n", "n is %d: want 1 to %d", *o.N, maxChoices)
	case o.Temperature != nil && !(*o.Temperature >= 0 && *o.Temperature <= hottest):
		return badRequest("temperature", "temperature is %v: want 0 to %v", *o.Temperature, hottest)
	case o.TopP != nil && !(*o.TopP > 0 && *o.TopP <= 1):
		return badRequest("top_p", "top_p is %v: want more than 0 and at most 1", *o.TopP)
	case !(o.Tandem.RTT >= 0 && o.Tandem.RTT <= tandem.Milliseconds(MaxRTT)):
		return badRequest("tandem.rtt_ms", "tandem.rtt_ms is %v: want 0 to %v", o.Tandem.RTT, tandem.Milliseconds(MaxRTT))
	case !(o.Tandem.Loss >= 0 && o.Tandem.Loss < 1):
		return badRequest("tandem.loss", "tandem.loss is %v: want 0 or more and less than 1", o.Tandem.Loss)
	}
	_, err := o.demand()
	return err
}

// query returns the i-th choice's query.
func (s *Server) query(o options, question string, history []chat.Message, i int) (q Query, err error) {
	q = Query{
		Question: node.Question{ID: newID(), Text: question, History: history}, Settings: s.cfg.Defaults,
		RTT: time.Duration(o.Tandem.RTT * float64(time.Millisecond)), Loss: o.Tandem.Loss, LocalOnly: o.Tandem.LocalOnly,
	}
	if err := o.setSampling(&q.Settings); err != nil {
		return q, err
	}
	form, err := s.form(o)
	if err != nil {
		return q, err
	}
	if form != "" {
		q.Settings.Form = form
	}
	q.Settings.Seed += uint64(i)
	if q.Draft, err = s.drafters(o.Tandem.Draft); err != nil {
		return q, err
	}
	return q, s.setPlacement(&q.Settings, o.Tandem)
}

// setSampling sets what a request says about the sampling and the length of its answers. The seed is random if it names none.
func (o options) setSampling(to *tandem.Settings) error {
	if o.Temperature != nil {
		to.Sampling.Temperature = *o.Temperature
	}
	if o.TopP != nil {
		to.Sampling.TopP = *o.TopP
	}
	for _, most := range []struct {
		name  string
		given *integer
	}{{"max_tokens", o.MaxTokens}, {"max_completion_tokens", o.MaxNew}} {
		switch n := most.given; {
		case n == nil, *n == -1:
		case *n < 1:
			return badRequest(most.name, "%s is %d: want 1 or more, or -1 for the server's limit", most.name, *n)
		default:
			to.MaxTokens = int(min(*n, tandem.MaxAnswer))
		}
	}
	if to.Seed = uint64(rand.Uint32()); o.Seed != nil && *o.Seed != -1 {
		to.Seed = uint64(*o.Seed)
	}
	return nil
}

// setPlacement sets the placement that a request asks for, unless this device or the request is private: that sets it, too.
func (s *Server) setPlacement(to *tandem.Settings, o ownOptions) error {
	switch {
	case o.Placement == "":
	case s.cfg.Private != nil && s.cfg.Private():
		return badRequest("tandem.placement", "this device is private with its cloud, and that sets the placement: leave tandem.placement out")
	case o.Private:
		return badRequest("tandem.private", "tandem.private sets the placement itself: leave tandem.placement out")
	case o.Placement != "auto":
		p, err := tandem.ParsePlacement(o.Placement)
		if err != nil {
			return badRequest("tandem.placement", "tandem.placement: %v", err)
		}
		to.Placement = p
	}
	if o.Private {
		to.MakePrivate()
	}
	return nil
}

// drafters returns the drafters that a request names, 0 for none.
func (s *Server) drafters(text string) (specdec.Set, error) {
	if text == "" {
		return 0, nil
	}
	set, err := specdec.ParseSet(text)
	switch {
	case err != nil:
		return 0, badRequest("tandem.draft", "tandem.draft: %v", err)
	case s.cfg.Denoises:
		return 0, badRequest("tandem.draft", "tandem.draft is %q: a diffusion model answers here, and nothing drafts for it", text)
	case s.cfg.CanDraft == nil:
		return set, nil
	}
	if err := s.cfg.CanDraft(set); err != nil {
		return 0, badRequest("tandem.draft", "tandem.draft is %q: %v", text, err)
	}
	return set, nil
}

// newID returns a random identifier of an answer.
func newID() string {
	var b [12]byte
	crand.Read(b[:])
	return fmt.Sprintf("%x", b)
}

// message is one turn of a conversation. Its content is a string, or several parts of text.
type message struct {
	Role    string          `json:"role"`
	Content content         `json:"content"`
	Images  json.RawMessage `json:"images"` // of Ollama's API
}

// withSystem returns a conversation with instructions before it, if there are any.
func withSystem(instructions content, turns []message) []message {
	if instructions == "" {
		return turns
	}
	return append([]message{{Role: "system", Content: instructions}}, turns...)
}

type content string

// textParts are the types of parts that are text: in a chat, and in the Responses API what the user and what the model said.
var textParts = []string{"text", "input_text", "output_text"}

// UnmarshalJSON reads a string, parts that are text, or null.
func (c *content) UnmarshalJSON(b []byte) error {
	if trimmed := bytes.TrimSpace(b); !bytes.HasPrefix(trimmed, []byte("[")) {
		var text *string
		err := json.Unmarshal(b, &text)
		if text != nil {
			*c = content(*text)
		}
		return err
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var all []string
	for i, p := range parts {
		if !slices.Contains(textParts, p.Type) {
			return badRequest("messages", "part %d of a message has the type %q: only text is supported", i, p.Type)
		}
		all = append(all, p.Text)
	}
	*c = content(strings.Join(all, "\n"))
	return nil
}

// conversation returns the question of a conversation, which is its last message, with the turns before it. What tools have said
// counts as the user's: a pair calls none, but may be asked about it. system reports whether there are instructions, which a pair
// does not follow: it answers from documents.
func conversation(messages []message) (question string, history []chat.Message, system bool, err error) {
	for i, m := range messages {
		text := strings.TrimSpace(string(m.Content))
		switch m.Role {
		case "system", "developer":
			system = system || text != ""
		case "user":
			history = append(history, chat.Message{Role: m.Role, Content: text})
		case "assistant":
			history = append(history, chat.Message{Role: m.Role, Content: withoutNearest(text)})
		case "tool", "function":
			if i == len(messages)-1 {
				return "", nil, false, badRequest("messages", "the last message is of a tool: it must be the user's question")
			}
			history = append(history, chat.Message{Role: "user", Content: text})
		default:
			return "", nil, false, badRequest("messages", "message %d has the role %q: want system, user, assistant or tool", i, m.Role)
		}
	}
	n := len(history) - 1
	switch {
	case n < 0:
		return "", nil, false, badRequest("messages", "there is no message: the last one must be the user's question")
	case history[n].Role != "user":
		return "", nil, false, badRequest("messages", "the last message must be the user's question")
	case history[n].Content == "":
		return "", nil, false, badRequest("messages", "the last message is empty: it must be the user's question")
	}
	if len(history[n].Content) > node.MaxQuestion {
		return "", nil, false, badRequest("messages", "the question has %d bytes: want at most %d", len(history[n].Content), node.MaxQuestion)
	}
	return history[n].Content, node.Recent(history[:n], maxTurns), system, nil
}
