//go:build !race

package batch

// calls is how many calls each answer of TestTogetherEqualsAlone makes: 10,000 in all.
const calls = 200
