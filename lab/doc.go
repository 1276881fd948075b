// Package lab measures how fast a pair answers, and draws it (DRAGON §6, §7.3, §7.4): experiments that run
// live nodes over emulated paths or the machines of package pair in virtual time (sim), the rows that they
// produce, and the report. Every figure is redone by one command; what is simulated is marked so.
//
// Nothing of the protocol is written here. Methods to compare with share the code of the pair wherever they
// can: lock step is a placement, one side alone is a pair without a cloud.
package lab
