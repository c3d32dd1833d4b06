package probe

import (
	"net/url"
	"slices"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
	"github.com/mcpcontract/mcpcontract/normalize"
)

// secretsOf gives the values of a launch, of the variables forwarded to it and
// of the caller: in all what must not turn up in an error, in marked what is a
// secret by its name or shape.
func secretsOf(l normalize.Launch, forwarded []normalize.Pair, hide []string) (all, marked []string) {
	for _, p := range slices.Concat(l.Env, forwarded) {
		if !secrets.May(p.Name, p.Value) && !secrets.Common(p.Value) {
			all = append(all, p.Value)
		}
		marked = append(marked, secrets.Pieces(p.Name, p.Value)...)
	}
	for _, p := range l.Headers {
		marked = append(marked, secrets.Pieces(p.Name, p.Value)...)
		if !secrets.Common(p.Value) { // whatever it is for, the server alone gets it
			marked = append(marked, secrets.Pieces("Authorization", p.Value)...)
		}
	}
	marked = append(marked, secrets.ArgPieces(l.Args)...)
	marked = append(marked, secrets.Pieces("", l.URL)...)
	if _, err := url.Parse(l.URL); err != nil {
		marked = append(marked, l.URL) // nobody can tell its parts
	}
	if l.OAuth != nil {
		marked = append(marked, l.OAuth.ClientSecret)
	}
	for _, v := range hide {
		marked = append(append(marked, v), secrets.Pieces("", v)...)
	}
	return append(all, marked...), marked
}
