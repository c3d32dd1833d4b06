package registry

import "github.com/mcpcontract/mcpcontract/internal/wording"

// didYouMean gives the end of a message that names the most similar of some names, "" if none is similar.
func didYouMean(s string, names []string) string {
	best := wording.Nearest(s, names)
	if best == "" {
		return ""
	}
	return "; did you mean " + quote(best) + "?"
}
