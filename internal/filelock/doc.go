// Package filelock locks files against other processes, and against other opened files in this one. Closing the file or ending
// the process releases the lock. No one may remove or replace a file that others may lock, so use a separate file for the
// lock.
package filelock
