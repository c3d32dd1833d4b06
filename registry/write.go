package registry

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/mcpcontract/mcpcontract/internal/schemagen/shape"
	"github.com/mcpcontract/mcpcontract/internal/yamldoc"
)

// maxYAMLRepos is how many entries are written as YAML: reading it takes four times as long as JSON and ten
// times the memory.
const maxYAMLRepos = 5000

func write(f shape.File) ([]byte, error) {
	if len(f.Repos) <= maxYAMLRepos {
		return yamldoc.Marshal(f)
	}
	return writeLines(f)
}

// writeLines writes JSON with one entry on a line, so that a change of one shows as one changed line.
func writeLines(f shape.File) ([]byte, error) {
	repos := f.Repos
	f.Repos = []shape.Repo{}
	head, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, err
	}
	head, ok := bytes.CutSuffix(head, []byte("[]\n}"))
	if !ok {
		return nil, errors.New("registry: repos is not the last field of shape.File")
	}
	buf := bytes.NewBuffer(head)
	buf.WriteByte('[')
	for i := range repos {
		comma(buf, i)
		line, err := json.Marshal(&repos[i])
		if err != nil {
			return nil, err
		}
		buf.WriteString("\n    ")
		buf.Write(line)
	}
	buf.WriteString("\n  ]\n}\n")
	return buf.Bytes(), nil
}
