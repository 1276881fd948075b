package layout

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	mdHeading  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	mdLink     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	fencedCode = regexp.MustCompile("(?ms)^```.*?^```")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
)

// notOurs are folders with texts to search, with the words of others, and with what was built or downloaded.
var notOurs = []string{"documents", "licenses", "build", "dist", "shared"}

// anchors returns the anchors of a Markdown page, as GitHub derives them from its headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range mdHeading.FindAllStringSubmatch(fencedCode.ReplaceAllString(text, ""), -1) {
		all[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, mdLink.ReplaceAllString(m[1], "$1"))] = true
	}
	return all
}

// Every link from one of our pages to a file of the repository finds that file, and the heading that it names.
func TestLinks(t *testing.T) {
	links := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains(notOurs, d.Name()) || path != root && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		plain := inlineCode.ReplaceAllString(fencedCode.ReplaceAllString(string(text), ""), "")
		for _, m := range linkTarget.FindAllStringSubmatch(plain, -1) {
			if strings.Contains(m[1], ":") { // another site
				continue
			}
			links++
			if problem := broken(path, m[1]); problem != "" {
				t.Errorf("%s links to %s: %s", path, m[1], problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 50 {
		t.Errorf("found %d links", links)
	}
}

// broken says what is wrong with a link of a page; it is empty if nothing is.
func broken(page, link string) string {
	file, anchor, hasAnchor := strings.Cut(link, "#")
	path := page
	if file != "" {
		path = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(path); err != nil {
		return "no such file"
	}
	if !hasAnchor {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if !anchors(string(text))[anchor] {
		return "no such heading"
	}
	return ""
}
