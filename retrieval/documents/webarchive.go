package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"

	"tandem/retrieval/internal/blocks"
)

// parseWebArchive reads a page that a browser saved with all that it shows, as a message of several parts: the first in HTML is the
// page.
func parseWebArchive(ctx context.Context, data []byte) (Document, error) {
	msg, err := readMessage(data)
	if err != nil {
		return Document{}, fmt.Errorf("damaged web archive (%v)", err)
	}
	page, err := firstPage(ctx, textproto.MIMEHeader(msg.Header), msg.Body)
	if err != nil {
		return Document{}, err
	}
	if len(page) > 2*textLimit {
		return Document{}, blocks.ErrMuchText
	}
	doc, err := htmlDocument(ctx, page)
	doc.Title = cmp.Or(doc.Title, headerText(msg.Header, "Subject"))
	return doc, err
}

// firstPage returns the first part in HTML, in UTF-8, of a part.
func firstPage(ctx context.Context, h textproto.MIMEHeader, body io.Reader) ([]byte, error) {
	for range mailDepth {
		kind, params := contentType(h)
		switch {
		case kind == "text/html", kind == "application/xhtml+xml":
			return []byte(decodeAs(partBytes(h, body), params["charset"])), nil
		case !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "":
			return nil, errNoPage
		}
		parts := multipart.NewReader(body, params["boundary"])
		for found, n := false, 0; !found; n++ {
			part, err := parts.NextRawPart()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil || n == mailParts {
				return nil, errNoPage
			}
			h, body = part.Header, part
			kind, _ = contentType(h)
			found = kind == "text/html" || kind == "application/xhtml+xml" || strings.HasPrefix(kind, "multipart/")
		}
	}
	return nil, errNoPage
}

var errNoPage = errors.New("no page in it (not a web archive, despite its name?)")
