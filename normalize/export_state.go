package normalize

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/normalize/internal/syntax"
)

// canSwitchOff reports whether the client can hold a server that is off.
func (x *exporter) canSwitchOff() bool {
	return x.fieldOf(roleEnabled) != "" || x.fieldOf(roleDisabled) != "" || x.q.excludes
}

func (x *exporter) state(n *syntax.Node) {
	switch {
	case x.q.needsState:
		x.put(n, roleEnabled, boolNode(!x.s.Disabled))
	case !x.s.Disabled:
	case x.put(n, roleEnabled, boolNode(false)), x.put(n, roleDisabled, boolNode(true)):
	default:
		x.excluded = append(x.excluded, x.name)
	}
}

// tools writes which tools there are. A client without a list of denied tools
// gets the allowed ones without them.
func (x *exporter) tools(n *syntax.Node) {
	allow, deny := x.s.AllowTools, x.s.DenyTools
	all := len(allow) == 1 && allow[0] == "*"
	if len(deny) > 0 && !x.put(n, roleDeny, listNode(deny)) {
		if allow == nil || all {
			x.lose("tools.deny", "the client cannot take tools away")
		} else {
			allow = slices.DeleteFunc(slices.Clone(allow), func(t string) bool { return slices.Contains(deny, t) })
			x.lose("tools.deny", "the allowed tools are written without the denied ones")
		}
	}
	switch {
	case x.d.needsTools && allow == nil:
		x.put(n, roleAllow, listNode([]string{"*"}))
	case allow == nil, all && !x.d.needsTools:
	case !x.put(n, roleAllow, listNode(allow)):
		x.lose("tools.allow", "the client cannot restrict the tools")
	}
	x.approvals(n)
}

// approvals writes which tools run without a question, if that is wanted.
func (x *exporter) approvals(n *syntax.Node) {
	tools := x.s.AutoApprove
	if len(tools) == 0 {
		return
	}
	if !x.opts.AutoApprove {
		x.note(ApprovalsUnset, x.s.Name, "the client will ask before it runs these tools")
		return
	}
	all := len(tools) == 1 && tools[0] == "*"
	switch {
	case x.put(n, roleApprove, listNode(tools)):
	case all && x.put(n, roleTrust, boolNode(true)):
	case all && x.put(n, roleApproveMode, textNode("approve")):
	case !all && x.d.name(roleToolTables) != "":
		tables := objectNode()
		for _, tool := range tools {
			mode := objectNode()
			setMember(mode, "approval_mode", textNode("approve"))
			setMember(tables, tool, mode)
		}
		x.put(n, roleToolTables, tables)
	default:
		x.lose("tools.auto_approve", "the client has no place for it")
	}
}

func (x *exporter) timeouts(n *syntax.Node) {
	x.timeout(n, "timeouts.startup", x.s.StartTimeout, roleStartMS, roleStartSec)
	x.timeout(n, "timeouts.call", x.s.CallTimeout, roleCallMS, roleCallSec)
}

// timeout writes a time in the client's unit, rounded up to what the unit can
// say: seconds are whole, but for the one field that takes a fraction.
func (x *exporter) timeout(n *syntax.Node, field string, t time.Duration, ms, sec role) {
	if t <= 0 {
		return
	}
	r, unit, step := sec, time.Second, time.Second
	switch {
	case x.d.name(sec) == "" && x.d.name(ms) == "":
		x.lose(field, "the client has no such time")
		return
	case x.d.name(sec) == "":
		r, unit, step = ms, time.Millisecond, time.Millisecond
	case x.q.fraction && sec == roleStartSec:
		step = time.Millisecond
	}
	limited := x.limit(field, t)
	t = (limited + step - 1) / step * step
	if t != limited {
		x.lose(field, "the client's unit is coarser, so the time is rounded up")
	}
	x.put(n, r, numberNode(strconv.FormatFloat(float64(t)/float64(unit), 'f', -1, 64)))
}

// limit brings a time into the range that the client takes.
func (x *exporter) limit(field string, t time.Duration) time.Duration {
	switch {
	case x.q.maxTime > 0 && t > x.q.maxTime:
		x.lose(field, "the client takes at most "+x.q.maxTime.String())
		return x.q.maxTime
	case t < x.q.minTime:
		x.lose(field, "the client ignores a time below "+x.q.minTime.String())
	}
	return t
}

// oauth writes what the record says about signing in.
func (x *exporter) oauth(n *syntax.Node) {
	o := x.s.OAuth
	if o == nil {
		return
	}
	if o.Off && !x.oauthOff(n) {
		return
	}
	said := x.oauthText(n, "oauth.client_id", roleOAuthID, o.ClientID)
	said = x.oauthText(n, "oauth.client_secret", roleOAuthSecret, o.ClientSecret) || said
	said = x.oauthScopes(n, o.Scopes) || said
	switch {
	case said, o.Off:
	case o.ClientID+o.ClientSecret != "" || len(o.Scopes) > 0: // said to be lost
	case x.put(n, roleOAuthOn, boolNode(true)):
	case x.q.oauthBool:
		x.put(n, roleOAuth, boolNode(true))
	case !x.put(n, roleOAuth, objectNode()):
		x.lose("oauth", "the client has no place for it")
	}
}

// oauthOff switches it off. It reports whether the client keeps the rest beside
// the switch.
func (x *exporter) oauthOff(n *syntax.Node) bool {
	switch {
	case x.put(n, roleOAuthOn, boolNode(false)):
		return true
	case !x.q.oauthFalse:
		x.lose("oauth", "the client cannot switch it off")
		return false
	}
	x.put(n, roleOAuth, boolNode(false))
	if o := x.s.OAuth; o.ClientID+o.ClientSecret != "" || len(o.Scopes) > 0 {
		x.lose("oauth", "the client keeps nothing beside the switch")
	}
	return false
}

func (x *exporter) oauthText(n *syntax.Node, field string, r role, value string) bool {
	if value == "" {
		return false
	}
	if !x.put(n, r, textNode(x.text(field, value))) {
		x.lose(field, "the client has no place for it")
		return false
	}
	return true
}

// oauthScopes writes the scopes: a list, or one text with blanks for the
// clients that follow the standard's own spelling.
func (x *exporter) oauthScopes(n *syntax.Node, scopes []string) bool {
	if len(scopes) == 0 {
		return false
	}
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = x.text("oauth.scopes", scope)
	}
	value := listNode(words)
	if x.q.scopesText {
		value = textNode(strings.Join(words, " "))
	}
	if !x.put(n, roleOAuthScopes, value) {
		x.lose("oauth.scopes", "the client has no place for it")
		return false
	}
	return true
}

// extra brings back the fields that only the record's own client knows.
func (x *exporter) extra(n *syntax.Node) {
	if len(x.s.Extra) == 0 {
		return
	}
	bag, _, _, err := syntax.JSON(string(x.s.Extra))
	if err != nil || !bag.IsObject() {
		x.lose("extra", "it is no JSON object")
		return
	}
	for _, m := range bag.Members {
		if x.s.Dialect != x.d.id {
			x.lose("extra."+m.Name, "only the record's own client knows this field")
		} else {
			merge(n, m)
		}
	}
}

// merge adds a member that is not there, and in objects that are there what
// they lack.
func merge(n *syntax.Node, m syntax.Member) {
	have := n.Get(m.Name)
	switch {
	case have == nil:
		n.Members = append(n.Members, m)
	case have.IsObject() && m.Value.IsObject():
		for _, inner := range m.Value.Members {
			merge(have, inner)
		}
	}
}
