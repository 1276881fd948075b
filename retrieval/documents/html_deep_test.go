package documents

import (
	"strings"
	"testing"
)

// A page that is nested too deeply for a tree keeps its text.
func TestDeepHTML(t *testing.T) {
	const deep = 20_000
	page := "<title>The deep page</title><script>var x = 1</script>" + strings.Repeat("<div>", deep) + "The <b>ferry</b> leaves at 7:40.<p>The pier is 3." + strings.Repeat("</div>", deep)
	doc, err := parseHTML(t.Context(), []byte(page))
	if err != nil || doc.Title != "The deep page" || len(doc.Blocks) != 2 || doc.Blocks[0].Text != "The ferry leaves at 7:40." || doc.Blocks[1].Text != "The pier is 3." {
		t.Errorf("%v, %+v", err, doc)
	}
}
