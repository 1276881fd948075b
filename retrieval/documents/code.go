package documents

import "context"

// parseCode reads the source text of programs. Its lines stay as they are.
func parseCode(ctx context.Context, data []byte) (Document, error) {
	lines, err := linesOf(data)
	if err != nil {
		return Document{}, err
	}
	return codeDocument(ctx, lines)
}

// codeDocument returns the document in lines of code.
func codeDocument(ctx context.Context, lines []string) (doc Document, err error) {
	if ctx.Err() != nil {
		return Document{}, ctx.Err()
	}
	doc.AddCode(lines)
	return doc, nil
}

// codeExtensions are those of files with the source text of programs or pages, or with rules for tools. Files of some kinds have a
// name of their own instead.
var codeExtensions = []string{
	".go", ".py", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".java", ".kt", ".scala", ".swift",
	".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".cs", ".rs", ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".hs", ".ml", ".ex", ".erl", ".clj", ".dart",
	".sql", ".proto", ".tf", ".awk", ".vim", ".el", ".css", ".scss", ".less", ".gradle", ".groovy", ".cmake", ".mk", ".dockerfile",
	"dockerfile", "containerfile", "makefile", "gnumakefile", "cmakelists.txt", "jenkinsfile", "vagrantfile", "gemfile", "rakefile", "justfile", "procfile",
	".gitignore", ".gitattributes", ".dockerignore", ".bashrc", ".bash_profile", ".bash_aliases", ".profile", ".zshrc", ".vimrc", "go.mod",
}
