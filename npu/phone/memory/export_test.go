package memory

// Checking reports whether invariants are checked, by the build tag npucheck.
const Checking = checking
