//go:build !unix

package prompt

import (
	"io"
	"os"
)

// tellsCursor reports true: the system knows where the cursor is, so nobody waits for a reply.
func tellsCursor(io.Writer, *os.File) (tells bool, typed string) { return true, "" }
