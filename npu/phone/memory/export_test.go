package memory

// Checking says that the invariants are checked: the build tag npucheck.
const Checking = checking
