package candidates

import (
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/stage"
)

// Outcome returns what operation_recover and operation_abort answer.
func Outcome(r stage.Recovery) (any, error) {
	pager, err := paging.New(result.NewSealer(0), "candidates", maxPage)
	if err != nil {
		return nil, err
	}
	return (&feature{pager: pager}).outcome(r), nil
}
