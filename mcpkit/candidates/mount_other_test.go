//go:build !linux

package candidates_test

import "testing"

// privateMounts does nothing where nothing is mounted.
func privateMounts(*testing.T) {}
