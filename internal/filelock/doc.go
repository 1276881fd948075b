// Package filelock locks files against other processes and against other opened files in this one. Closing the file or ending
// the process releases the lock. A file that others may lock must not be removed or replaced, so use a separate file for the
// lock.
package filelock
