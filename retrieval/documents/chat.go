package documents

import (
	"cmp"
	"context"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/lazyregexp"
)

// This file reads the chats that Slack and Telegram export as JSON.

// chatMessage is a message of a chat.
type chatMessage struct {
	at         time.Time
	name, text string
}

// chatDocument returns the document in the messages of a chat: each is a line below the heading of its day. It returns false for
// data that is not surely a chat.
func chatDocument(ctx context.Context, top *value) (Document, bool) {
	if messages := slackMessages(top); messages != nil {
		w := valueWriter{ctx: ctx}
		w.chat(messages, 1)
		return w.doc, true
	}
	chats := top.part("chats").part("list").parts // of an account
	alone := len(chats) == 0
	if alone {
		chats = []*value{top}
	}
	w := valueWriter{ctx: ctx}
	for _, chat := range chats {
		if !alone && chat.part("messages").kind == list && len(chat.part("messages").parts) == 0 {
			continue
		}
		messages := telegramMessages(chat)
		if messages == nil {
			return Document{}, false
		}
		name := chat.part("name").text
		if alone {
			w.doc.Title = name
			w.chat(messages, 1)
			continue
		}
		w.doc.AddHeading(1, cmp.Or(name, "Chat"))
		w.chat(messages, 2)
	}
	return w.doc, len(w.doc.Blocks) > 0
}

// chat adds messages below headings of a level, one for each day.
func (w *valueWriter) chat(messages []chatMessage, level int) {
	before := ""
	for _, m := range messages {
		if w.ctx.Err() != nil {
			return
		}
		if strings.TrimSpace(m.text) == "" {
			continue
		}
		if day := m.at.Format(longDay); day != before {
			w.doc.AddHeading(level, day)
			before = day
		}
		w.single(m.name, m.text, "")
	}
}

// Marks in messages of Slack: when they were sent, whom they name, and where they link.
var (
	slackTime = lazyregexp.New(`^\d{9,11}\.\d{6}$`)
	slackUser = lazyregexp.New(`<[@#]([A-Z0-9]{6,20})(?:\|([^<>]{1,100}))?>`)
	slackLink = lazyregexp.New(`<!?([^<>|]+)(?:\|([^<>]+))?>`)
)

// slackMessages returns the messages of a day in a channel of Slack; nil if the data is something else.
func slackMessages(top *value) (messages []chatMessage) {
	names := map[string]string{}
	for _, m := range top.parts {
		if m.kind != object || m.part("type").text != "message" || !slackTime.MatchString(m.part("ts").text) || !slices.Contains(m.names, "text") {
			return nil
		}
		profile := m.part("user_profile")
		if name := cmp.Or(profile.part("real_name").text, profile.part("display_name").text, profile.part("name").text); name != "" {
			names[m.part("user").text] = name
		}
	}
	for _, m := range top.parts {
		user := m.part("user").text
		seconds, _, _ := strings.Cut(m.part("ts").text, ".")
		at, _ := strconv.ParseInt(seconds, 10, 64)
		text := slackUser.ReplaceAllStringFunc(m.part("text").text, func(mark string) string {
			id := slackUser.FindStringSubmatch(mark)
			return mark[1:2] + cmp.Or(names[id[1]], id[2], id[1])
		})
		text = slackLink.ReplaceAllStringFunc(text, func(link string) string {
			m := slackLink.FindStringSubmatch(link)
			return cmp.Or(m[2], m[1])
		})
		name := cmp.Or(names[user], m.part("username").text, user)
		messages = append(messages, chatMessage{time.Unix(at, 0).UTC(), name, html.UnescapeString(text)})
	}
	return messages
}

// telegramMessages returns the messages of a chat of Telegram; nil if the data is something else.
func telegramMessages(chat *value) (messages []chatMessage) {
	all := chat.part("messages")
	for _, m := range all.parts {
		at, err := time.Parse("2006-01-02T15:04:05", m.part("date").text)
		if all.kind != list || m.kind != object || err != nil || !slices.Contains(m.names, "text") || !slices.Contains([]string{"message", "service"}, m.part("type").text) {
			return nil
		}
		var text strings.Builder
		text.WriteString(m.part("text").text)
		for _, part := range m.part("text").parts {
			text.WriteString(part.text + part.part("text").text)
		}
		messages = append(messages, chatMessage{at, m.part("from").text, text.String()})
	}
	return messages
}
