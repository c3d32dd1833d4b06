package connections

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/internal/canon"
	"github.com/mcpcontract/mcpcontract/result"
	"github.com/mcpcontract/mcpcontract/vault"
)

// A request to register something is kept until its token comes back, perhaps in
// another process. The token store keeps requests in clear, and a pasted text may
// hold secrets. So the text never gets that far: before the command sees it, it
// is replaced by an id, and it is kept in the vault, sealed, under that id.
const (
	pastePrefix = "paste/"
	pasteKey    = pastePrefix + "key"

	// maxPaste leaves room in a secret, of 64 KiB, for what is kept with a text.
	maxPaste = 60 << 10
	// maxPastes and pasteLife bound what is kept. The life is that of a token
	// which was begun.
	maxPastes = 32
	pasteLife = 24 * time.Hour
)

// isPaste reports whether a name of the vault is one of these, and no secret that
// anybody set.
func isPaste(name string) bool { return strings.HasPrefix(name, pastePrefix) }

// pasteID names a request: its kind, what it brings, and the name it asks for. It is
// the same in every process, so that a call which comes again is the same call,
// and says nothing about the text to who has not the vault's key.
func (s *Store) pasteID(ctx context.Context, kind, text, name string) (string, error) {
	key, _, err := s.profile.Get(pasteKey)
	if vault.CodeOf(err) == vault.CodeSecretMissing {
		err = s.vault.Update(ctx, func(tx *vault.Tx) error {
			if key, _, err = tx.Get(s.profile.Name(), pasteKey); vault.CodeOf(err) != vault.CodeSecretMissing {
				return err
			}
			return tx.Set(s.profile.Name(), pasteKey, rand.Text())
		})
		if err == nil {
			key, _, err = s.profile.Get(pasteKey)
		}
	}
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(canon.Digest("connections/paste/1", []byte(kind), []byte(text), []byte(name))))
	return hex.EncodeToString(mac.Sum(nil))[:32], nil
}

// keptText is what it takes to compute a proposal again.
type keptText struct {
	Open []string `json:"open,omitempty"` // names without a value
	Text string   `json:"-"`              // follows in a line of its own

	// Applied names the connection that the text became. Then the text is gone.
	Applied string `json:"applied,omitempty"`
}

// keep stores a text, or renews it. The name carries the time, so that old ones
// are found without being read.
func (s *Store) keep(ctx context.Context, id string, k keptText) error {
	head, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if size := len(head) + len(k.Text); size >= maxPaste+4<<10 {
		return tooLarge(size)
	}
	return s.vault.Update(ctx, func(tx *vault.Tx) error {
		if err := s.prune(tx, id); err != nil {
			return err
		}
		name := pastePrefix + id + "/" + strconv.FormatInt(s.now().Unix(), 10)
		return tx.Set(s.profile.Name(), name, string(head)+"\n"+k.Text)
	})
}

// prune drops the text of that id, texts that are too old, and the oldest if
// there are too many.
func (s *Store) prune(tx *vault.Tx, id string) error {
	kept, err := s.pastes()
	if err != nil {
		return err
	}
	limit := s.now().Add(-pasteLife).Unix()
	for i, p := range kept {
		if p.id != id && p.time >= limit && i >= len(kept)-maxPastes+1 {
			continue
		}
		// One that is inherited, or gone by now, is not for this profile to drop.
		if err := tx.Delete(s.profile.Name(), p.name); err != nil && vault.CodeOf(err) != vault.CodeSecretMissing {
			return err
		}
	}
	return nil
}

// paste is a text that is kept.
type paste struct {
	name, id string
	time     int64
}

// pastes lists them, oldest first.
func (s *Store) pastes() ([]paste, error) {
	names, err := s.profile.Names()
	if err != nil {
		return nil, err
	}
	var list []paste
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, pastePrefix)
		id, at, both := strings.Cut(rest, "/")
		if !ok || !both {
			continue
		}
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			continue // of a later version
		}
		list = append(list, paste{name, id, seconds})
	}
	slices.SortFunc(list, func(a, b paste) int { return int(a.time - b.time) })
	return list, nil
}

// kept returns the text of that id. The code is [CodePasteExpired] if it is gone,
// and proposal_stale if that is so because it was carried out.
func (s *Store) kept(id string) (keptText, error) {
	list, err := s.pastes()
	if err != nil {
		return keptText{}, err
	}
	for _, p := range list {
		if p.id != id {
			continue
		}
		value, _, err := s.profile.Get(p.name)
		if err != nil {
			return keptText{}, err
		}
		head, text, _ := strings.Cut(value.Reveal(), "\n")
		k := keptText{Text: text}
		err = json.Unmarshal([]byte(head), &k)
		if err == nil && k.Applied != "" {
			err = stale(basePath("server", k.Applied))
		}
		return k, err
	}
	return keptText{}, &result.Error{Code: CodePasteExpired, Message: "the text of this proposal is no longer kept: prepare it again"}
}

// tooLarge says the limit, and what to do: most large texts are a whole settings file.
func tooLarge(size int) error {
	return &result.Error{
		Code:    CodeTooLarge,
		Message: fmt.Sprintf("the text has %d bytes, and a registration takes at most %d: send only the part with the server", size, maxPaste),
	}
}

// The kinds of what a request brings.
const (
	kindText      = "text"
	kindReference = "reference"
)

// incoming is in the context of a call that brought its text itself, rather than
// a token for it.
type incoming struct {
	text string
	kept bool // it is in the vault by now
}

// incomingKey finds an incoming in a context.
type incomingKey struct{}

// incomingOf reports whether a call brought its request itself.
func incomingOf(ctx context.Context) (*incoming, bool) {
	in, ok := ctx.Value(incomingKey{}).(*incoming)
	return in, ok
}

// intercept is the middleware that takes texts out of calls of the named tool.
func (s *Store) intercept(tool string) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			call, ok := req.(*mcp.CallToolRequest)
			if !ok || call.Params == nil || call.Params.Name != tool {
				return next(ctx, method, req)
			}
			ctx, call, err := s.withoutText(ctx, call)
			if err != nil {
				res := new(mcp.CallToolResult)
				res.SetError(err)
				return res, nil
			}
			return next(ctx, method, call)
		}
	}
}

// withoutText returns the call with an id in place of its text, and the context
// with the text. A call that is not well formed stays as it is, to be refused.
func (s *Store) withoutText(ctx context.Context, call *mcp.CallToolRequest) (context.Context, *mcp.CallToolRequest, error) {
	at := findText(call.Params.Arguments)
	if !at.prepare {
		return ctx, call, nil
	}
	ctx = context.WithValue(ctx, incomingKey{}, &incoming{text: at.text})
	if at.end == 0 {
		return ctx, call, nil
	}
	if len(at.text) > maxPaste {
		return ctx, nil, tooLarge(len(at.text))
	}
	id, err := s.pasteID(ctx, kindText, at.text, at.name)
	if err != nil {
		return ctx, nil, err
	}
	old := call.Params.Arguments
	params := *call.Params
	params.Arguments = slices.Concat(old[:at.start], []byte(strconv.Quote(id)), old[at.end:])
	changed := *call
	changed.Params = &params
	return ctx, &changed, nil
}

// place is where in the arguments of a request to prepare the text stands; end is
// 0 if there is none.
type place struct {
	prepare    bool
	text, name string
	start, end int
}

// findText looks for the strings request.op, request.text and request.name. If
// there are several of a name, the request is not well formed and will be refused,
// so it does not matter which one is found.
func findText(raw json.RawMessage) place {
	dec := json.NewDecoder(bytes.NewReader(raw))
	var at place
	if !enter(dec, "request") || !enter(dec, "") {
		return at
	}
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return place{}
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			continue
		}
		switch key {
		case "op":
			at.prepare = text == "prepare"
		case "name":
			at.name = text
		case "text":
			if value[0] != '"' {
				continue // null
			}
			at.end = int(dec.InputOffset())
			at.start = at.end - len(value)
			at.text = text
		}
	}
	return at
}

// enter reads up to the value of a key of an object, or for "" only its brace.
func enter(dec *json.Decoder, key string) bool {
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	if key == "" {
		return true
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return false
		}
		if name == key {
			return true
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}
