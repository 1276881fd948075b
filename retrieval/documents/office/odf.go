package office

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// openODF opens an OpenDocument file that has its content and no password. The format's name, with its article, is for errors.
func openODF(ctx context.Context, data []byte, format string) (*archive, error) {
	a, err := openArchive(ctx, data, format)
	if err != nil {
		return nil, err
	}
	if !a.has("content.xml") {
		return nil, fmt.Errorf("not %s, despite its name (it has no content.xml)", format)
	}
	if a.has("META-INF/manifest.xml") {
		manifest, err := a.read("META-INF/manifest.xml")
		if err != nil {
			return nil, err
		}
		if bytes.Contains(manifest, []byte("encryption-data")) {
			_, kind, _ := strings.Cut(format, " ")
			return nil, fmt.Errorf("encrypted %s (open it and save it without a password)", kind)
		}
	}
	return a, nil
}
