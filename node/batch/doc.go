// Package batch computes the passes of many answers together, as one pass of many rows. A pass of eight rows takes little
// longer than a pass of one, because both read all weights once (continuous batching; Orca, OSDI 2022, §3).
//
// Scheduler decides which rows the next pass computes: the next tokens of answers that are under way first, then pieces
// of prompts, as many as the measured times of passes allow, then next tokens that nobody needs yet; in each class each
// device in its turn (deficit round robin; Shreedhar and Varghese, SIGCOMM 1995). It is a pure state machine: it has no
// clock, starts no goroutine and knows no model. Batch runs it over a model.
//
// On a processor two passes run at once if there are enough rows (npu.Traits.PassesAtOnce): the threads of one pass wait
// for each other some dozen times a layer, and all the longer the busier the machine is.
//
// On a device that computes each row in the same way whatever rows come with it (npu.Traits), the distribution of each
// answer is the same to the bit as without other answers.
package batch
