package normalize

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// takeState reads the off switch.
func (e *entry) takeState() {
	on, onSaid := e.boolean(e.first(roleEnabled))
	off, offSaid := e.boolean(e.first(roleDisabled))
	if onSaid && offSaid && on == off {
		e.note(EnableConflict, "", e.off)
	}
	e.s.Disabled = onSaid && !on || offSaid && off
}

// boolean reads a boolean, also from what people write in its place.
func (e *entry) boolean(h *hit) (value, ok bool) {
	if h == nil {
		return false, false
	}
	switch text := strings.ToLower(strings.TrimSpace(h.node.Text)); {
	case h.node.Kind == syntax.Bool:
		if h.node.JS {
			e.note(JSBoolean, h.name, h.off)
		}
		value, ok = h.node.True(), true
	case text == "true" || text == "yes" || text == "on" || text == "1":
		value, ok = true, true
		e.note(StringBool, h.name, h.off)
	case text == "false" || text == "no" || text == "off" || text == "0":
		ok = true
		e.note(StringBool, h.name, h.off)
	default:
		e.keep(*h)
		return false, false
	}
	e.took(h)
	return value, ok
}

// takeTools reads the lists of tools and of approvals.
func (e *entry) takeTools() {
	if h := e.first(roleAllow); h != nil {
		if list, ok := e.toolList(h); ok && (len(list) > 0 || !e.d.emptyAllowsAll) {
			e.s.AllowTools = list
		}
	}
	if h := e.first(roleDeny); h != nil {
		e.s.DenyTools, _ = e.toolList(h)
	}
	if len(e.s.AllowTools) == 0 && e.s.AllowTools != nil {
		e.note(NoToolsEnabled, "", e.first(roleAllow).off)
	}
	for i := range e.hits {
		e.takeApproval(&e.hits[i])
	}
	e.approve()
}

// takeApproval reads one field about tools that run without a question.
func (e *entry) takeApproval(h *hit) {
	switch h.role {
	case roleApprove:
		if h.node.Kind == syntax.Bool {
			if h.node.True() {
				e.s.AutoApprove = []string{"*"}
			}
			return
		}
		list, _ := e.toolList(h)
		e.s.AutoApprove = append(e.s.AutoApprove, list...)
	case roleTrust:
		if v, ok := e.boolean(h); ok && v {
			e.s.AutoApprove = []string{"*"}
		}
	case roleApproveMode:
		if h.node.Text == "approve" {
			e.s.AutoApprove = append(e.s.AutoApprove, "*")
		}
	case roleToolTables:
		for _, m := range h.node.Members {
			if mode := m.Value.Get("approval_mode"); mode != nil && mode.Text == "approve" {
				e.s.AutoApprove = append(e.s.AutoApprove, m.Name)
			}
		}
	}
}

// approve settles the list of approvals: "*" means all and stands alone.
func (e *draft) approve() {
	if slices.Contains(e.s.AutoApprove, "*") {
		e.s.AutoApprove = []string{"*"}
	}
	if len(e.s.AutoApprove) > 0 {
		e.note(AutoApproveImported, "", e.off)
	}
}

// toolList reads a list of tool names. An empty list is not nil.
func (e *entry) toolList(h *hit) ([]string, bool) {
	switch h.node.Kind {
	case syntax.Array:
	case syntax.String:
		return strings.FieldsFunc(h.node.Text, func(r rune) bool { return r == ',' || r == ' ' }), true
	default:
		e.keep(*h)
		return nil, false
	}
	list := []string{}
	for _, item := range h.node.Items {
		if item.Kind == syntax.String && !slices.Contains(list, item.Text) {
			list = append(list, item.Text)
		}
	}
	if slices.Contains(list, "*") {
		list = []string{"*"}
	}
	return list, true
}

// maxTimeout bounds timeouts: longer ones mean "never" or are mistakes.
const maxTimeout = 30 * 24 * time.Hour

// takeTimeouts reads the timeouts. Of two fields for one thing, the one in
// seconds wins, as in the one client that has both.
func (e *entry) takeTimeouts() {
	e.s.StartTimeout = e.timeout(roleStartSec, roleStartMS)
	e.s.CallTimeout = e.timeout(roleCallSec, roleCallMS, roleTimeout)
}

func (e *entry) timeout(roles ...role) time.Duration {
	var got time.Duration
	for _, r := range roles {
		for i := range e.hits {
			h := &e.hits[i]
			if h.role != r || h.node.Kind == syntax.Null {
				continue
			}
			if got != 0 {
				e.keep(*h)
				continue
			}
			d, ok := e.duration(h)
			if !ok {
				e.dropped(TimeoutInvalid, h.name, h.node)
				continue
			}
			e.took(h)
			got = d
		}
	}
	return got
}

// duration converts the value of a timeout field.
func (e *entry) duration(h *hit) (time.Duration, bool) {
	if h.node.Kind != syntax.Number && h.node.Kind != syntax.String {
		return 0, false
	}
	text := strings.TrimSpace(h.node.Text)
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil {
		d, err := time.ParseDuration(text) // with a unit
		return d, err == nil && d > 0 && d <= maxTimeout
	}
	if math.IsNaN(x) || x <= 0 {
		return 0, false
	}
	unit := time.Millisecond
	switch {
	case h.role == roleStartSec || h.role == roleCallSec:
		unit = time.Second
	case h.role == roleTimeout && e.d.id == Generic:
		e.note(TimeoutUnitGuessed, "", h.off)
		if x < 1000 {
			unit = time.Second
		}
	}
	if x > float64(maxTimeout)/float64(unit) {
		return 0, false
	}
	return time.Duration(math.Round(x * float64(unit))), true
}

// takeOAuth reads what the entry says about signing in.
func (e *entry) takeOAuth() {
	for i := range e.hits {
		h := &e.hits[i]
		switch h.role {
		case roleOAuth:
			e.takeOAuthNode(h)
		case roleOAuthID, roleOAuthSecret, roleOAuthScopes, roleOAuthOn:
			e.takeOAuthField(h.role, h.node)
		}
	}
}

func (e *entry) takeOAuthNode(h *hit) {
	switch {
	case h.node.Kind == syntax.Bool:
		e.oauth().Off = h.node.False()
	case h.node.IsObject() && (h.rank != rankPlain || len(h.node.Members) == 0 || hasOAuthField(h.node)):
		e.oauth()
		for _, m := range h.node.Members {
			if !e.takeOAuthField(oauthRole(m.Name), m.Value) {
				e.keep(hit{name: h.name + "." + m.Name, node: m.Value, off: m.Offset})
			}
		}
	default:
		e.keep(*h)
	}
}

func hasOAuthField(n *syntax.Node) bool {
	return slices.ContainsFunc(n.Members, func(m syntax.Member) bool { return oauthRole(m.Name) != roleNone })
}

// oauthRole gives the meaning of a name inside an object about signing in.
func oauthRole(name string) role {
	switch squash(name) {
	case "clientid":
		return roleOAuthID
	case "clientsecret":
		return roleOAuthSecret
	case "scopes", "scope":
		return roleOAuthScopes
	case "enabled":
		return roleOAuthOn
	}
	return roleNone
}

func (e *entry) oauth() *OAuth {
	if e.s.OAuth == nil {
		e.s.OAuth = &OAuth{}
	}
	return e.s.OAuth
}

// takeOAuthField reads one part. It reports false for what it does not know.
func (e *entry) takeOAuthField(r role, n *syntax.Node) bool {
	switch {
	case r == roleOAuthScopes && n.Kind == syntax.Array:
		for _, item := range n.Items {
			if item.Kind == syntax.String {
				e.oauth().Scopes = append(e.oauth().Scopes, item.Text)
			}
		}
	case r == roleOAuthScopes && n.Kind == syntax.String:
		e.oauth().Scopes = append(e.oauth().Scopes, strings.FieldsFunc(n.Text, func(r rune) bool { return r == ' ' || r == ',' })...)
	case r == roleOAuthID && n.Scalar():
		e.oauth().ClientID = n.Text
	case r == roleOAuthSecret && n.Scalar():
		e.oauth().ClientSecret = n.Text
	case r == roleOAuthOn && n.Kind == syntax.Bool:
		e.oauth().Off = n.False()
	default:
		return false
	}
	return true
}
