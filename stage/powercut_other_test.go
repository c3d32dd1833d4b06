//go:build !linux

package stage_test

func cutChild() int { return 2 }
