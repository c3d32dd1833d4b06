package registry

import (
	"cmp"
	"slices"

	"github.com/mcpcontract/mcpcontract/registry/internal/survey"
)

// ScanOptions steers [Generate] and [Check]. The nil pointer and the zero value stand for the defaults. The
// slices are not changed and not kept.
type ScanOptions struct {
	// Markers are the names that make a folder a repo, relative to it. By default they are .git, which may
	// be a folder or a file, and docs/agent/manifest.yaml. Only Generate uses them.
	Markers []string
	// Depth is how many levels of folders below the workspace root are searched for repos; 8 by default.
	// Only Generate uses it.
	Depth int
	// Entries is how many directory entries outside of repos are listed in all; 500,000 by default. Only
	// Generate uses it.
	Entries int
	// Progress, if not nil, is called from the same goroutine for each repo, with the number of repos so
	// far and of entries listed outside of repos; Check always gives 0 for the latter.
	Progress func(repos, entries int)

	// File is the registry file to bring up to date, in the form of the operating system. It is read, not
	// written. By default, and if it does not exist, a new text is made. Only Generate uses it.
	File string

	// WorkspaceRoot is written as workspace_root: the way from the folder in which the file will be kept to
	// the workspace, with slashes. By default the file is kept in the workspace itself.
	WorkspaceRoot string
	// Owner is the owner of repos that do not name one. The default is unowned-tbd, a placeholder that
	// Check reports. Only Generate uses it.
	Owner string
	// Class is the class of repos that do not name one; unclassified by default. Only Generate uses it.
	Class string
	// AuthorityOrder is written as the default order. By default it is repo_owner_rules, repo_governance,
	// domain_intent, component_spec, repo_spec, operational_guidance, historical_experience. Only Generate
	// uses it.
	AuthorityOrder []string
}

func (o *ScanOptions) withDefaults() ScanOptions {
	var out ScanOptions
	if o != nil {
		out = *o
	}
	if len(out.Markers) == 0 {
		out.Markers = []string{".git", survey.ManifestPath}
	}
	if len(out.AuthorityOrder) == 0 {
		out.AuthorityOrder = []string{
			"repo_owner_rules", "repo_governance", "domain_intent", "component_spec", "repo_spec",
			"operational_guidance", "historical_experience",
		}
	}
	out.AuthorityOrder = slices.Clone(out.AuthorityOrder)
	out.Depth = cmp.Or(max(out.Depth, 0), 8)
	out.Entries = cmp.Or(max(out.Entries, 0), 500_000)
	out.Owner = cmp.Or(out.Owner, "unowned"+placeholder)
	out.Class = cmp.Or(out.Class, "unclassified")
	return out
}

// placeholder is how the name of an owner ends that is still to be decided.
const placeholder = "-tbd"
