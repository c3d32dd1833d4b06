// Package result gives each tool result one representation: the one that the
// calling client can read, within a budget.
package result
