package normalize

import (
	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// readInputs reads the prompts that a file declares beside its servers.
func (r *reader) readInputs(n *syntax.Node) {
	if n == nil {
		return
	}
	for _, item := range n.Items {
		id := item.Get("id")
		if id == nil || id.Kind != syntax.String {
			continue
		}
		in := Input{ID: id.Text}
		for _, m := range item.Members {
			switch m.Name {
			case "type":
				in.Kind = m.Value.Text
			case "description":
				in.Description = m.Value.Text
			case "password":
				in.Secret = m.Value.True()
			case "options":
				in.Options = optionTexts(m.Value)
			case "default":
				if m.Value.Scalar() {
					in.Default = []string{m.Value.Text}
				}
			}
		}
		r.declare(in)
	}
}

// optionTexts reads the choices of a prompt: texts, or objects with a value.
func optionTexts(n *syntax.Node) []string {
	var out []string
	for _, item := range n.Items {
		if value := item.Get("value"); value != nil {
			item = value
		}
		if item.Scalar() {
			out = append(out, item.Text)
		}
	}
	return out
}

// declare adds a prompt that the document declares.
func (r *reader) declare(in Input) {
	if findInput(r.inputs, in.ID) == nil {
		r.inputs = append(r.inputs, in)
	}
	if findInput(r.declared, in.ID) == nil {
		r.declared = append(r.declared, in)
	}
}

func findInput(inputs []Input, id string) *Input {
	for i := range inputs {
		if inputs[i].ID == id {
			return &inputs[i]
		}
	}
	return nil
}

// useInput attaches the declaration of a prompt to the record that refers to
// it.
func (e *draft) useInput(id string, off int) {
	if findInput(e.s.Inputs, id) != nil {
		return
	}
	in := findInput(e.inputs, id)
	if in == nil {
		in = findInput(e.r.inputs, id)
	}
	if in == nil {
		e.note(InputUndefined, clip(id), off)
		return
	}
	e.s.Inputs = append(e.s.Inputs, *in)
}

// ownInput attaches a prompt that the reference itself declares.
func (e *draft) ownInput(in Input) {
	if findInput(e.s.Inputs, in.ID) == nil {
		e.s.Inputs = append(e.s.Inputs, in)
	}
}

// fillInputs brings the defaults of the record's prompts into the one spelling.
// Defaults may name further prompts, so the list can grow meanwhile.
func (e *draft) fillInputs() {
	for i := 0; i < len(e.s.Inputs); i++ {
		in := e.s.Inputs[i]
		if len(in.Default) == 0 {
			continue
		}
		out := make([]string, len(in.Default))
		for j, text := range in.Default {
			s := spelling{e: e, field: fieldPath{field: inputPrefix + in.ID}, off: e.off}
			out[j] = s.canonical(text)
		}
		e.s.Inputs[i].Default = out
	}
}
