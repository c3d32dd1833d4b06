package normalize

import (
	"strings"
)

// rank says how a field's name relates to the client's own, best first.
type rank uint8

const (
	rankOwn     rank = iota // the client's name
	rankPlain               // the plain name, where the client has no other
	rankCase                // one of these in another case
	rankSynonym             // a name of other clients
)

// plainFields are the names that most clients share.
var plainFields = []field{
	{"command", roleCommand},
	{"args", roleArgs},
	{"env", roleEnv},
	{"cwd", roleCwd},
	{"url", roleURL},
	{"headers", roleHeaders},
	{"type", roleType},
	{"enabled", roleEnabled},
	{"disabled", roleDisabled},
	{"timeout", roleTimeout},
}

// synonyms are further names, lower-cased and without the signs between words.
// Those of roles without a plain name are as good as own names.
var synonyms = map[string]role{
	"command": roleCommand, "cmd": roleCommand, "program": roleCommand, "executable": roleCommand, "exec": roleCommand,
	"args": roleArgs, "arguments": roleArgs, "argv": roleArgs, "parameters": roleArgs, "commandargs": roleArgs,
	"env": roleEnv, "environment": roleEnv, "environmentvariables": roleEnv, "envvars": roleEnv, "envs": roleEnv,
	"environ": roleEnv, "envvariables": roleEnv,
	"cwd": roleCwd, "workingdirectory": roleCwd, "workingdir": roleCwd, "workdir": roleCwd,
	"url": roleURL, "serverurl": roleURL, "uri": roleURL, "endpoint": roleURL, "baseurl": roleURL, "address": roleURL,
	"httpurl": roleHTTPURL, "tcp": roleWSURL, "sseurl": roleURL,
	"headers": roleHeaders, "httpheaders": roleHeaders, "requestheaders": roleHeaders, "customheaders": roleHeaders,
	"extraheaders": roleHeaders, "requestinit.headers": roleHeaders, "requestoptions.headers": roleHeaders,
	"type": roleType, "transport": roleType, "transporttype": roleType, "transport.type": roleType, "protocol": roleType,
	"connectiontype": roleType,
	"enabled":        roleEnabled, "isenabled": roleEnabled, "enable": roleEnabled, "active": roleEnabled, "isactive": roleEnabled,
	"disabled": roleDisabled, "isdisabled": roleDisabled, "disable": roleDisabled,
	"timeout": roleTimeout, "requesttimeout": roleTimeout, "tooltimeout": roleTimeout, "calltimeout": roleTimeout,
	"timeoutms": roleCallMS, "requesttimeoutms": roleCallMS, "timeoutseconds": roleCallSec, "timeoutsec": roleCallSec,
	"tooltimeoutsec": roleCallSec,

	"name": roleName, "envfile": roleEnvFile, "envfrom": roleEnvFrom, "envkeys": roleEnvKeys,
	"envhttpheaders": roleHeaderVars, "bearertokenenvvar": roleBearerVar,
	"bearertoken":       roleBearer,
	"startuptimeoutsec": roleStartSec, "startuptimeoutms": roleStartMS, "connectiontimeout": roleStartMS,
	"inittimeout": roleStartMS, "discoverytimeoutms": roleStartMS,
	"tools": roleAllow, "includetools": roleAllow, "enabledtools": roleAllow, "allowedtools": roleAllow,
	"availabletools": roleAllow,
	"excludetools":   roleDeny, "disabledtools": roleDeny, "blockedtools": roleDeny, "excludedtools": roleDeny,
	"autoapprove": roleApprove, "alwaysallow": roleApprove, "autoallow": roleApprove, "trust": roleTrust,
	"oauth": roleOAuth, "auth": roleOAuth, "oauthclientid": roleOAuthID, "oauthclientsecret": roleOAuthSecret,
	"oauthscopes": roleOAuthScopes, "requestoptions.verifyssl": roleVerifyTLS,
	"verifyssl": roleVerifyTLS, "sslverify": roleVerifyTLS, "verifytls": roleVerifyTLS, "rejectunauthorized": roleVerifyTLS,
	"insecure": roleVerifyTLS, "insecureskipverify": roleVerifyTLS, "requestinit.rejectunauthorized": roleVerifyTLS,
}

// synonymRole gives the role of a name in any client, in any spelling.
func synonymRole(name string) role { return synonyms[squash(name)] }

// kindOf groups the roles that are ways to say one thing: a client that has
// one of them has a name of its own for the thing.
func kindOf(r role) role {
	switch r {
	case roleStartMS, roleStartSec, roleCallMS, roleCallSec, roleTimeout:
		return roleTimeout
	case roleEnabled, roleDisabled:
		return roleEnabled
	case roleURL, roleHTTPURL:
		return roleURL
	}
	return r
}

// plain tells whether a thing has a plain name.
func plain(r role) bool {
	if r == roleStartMS || r == roleStartSec {
		return false
	}
	r = kindOf(r)
	for _, f := range plainFields {
		if kindOf(f.role) == r {
			return true
		}
	}
	return false
}

// has tells whether the client has a name of its own for a thing.
func (d *dialect) has(r role) bool {
	r = kindOf(r)
	for i := range d.fields {
		if kindOf(d.fields[i].role) == r {
			return true
		}
	}
	return false
}

// role gives what a field of this name means to the client, or would mean to
// another one. Guessed is set where the client is known from other fields only:
// then plain names are as good as the client's.
func (d *dialect) role(name string, guessed bool) (role, rank) {
	for i := range d.fields {
		if d.fields[i].name == name {
			return d.fields[i].role, rankOwn
		}
	}
	for i := range plainFields {
		if plainFields[i].name == name && (guessed || !d.has(plainFields[i].role)) {
			return plainFields[i].role, rankPlain
		}
	}
	return d.foreignRole(name)
}

// foreignRole is role for names that are not the client's.
func (d *dialect) foreignRole(name string) (role, rank) {
	for i := range d.fields {
		if strings.EqualFold(d.fields[i].name, name) {
			return d.fields[i].role, rankCase
		}
	}
	for i := range plainFields {
		if strings.EqualFold(plainFields[i].name, name) && !d.has(plainFields[i].role) {
			return plainFields[i].role, rankCase
		}
	}
	r := synonymRole(name)
	if r == roleNone {
		return roleNone, rankOwn
	}
	if plain(r) || r == roleBearer {
		return r, rankSynonym
	}
	return r, rankPlain
}

// container tells whether a field is an object that holds fields of the entry,
// such as requestInit with its headers.
func (d *dialect) container(name string) bool {
	if name == "requestInit" || name == "requestOptions" {
		return true
	}
	for i := range d.fields {
		if rest, ok := strings.CutPrefix(d.fields[i].name, name+"."); ok && rest != "" && !d.fields[i].role.oauth() {
			return true
		}
	}
	return false
}

// oauth tells whether a role is a part of signing in.
func (r role) oauth() bool { return r >= roleOAuth && r <= roleOAuthScopes }
