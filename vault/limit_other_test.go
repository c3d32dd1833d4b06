//go:build !linux

package vault_test

import "errors"

const canLimitFiles = false

func limitFiles(uint64) (func() error, error) { return nil, errors.ErrUnsupported }
