// Package lab measures how fast a pair answers and draws the results (DRAGON §6, §7.3, §7.4). Experiments run live nodes over
// emulated paths, or the machines of package pair in virtual time (lab/sim). An experiment makes a Report: results, figures
// and findings. One command repeats each experiment, and whatever is simulated is labelled so.
//
// The package does not implement the protocol. The methods to compare with share the pair's code where they can: lock step
// is a placement, and one side alone is a pair without a cloud.
package lab
