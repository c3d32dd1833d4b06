package probe

import (
	"net/url"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// Redact hides values in a text.
func Redact(values []string, text string, cut bool) string {
	return newRedactor(values).text(text, cut)
}

// Own reports whether an address belongs to the server of a launch.
func Own(launch, address string) bool {
	u, err := url.Parse(address)
	return err == nil && newProbe(normalize.Launch{URL: launch}, nil).own(u)
}

// Decode gives the number of messages of a line.
func Decode(line []byte) (int, error) {
	messages, err := decode(line)
	return len(messages), err
}
