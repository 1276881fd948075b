// Command go asks a server of Tandem's API through Go libraries that others wrote. Its argument is the server's address.
// It is a separate module, so that Tandem does not depend on these libraries.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	ollama "github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const question, answer = "When does the harbour museum open?", "9:30"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, c := range []struct {
		name string
		run  func(context.Context, string) error
	}{{"openai-go", askOpenAI}, {"ollama/api", askOllama}} {
		if err := c.run(ctx, os.Args[1]); err != nil {
			fmt.Printf("FAILED: %s: %v\n", c.name, err)
			os.Exit(1)
		}
		fmt.Println("ok", c.name)
	}
}

// equal is an error where text is not what was expected.
func equal(what, text, want string) error {
	if text != want {
		return fmt.Errorf("%s: %q, want %q", what, text, want)
	}
	return nil
}

func askOpenAI(ctx context.Context, address string) error {
	client := openai.NewClient(option.WithBaseURL(address+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	asked := openai.ChatCompletionNewParams{Model: "tandem", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}}
	for _, step := range []func(context.Context, openai.Client, openai.ChatCompletionNewParams) error{whole, streamed, together, canceled, refused} {
		if err := step(ctx, client, asked); err != nil {
			return err
		}
	}
	return nil
}

func whole(ctx context.Context, client openai.Client, asked openai.ChatCompletionNewParams) error {
	got, err := client.Chat.Completions.New(ctx, asked)
	if err != nil {
		return err
	}
	return equal("chat", got.Choices[0].Message.Content, answer)
}

func streamed(ctx context.Context, client openai.Client, asked openai.ChatCompletionNewParams) error {
	s := client.Chat.Completions.NewStreaming(ctx, asked)
	var text strings.Builder
	for s.Next() {
		if c := s.Current(); len(c.Choices) > 0 {
			text.WriteString(c.Choices[0].Delta.Content)
		}
	}
	if s.Err() != nil {
		return s.Err()
	}
	return equal("stream", text.String(), answer)
}

// together asks eight times at once.
func together(ctx context.Context, client openai.Client, asked openai.ChatCompletionNewParams) error {
	var wg sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		wg.Go(func() { failed[i] = whole(ctx, client, asked) })
	}
	wg.Wait()
	return errors.Join(failed...)
}

// canceled gives an answer up before its first word can have come.
func canceled(ctx context.Context, client openai.Client, asked openai.ChatCompletionNewParams) error {
	ctx, cancel := context.WithCancel(ctx)
	s := client.Chat.Completions.NewStreaming(ctx, asked, option.WithJSONSet("tandem.rtt_ms", 600))
	cancel()
	for s.Next() {
	}
	if !errors.Is(s.Err(), context.Canceled) {
		return fmt.Errorf("a canceled answer ended with %v", s.Err())
	}
	return nil
}

func refused(ctx context.Context, client openai.Client, asked openai.ChatCompletionNewParams) error {
	asked.Model = "gpt-4o"
	_, err := client.Chat.Completions.New(ctx, asked)
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusNotFound || e.Code != "model_not_found" {
		return fmt.Errorf("an unknown model: %v", err)
	}
	return nil
}

func askOllama(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	client := ollama.NewClient(u, http.DefaultClient)
	list, err := client.List(ctx)
	if err != nil {
		return err
	}
	var chat, text strings.Builder
	err = client.Chat(ctx, &ollama.ChatRequest{Model: list.Models[0].Name, Messages: []ollama.Message{{Role: "user", Content: question}}},
		func(r ollama.ChatResponse) error { chat.WriteString(r.Message.Content); return nil })
	if err == nil {
		err = equal("chat", chat.String(), answer)
	}
	if err != nil {
		return err
	}
	err = client.Generate(ctx, &ollama.GenerateRequest{Model: list.Models[0].Name, Prompt: question},
		func(r ollama.GenerateResponse) error { text.WriteString(r.Response); return nil })
	if err == nil {
		err = equal("generate", text.String(), answer)
	}
	if err != nil {
		return err
	}
	var status ollama.StatusError
	if _, err = client.Show(ctx, &ollama.ShowRequest{Model: "other"}); !errors.As(err, &status) || status.StatusCode != http.StatusNotFound {
		return fmt.Errorf("an unknown model: %v", err)
	}
	return nil
}
