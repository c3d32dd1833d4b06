package lookup

// Canonical gives the canonical spelling of a reference, and what it names.
func Canonical(text string) (spelling, kind string, err error) {
	ref, err := parseReference(text)
	if err != nil {
		return "", "", err
	}
	return ref.String(), ref.describe(), nil
}
