// Package lab measures how fast a pair answers and draws the results (DRAGON §6, §7.3, §7.4). Experiments run live nodes over
// emulated paths, or the machines of package pair in virtual time (lab/sim). An experiment makes a report.Report, and whatever
// is simulated is labelled so. The index of many passages is timed here too.
//
// The package does not implement the protocol. The methods to compare with share the pair's code where they can: lock step
// is a placement, and one side alone is a pair without a cloud. It knows no phone and judges no answer: lab/spec measures
// drafting on one side, lab/phone simulates phones, lab/answers and lab/quality score answers.
package lab
