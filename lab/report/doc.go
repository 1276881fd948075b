// Package report holds what experiments find: results and tables as CSV, pictures as SVG, findings as sentences, and one HTML
// page of all reports in a folder.
//
// The package knows no experiment. It neither measures nor draws; it keeps, writes and compares what others found. A report
// says what was measured and which command repeats it, and marks what is simulated.
package report
