package probe

// Redact hides values in a text.
func Redact(values []string, text string, cut bool) string {
	return newRedactor(values).text(text, cut)
}

// Secrets gives what of a command line and an address counts as secret.
var (
	ArgSecrets    = argSecrets
	HeaderSecrets = headerSecrets
	URLSecrets    = urlSecrets
)

// Decode gives the number of messages of a line.
func Decode(line []byte) (int, error) {
	messages, err := decode(line)
	return len(messages), err
}
