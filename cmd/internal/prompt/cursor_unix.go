//go:build unix

package prompt

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"golang.org/x/sys/unix"
)

// cursorPatience is how long a terminal has to say where its cursor is. The line editor would wait forever, and takes no more
// keys after a reply that comes when it does not wait: a slow line must get its time, at the cost of mute terminals.
const cursorPatience = 5 * time.Second

var cursorReply = regexp.MustCompile(`\x1b\[\d+;\d+R`)

// tellsCursor asks a terminal in raw mode where its cursor is, and reports whether it says so in time. typed are the keys that
// came meanwhile.
func tellsCursor(screen io.Writer, keys *os.File) (tells bool, typed string) {
	fmt.Fprint(screen, "\x1b[6n")
	buf := make([]byte, 256)
	for end := time.Now().Add(cursorPatience); ; {
		left := time.Until(end)
		if left <= 0 {
			return false, typed
		}
		ready := []unix.PollFd{{Fd: int32(keys.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(left.Milliseconds())+1)
		if err == unix.EINTR || err == nil && n == 0 {
			continue
		}
		if err == nil {
			n, err = keys.Read(buf)
		}
		if err != nil {
			return false, typed
		}
		typed += string(buf[:n])
		if at := cursorReply.FindStringIndex(typed); at != nil {
			return true, typed[:at[0]] + typed[at[1]:]
		}
	}
}
