package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tandem"
)

// A dialect is the protocol of a kind of server.
type dialect interface {
	name() string
	// describe asks the server for the size of its vocabulary and the longest prompt in tokens; 0 or less where it does not say.
	describe(ctx context.Context, c *client) (vocab, maxPrompt int, err error)
	// tokenize returns the server's tokens of a text, without those that begin or end a prompt.
	tokenize(ctx context.Context, c *client, text string) ([]int64, error)
	// detokenize returns the server's text of a token.
	detokenize(ctx context.Context, c *client, t tandem.Token) (string, error)
	// request returns the path and the body that ask for top tokens after each prompt.
	request(prompts [][]tandem.Token, top int) (path string, body any)
	// answers reads the rows of an answer: for each, the index of its prompt and its tokens.
	answers(data []byte) ([]answer, error)
}

// answer is a row of a server, unchecked.
type answer struct {
	prompt int
	row    []entry
}

// parseRows reads the rows after n prompts, each of at most top tokens and the one that was drawn.
func parseRows(d dialect, data []byte, n, top, vocab int) ([]row, error) {
	list, err := d.answers(data)
	if err != nil {
		return nil, fmt.Errorf("its answer cannot be read: %w", err)
	}
	if len(list) != n {
		return nil, fmt.Errorf("it answers %d prompts with %d rows", n, len(list))
	}
	rows := make([]row, n)
	for _, a := range list {
		if a.prompt < 0 || a.prompt >= n || rows[a.prompt].ids != nil {
			return nil, fmt.Errorf("its rows are for other prompts than asked: %d of %d", a.prompt, n)
		}
		if rows[a.prompt], err = newRow(a.row, top, vocab); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", a.prompt, err)
		}
	}
	return rows, nil
}

// llamaServer speaks to llama.cpp's llama-server.
type llamaServer struct {
	// drawn is a token that is text by itself, or -1. Requests force the server to sample it, because the server gives no
	// probabilities after it has sampled a part of a character. The probabilities are the model's, whichever token is sampled.
	drawn tandem.Token
}

func (*llamaServer) name() string { return "llama-server" }

func (*llamaServer) describe(ctx context.Context, c *client) (vocab, maxPrompt int, err error) {
	var models struct {
		Data []struct {
			Meta struct {
				Vocab int `json:"n_vocab"`
			} `json:"meta"`
		} `json:"data"`
	}
	var props struct {
		Settings struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if err = c.get(ctx, "GET", "/v1/models", nil, &models); err == nil {
		err = c.get(ctx, "GET", "/props", nil, &props)
	}
	if len(models.Data) > 0 {
		vocab = models.Data[0].Meta.Vocab
	}
	// A slot that the prompt and the token that is drawn fill counts as cut.
	return vocab, props.Settings.Context - 2, err
}

func (*llamaServer) tokenize(ctx context.Context, c *client, text string) ([]int64, error) {
	var out struct{ Tokens []int64 }
	err := c.get(ctx, "POST", "/tokenize", map[string]any{"content": text, "add_special": false, "parse_special": false}, &out)
	return out.Tokens, err
}

func (*llamaServer) detokenize(ctx context.Context, c *client, t tandem.Token) (string, error) {
	var out struct{ Content string }
	err := c.get(ctx, "POST", "/detokenize", map[string]any{"tokens": []tandem.Token{t}}, &out)
	return out.Content, err
}

func (l *llamaServer) request(prompts [][]tandem.Token, top int) (string, any) {
	body := map[string]any{
		"prompt": prompts, "n_predict": 1, "n_probs": top, "cache_prompt": true, "temperature": 0, "stream": false,
		"response_fields": []string{"index", "truncated", "completion_probabilities"},
	}
	if l.drawn >= 0 {
		body["logit_bias"] = [][2]int{{int(l.drawn), 10_000}}
	}
	return "/completion", body
}

// llamaAnswer is the answer to one prompt.
type llamaAnswer struct {
	Index         *int `json:"index"`
	Truncated     bool `json:"truncated"`
	Probabilities []struct {
		Top []struct {
			ID  *int64   `json:"id"`
			Log *float64 `json:"logprob"`
		} `json:"top_logprobs"`
	} `json:"completion_probabilities"`
}

func (*llamaServer) answers(data []byte) ([]answer, error) {
	var list []llamaAnswer
	if strings.HasPrefix(strings.TrimSpace(string(data[:min(len(data), 64)])), "{") { // to a single prompt
		list = make([]llamaAnswer, 1)
		if err := json.Unmarshal(data, &list[0]); err != nil {
			return nil, err
		}
		list[0].Index = nil
	} else if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	out := make([]answer, len(list))
	for i, a := range list {
		if out[i].prompt = i; a.Index != nil {
			out[i].prompt = *a.Index
		}
		switch {
		case a.Truncated:
			return nil, errors.New("it has cut the prompt")
		case len(a.Probabilities) == 0 || len(a.Probabilities[0].Top) == 0:
			return nil, errors.New("no top_logprobs: llama-server has them since December 2024")
		}
		for _, e := range a.Probabilities[0].Top {
			if e.ID == nil || e.Log == nil {
				return nil, errors.New("a token without id or log-probability")
			}
			out[i].row = append(out[i].row, entry{*e.ID, *e.Log})
		}
	}
	return out, nil
}

// vllm speaks to vLLM's server with OpenAI's API.
type vllm struct {
	model string // as the server calls it
}

func (*vllm) name() string { return "vLLM" }

func (v *vllm) describe(ctx context.Context, c *client) (vocab, maxPrompt int, err error) {
	var models struct {
		Data []struct {
			ID      string `json:"id"`
			Context int    `json:"max_model_len"`
		} `json:"data"`
	}
	if err := c.get(ctx, "GET", "/v1/models", nil, &models); err != nil {
		return 0, 0, err
	}
	if len(models.Data) == 0 {
		return 0, 0, errors.New("it serves no model")
	}
	v.model = models.Data[0].ID               // adapters come after it
	return 0, models.Data[0].Context - 1, nil // it has room for the token that is drawn
}

func (v *vllm) tokenize(ctx context.Context, c *client, text string) ([]int64, error) {
	var out struct{ Tokens []int64 }
	err := c.get(ctx, "POST", "/tokenize", map[string]any{"model": v.model, "prompt": text, "add_special_tokens": false}, &out)
	return out.Tokens, err
}

func (v *vllm) detokenize(ctx context.Context, c *client, t tandem.Token) (string, error) {
	var out struct{ Prompt string }
	err := c.get(ctx, "POST", "/detokenize", map[string]any{"model": v.model, "tokens": []tandem.Token{t}}, &out)
	return out.Prompt, err
}

func (v *vllm) request(prompts [][]tandem.Token, top int) (string, any) {
	return "/v1/completions", map[string]any{
		"model": v.model, "prompt": prompts, "max_tokens": 1, "logprobs": top, "return_tokens_as_token_ids": true, "stream": false,
		// The model's own distribution, whatever the server's defaults are.
		"temperature": 1, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0,
	}
}

func (*vllm) answers(data []byte) ([]answer, error) {
	var list struct {
		Choices []struct {
			Index    int `json:"index"`
			Logprobs struct {
				Top []map[string]*float64 `json:"top_logprobs"`
			} `json:"logprobs"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	out := make([]answer, len(list.Choices))
	for i, c := range list.Choices {
		out[i].prompt = c.Index
		if len(c.Logprobs.Top) == 0 {
			return nil, errors.New("no top_logprobs")
		}
		for token, log := range c.Logprobs.Top[0] {
			digits, ok := strings.CutPrefix(token, "token_id:")
			id, err := strconv.ParseInt(digits, 10, 32)
			if !ok || err != nil || log == nil {
				return nil, fmt.Errorf("the token %.40q: want token_id: and a number, with a log-probability", token)
			}
			out[i].row = append(out[i].row, entry{id, *log})
		}
	}
	return out, nil
}
