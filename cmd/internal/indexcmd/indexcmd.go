// Package indexcmd has the commands that manage indexed documents (edge index, cloud index), and what every other command needs
// to answer from documents: the index on this machine's disk, a cluster, a folder that is read at the start, and the samples. It
// knows no model; its callers bring what ranks passages.
package indexcmd

// Cmd adds, lists, shows and removes the documents that questions are answered from.
type Cmd struct {
	Add    addCmd    `cmd:"" help:"Index files and folders, or update what is indexed."`
	List   listCmd   `cmd:"" aliases:"ls" help:"List the indexed files."`
	Show   showCmd   `cmd:"" help:"Show what was read from a file: its passages."`
	Remove removeCmd `cmd:"" aliases:"rm" help:"Remove files or folders from the index. The files themselves stay, except those uploaded to edge serve, which are deleted."`

	All     listAllCmd `cmd:"" default:"1" hidden:""`
	Rebuild rebuildCmd `cmd:"" help:"Rebuild an index that is damaged, or that another version made, from the files that were added."`
}

func (*Cmd) Help() string {
	return `Examples:
  ${program} index add ~/Documents/notes
  ${program} index list
  ${program} index remove ~/Documents/notes/old.md`
}
