package connections

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mcpcontract/mcpcontract/normalize"
)

// eachText replaces every text of a record by what change returns for it, those
// of its notes included.
func eachText(s *normalize.Server, change func(string) string) {
	for _, field := range []*string{&s.Name, &s.Scope, &s.Choice, &s.Command, &s.EnvFile, &s.Cwd, &s.URL, &s.Image} {
		*field = change(*field)
	}
	for _, list := range []*[]string{&s.Args, &s.EnvUnset, &s.EnvFrom, &s.AllowTools, &s.DenyTools, &s.AutoApprove} {
		changeAll(list, change)
	}
	for _, list := range []*[]normalize.Pair{&s.Env, &s.Headers} {
		*list = slices.Clone(*list)
		for i, p := range *list {
			(*list)[i] = normalize.Pair{Name: change(p.Name), Value: change(p.Value)}
		}
	}
	if s.OAuth != nil {
		o := *s.OAuth
		o.ClientID, o.ClientSecret = change(o.ClientID), change(o.ClientSecret)
		changeAll(&o.Scopes, change)
		s.OAuth = &o
	}
	s.Inputs = slices.Clone(s.Inputs)
	for i := range s.Inputs {
		in := &s.Inputs[i]
		in.Description = change(in.Description)
		changeAll(&in.Options, change)
		changeAll(&in.Default, change)
	}
	s.Extra = rewriteStrings(s.Extra, func(_, value string) string { return change(value) })
	s.Notes = changeNotes(s.Notes, change)
	if s.Err != nil {
		e := *s.Err
		e.Subject, e.Message, e.Err = change(e.Subject), change(e.Message), nil
		s.Err = &e
	}
	if s.Equivalent != nil {
		direct := *s.Equivalent
		eachText(&direct, change)
		s.Equivalent = &direct
	}
}

// changeAll leaves a nil list nil: it may say something else than an empty one.
func changeAll(list *[]string, change func(string) string) {
	*list = slices.Clone(*list)
	for i, text := range *list {
		(*list)[i] = change(text)
	}
}

// cleanNotes takes out of notes what was found in the servers of their text.
func cleanNotes(list []normalize.Note, found []sealed) []normalize.Note {
	l := lifted(found)
	return changeNotes(list, func(text string) string { return lift1(l.clean(text)) })
}

// changeNotes also drops the texts that the notes say were left out of a record:
// they are of no use here, and may be secret.
func changeNotes(list []normalize.Note, change func(string) string) []normalize.Note {
	out := slices.Clone(list)
	for i := range out {
		n := &out[i]
		n.Subject, n.Message, n.Dropped = change(n.Subject), change(n.Message), ""
	}
	return out
}

// rewriteStrings returns a JSON object with each string value, at any depth,
// replaced by what change returns for it and the name it stands under. Order,
// names and numbers stay. What is no JSON comes back as nil.
func rewriteStrings(raw json.RawMessage, change func(key, value string) string) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	w := jsonWriter{dec: json.NewDecoder(bytes.NewReader(raw)), change: change}
	w.dec.UseNumber()
	if w.value("") != nil {
		return nil
	}
	return w.out.Bytes()
}

// A jsonWriter copies one JSON value.
type jsonWriter struct {
	dec    *json.Decoder
	out    bytes.Buffer
	change func(key, value string) string
}

// value copies one value that stands under key.
func (w *jsonWriter) value(key string) error {
	token, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return w.group(key, t)
	case string:
		return w.encode(w.change(key, t))
	}
	return w.encode(token)
}

// group copies an object or a list. The values of a list stand under its name.
func (w *jsonWriter) group(key string, open json.Delim) error {
	w.out.WriteRune(rune(open))
	for i := 0; w.dec.More(); i++ {
		if i > 0 {
			w.out.WriteByte(',')
		}
		name := key
		if open == '{' {
			token, err := w.dec.Token()
			if err != nil {
				return err
			}
			name, _ = token.(string)
			if err := w.encode(name); err != nil {
				return err
			}
			w.out.WriteByte(':')
		}
		if err := w.value(name); err != nil {
			return err
		}
	}
	end, err := w.dec.Token()
	if err != nil {
		return err
	}
	w.out.WriteRune(rune(end.(json.Delim)))
	return nil
}

// encode writes a name or a value that has no parts. Numbers keep their text.
func (w *jsonWriter) encode(v any) error {
	enc := json.NewEncoder(&w.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	w.out.Truncate(w.out.Len() - 1) // the line break
	return nil
}
