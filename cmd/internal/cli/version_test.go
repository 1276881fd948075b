package cli

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// semantic matches a semantic version, as semver.org has it.
var semantic = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// Clients of Ollama compare the version, so each build has one that they can read.
func TestVersion(t *testing.T) {
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "bc69047c35a7b214156da28fdd1115176fa2bc49"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, released + "-devel"},
		{build(""), released + "-devel"},
		{build("(devel)"), released + "-devel"},
		{build("(devel)", commit), released + "-devel+bc69047c35a7"},
		{build("(devel)", debug.BuildSetting{Key: "vcs.revision", Value: "12"}), released + "-devel"},
		{build("v1.2.3", commit), "1.2.3"},
		{build("v0.0.0-20261129220422-bc69047c35a7+dirty", commit), "0.0.0-20261129220422-bc69047c35a7+dirty"},
	} {
		if got := versionOf(c.info); got != c.want || !semantic.MatchString(got) {
			t.Errorf("%+v is %s, want %s", c.info, got, c.want)
		}
	}
}

// A development build has the version that was released last.
func TestReleased(t *testing.T) {
	b, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "0.0.0"
	if m := regexp.MustCompile(`(?m)^## v?(\d\S*)`).FindSubmatch(b); m != nil {
		want = string(m[1])
	}
	if released != want || strings.Contains(released, "-") {
		t.Errorf("released is %s, and the newest version in CHANGELOG.md %s", released, want)
	}
}
