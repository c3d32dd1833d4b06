package survey

import (
	"strings"
)

// Owner gives the owner of everything in a repo, from the last rule for "*" in its CODEOWNERS file, and that
// file. It is "" where there is no such rule, or where the rule names nobody. Of several owners the first
// counts.
func Owner(f *Folder) (owner, file string) {
	for _, file := range []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"} {
		data, ok := f.Read(file)
		if !ok {
			continue // only the first file that is there counts
		}
		for line := range strings.Lines(string(data)) {
			line, _, _ = strings.Cut(line, "#")
			if words := strings.Fields(line); len(words) > 0 && words[0] == "*" {
				owner = ""
				if len(words) > 1 {
					owner = words[1]
				}
			}
		}
		return owner, file
	}
	return "", ""
}
