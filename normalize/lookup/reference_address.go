package lookup

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpcontract/mcpcontract/internal/secrets"
)

// knownHost tells whether addresses of a host are references that lookup reads.
func knownHost(host string) bool {
	switch strings.TrimPrefix(host, "www.") {
	case "github.com", "ssh.github.com", "api.github.com", "raw.githubusercontent.com",
		"registry.modelcontextprotocol.io", "glama.ai", "smithery.ai", "server.smithery.ai":
		return true
	}
	return false
}

// parseAddress reads a reference that is an address. What could be a credential
// in it, the user, the query and such a part of the path, goes at once.
func parseAddress(text string) (reference, error) {
	git := strings.HasPrefix(text, "git+")
	u, err := url.Parse(strings.TrimPrefix(text, "git+"))
	if err != nil || u.Host == "" {
		return reference{}, errors.New("this is no valid address")
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "ssh", "git":
	default:
		return reference{}, errors.New("an address begins with https, ssh or git")
	}
	parts, err := segments(u)
	if err != nil {
		return reference{}, err
	}
	switch host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www."); host {
	case "github.com", "ssh.github.com":
		// Only for git+ addresses a fragment is a branch; elsewhere it is a heading.
		if git && u.Fragment != "" && len(parts) == 2 {
			parts = append(append(parts, "tree"), strings.Split(u.Fragment, "/")...)
		}
		return gitHubReference(parts)
	case "api.github.com":
		if len(parts) > 2 && parts[0] == "repos" {
			return gitHubReference(parts[1:3])
		}
		return reference{}, errors.New("this is no address of a repository")
	case "raw.githubusercontent.com":
		if len(parts) < 4 {
			return reference{}, errors.New("this is no address of a file")
		}
		return gitHubReference(append([]string{parts[0], parts[1], "blob"}, parts[2:]...))
	case "registry.modelcontextprotocol.io", "glama.ai", "smithery.ai", "server.smithery.ai":
		return directoryReference(host, parts)
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	return reference{kind: refAddress, name: secrets.Redact(u.String())}, nil
}

// segments splits the path of an address and decodes its parts.
func segments(u *url.URL) ([]string, error) {
	var parts []string
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if part == "" {
			continue
		}
		part, err := url.PathUnescape(part)
		if err != nil || part == "." || part == ".." || strings.ContainsFunc(part, isUnprintable) {
			return nil, errors.New("the path of the address is not valid")
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// notOwners begin addresses of GitHub's own pages.
var notOwners = map[string]bool{
	"orgs": true, "topics": true, "marketplace": true, "features": true, "settings": true, "sponsors": true,
	"collections": true, "apps": true, "login": true, "search": true, "explore": true, "notifications": true, "mcp": true,
}

// gitHubReference reads the path of an address on GitHub.
func gitHubReference(parts []string) (reference, error) {
	if len(parts) > 2 && parts[0] == "mcp" {
		parts = parts[1:3] // GitHub's own directory of servers
	}
	if len(parts) < 2 || !ownerName.MatchString(parts[0]) || !isRepo(parts[1]) || notOwners[strings.ToLower(parts[0])] {
		return reference{}, errors.New("this is no address of a repository; it has to be https://github.com/OWNER/REPO")
	}
	ref := reference{kind: refGitHub, owner: parts[0], repo: strings.TrimSuffix(parts[1], ".git")}
	if len(parts) < 4 {
		return ref, nil
	}
	if !isPathParts(parts[3:]) {
		return reference{}, errors.New("the path of the address is not valid")
	}
	switch parts[2] {
	case "tree":
		ref.rest = parts[3:]
	case "blob", "raw", "blame", "edit":
		// The folder of the file is what matters. A branch alone stays.
		ref.rest = parts[3:max(4, len(parts)-1)]
	}
	return ref, nil
}

// isPathParts tells parts of a path that stay below the place they are put at.
func isPathParts(parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || part == "." || part == ".." || strings.ContainsAny(part, "/\\") || strings.ContainsFunc(part, isUnprintable)
	})
}

// directoryReference reads an address of a directory of servers.
func directoryReference(host string, parts []string) (reference, error) {
	wrong := errors.New("this address of " + host + " names no server")
	switch host {
	case "registry.modelcontextprotocol.io":
		if len(parts) > 2 && parts[1] == "servers" {
			return registryReference(parts[2:], wrong)
		}
	case "glama.ai":
		if len(parts) > 3 && parts[0] == "mcp" && parts[1] == "servers" {
			return ownedReference(refGlama, strings.TrimPrefix(parts[2], "@")+"/"+parts[3])
		}
	case "smithery.ai":
		if len(parts) > 2 && (parts[0] == "server" || parts[0] == "servers") {
			return ownedReference(refSmithery, strings.TrimPrefix(parts[1], "@")+"/"+parts[2])
		}
	case "server.smithery.ai":
		if len(parts) > 1 {
			return ownedReference(refSmithery, strings.TrimPrefix(parts[0], "@")+"/"+parts[1])
		}
	}
	return reference{}, wrong
}

// registryReference reads NAME, whose slash may be encoded, and a version.
func registryReference(parts []string, wrong error) (reference, error) {
	name := parts[0]
	if rest := parts[1:]; !strings.Contains(name, "/") && len(rest) > 0 {
		name, parts = name+"/"+rest[0], rest
	}
	if !registryName.MatchString(name) || !strings.Contains(name[:strings.IndexByte(name, '/')], ".") {
		return reference{}, wrong
	}
	ref := reference{kind: refRegistry, name: name}
	if len(parts) > 2 && parts[1] == "versions" && parts[2] != "latest" {
		if ref.version = parts[2]; !isVersion(ref.version) {
			return reference{}, wrong
		}
	}
	return ref, nil
}

// isUnprintable tells a character that no reference holds.
func isUnprintable(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }
