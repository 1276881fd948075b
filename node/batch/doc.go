// Package batch computes the passes of many answers together, as one pass of many rows. A pass of eight rows takes little
// longer than a pass of one, because both read all weights once (continuous batching; Orca, OSDI 2022, §3).
//
// Scheduler decides which rows the next pass computes, in this order: the next tokens of answers in progress; pieces of
// prompts, as many as the measured times of passes allow; next tokens that nobody needs yet. Within each class, devices take
// turns (deficit round robin; Shreedhar and Varghese, SIGCOMM 1995). Scheduler is a pure state machine: it has no clock, starts
// no goroutine and knows no model. Batch runs it over a model.
//
// A row that joins the pass of others seems free to its answer, but all of them wait for it. So that answers do not fill passes
// with guesses, Costs tells each what its rows would cost if every other took as many.
//
// On a processor two passes run at once if there are enough rows (npu.Traits.PassesAtOnce), because the threads of one pass
// wait for each other some dozen times a layer, the longer the busier the machine is.
//
// On a device that computes a row in the same way whatever other rows are in the pass (npu.Traits), the distributions of each
// answer are the same, bit for bit, as without other answers.
package batch
