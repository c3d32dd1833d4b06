package discovery

import (
	"cmp"
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/mcpkit/internal/paging"
	"github.com/mcpcontract/mcpcontract/resolve"
)

// Codes of this package. Those of a repo and its files are in package resolve,
// those of calls in package result.
const (
	// CodeSnapshotChanged: what a cursor leads through changed since the page
	// before. Start again without a cursor.
	CodeSnapshotChanged = paging.CodeSnapshotChanged
	// CodeWorkspaceUnreadable: the folder of the workspace cannot be opened.
	CodeWorkspaceUnreadable = "workspace_unreadable"
)

// Options are the settings of [Feature]. The zero value is good.
type Options struct {
	// MaxPage bounds one result on the wire, in bytes after all escaping:
	// pages of text end at a line before it, lists between two items. 0 means
	// 10,000, which fits the clients measured. Less than 4,000 is refused, as
	// what is said of one repo may take that much.
	MaxPage int

	// MaxResource bounds the text of one resource, in bytes; resources are not
	// paged. A longer file is refused with file_too_large and the advice to
	// use the tool. 0 means 256 KiB.
	MaxResource int

	// Changes, if not nil, gets a value after the registry behind the resolver
	// has changed, such as by a [registry.Watcher]. Clients are then told that
	// the list of resources has changed, those of protocol 2026-07-28 if they
	// listen, and that repo://index has, if they subscribed to it. Close it when
	// the server has ended: until then a goroutine waits for it.
	Changes <-chan struct{}
}

// Feature makes the workspace behind r available through six tools, five
// resource templates and an index resource; the package documentation lists
// them. All of them ask r, which asks the registry first: no call reaches a file
// that is not declared. r must not be nil; opts may be.
func Feature(r *resolve.Resolver, opts *Options) mcpkit.Feature {
	if r == nil {
		panic("discovery: Feature needs a resolver")
	}
	d := &discovery{resolver: r, opts: opts.withDefaults()}
	return d.install
}

// leastPage is the smallest Options.MaxPage.
const leastPage = 4_000

func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	opts.MaxPage = cmp.Or(opts.MaxPage, 10_000)
	opts.MaxResource = cmp.Or(opts.MaxResource, 256<<10)
	return opts
}

// discovery is one installed feature. But for checked, it is read only after
// install.
type discovery struct {
	resolver *resolve.Resolver
	opts     Options
	pager    *paging.Pager
	readTool string
	listTool string
	checked  lastListing
}

func (d *discovery) install(in *mcpkit.Installer) error {
	d.readTool = in.ToolName("read_view")
	d.listTool = in.ToolName("list_repos")
	if d.opts.MaxPage < leastPage {
		return fmt.Errorf("MaxPage is %d, the least is %d", d.opts.MaxPage, leastPage)
	}
	var err error
	if d.pager, err = paging.New(in.Sealer(), "discovery", d.opts.MaxPage); err != nil {
		return err
	}
	features := []mcpkit.Feature{
		d.reposTool(in).Install,
		d.resolveTool(in).Install,
		d.entrypointTool(in).Install,
		d.viewTool().Install,
		d.scanTool(in).Install,
		d.checkTool().Install,
	}
	for _, view := range views {
		features = append(features, d.template(view).Install)
	}
	for _, install := range features {
		if err := install(in); err != nil {
			return err
		}
	}
	d.addIndex(in.Server())
	if d.opts.Changes != nil {
		changed := in.Updates(indexURI)
		go func(s *mcp.Server) {
			for range d.opts.Changes {
				d.addIndex(s)                     // adding it anew is what makes the SDK tell the clients
				_ = changed(context.Background()) // who cannot be told now is told of the next change
			}
		}(in.Server())
	}
	return nil
}

// repo resolves a repo for one call.
func (d *discovery) repo(ctx context.Context, id string, use func(*resolve.Repo) error) error {
	repo, err := d.resolver.Resolve(ctx, id)
	if err != nil {
		return err
	}
	err = use(repo)
	return cmp.Or(err, repo.Close())
}
