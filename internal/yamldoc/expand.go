package yamldoc

// expand copies a tree with each alias replaced by a copy of what it names, and each merge key by the keys
// it brings; it may have left nodes. Copies keep the positions of the text they were made from.
func expand(root *Node, o *Options, left int) (*Node, error) {
	m := measurer{limit: o.MaxNodes, left: left, sizes: make(map[*Node]int)}
	if _, err := m.size(root); err != nil {
		return nil, err
	}
	e := expander{opts: o}
	return e.node(root, o.MaxDepth)
}

// measurer finds out how large an expansion would be, without making it: the size of what an alias names is
// counted once.
type measurer struct {
	limit int           // for messages
	left  int           // how much the expansion may have
	sizes map[*Node]int // by alias target; 0 while it is being measured
}

func (m *measurer) size(n *Node) (int, error) {
	if n.Kind == AliasNode {
		return m.target(n)
	}
	sum := 1
	for _, child := range n.Content {
		size, err := m.size(child)
		if err != nil {
			return 0, err
		}
		if sum += size; sum > m.left {
			return 0, fault(child, TooManyNodes, "more than %d values after aliases are expanded", m.limit)
		}
	}
	return sum, nil
}

func (m *measurer) target(n *Node) (int, error) {
	size, known := m.sizes[n.Alias]
	if known && size == 0 {
		return 0, fault(n, Alias, "alias %s holds itself", quote("*"+n.Value))
	}
	if !known {
		var err error
		m.sizes[n.Alias] = 0
		if size, err = m.size(n.Alias); err != nil {
			return 0, err
		}
		m.sizes[n.Alias] = size
	}
	return size, nil
}

type expander struct{ opts *Options }

func (e *expander) node(n *Node, depth int) (*Node, error) {
	if n.Kind == AliasNode {
		n = n.Alias
	}
	if len(n.Content) > 0 && depth == 0 {
		return nil, fault(n, TooDeep, "nested deeper than %d levels after aliases are expanded", e.opts.MaxDepth)
	}
	out := *n
	out.Anchor, out.Content = "", nil
	if n.Kind == MappingNode {
		content, err := e.mapping(n, depth)
		out.Content = content
		return &out, err
	}
	for _, child := range n.Content {
		c, err := e.node(child, depth-1)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, c)
	}
	return &out, nil
}

// mapping gives the content of a mapping with its merge keys resolved. A key that the mapping states itself
// wins over a merged one, an earlier merge over a later one. Keys that the mapping states twice stay.
func (e *expander) mapping(n *Node, depth int) ([]*Node, error) {
	stated := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Kind == ScalarNode && k.Tag != "!!merge" {
			stated[k.Value] = true
		}
	}
	var out []*Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		value, err := e.node(n.Content[i+1], depth-1)
		if err != nil {
			return nil, err
		}
		if n.Content[i].Tag == "!!merge" {
			merged, err := mergeable(n.Content[i], value)
			if err != nil {
				return nil, err
			}
			out = appendMissing(out, merged, stated)
			continue
		}
		key, err := e.node(n.Content[i], depth-1)
		if err != nil {
			return nil, err
		}
		out = append(out, key, value)
	}
	if len(out)/2 > e.opts.MaxKeys {
		return nil, fault(n, TooManyKeys, "more than %d keys in one mapping after merging", e.opts.MaxKeys)
	}
	return out, nil
}

// mergeable gives the mappings that a merge key brings, first come first served.
func mergeable(key, value *Node) ([]*Node, error) {
	list := []*Node{value}
	if value.Kind == SequenceNode {
		list = value.Content
	}
	for _, m := range list {
		if m.Kind != MappingNode {
			return nil, fault(key, Merge, "merge key \"<<\" needs a mapping or a list of mappings")
		}
	}
	return list, nil
}

// appendMissing adds the keys of merged that are not in have, and notes them there.
func appendMissing(out, merged []*Node, have map[string]bool) []*Node {
	for _, m := range merged {
		for i := 0; i+1 < len(m.Content); i += 2 {
			if k := m.Content[i].Value; !have[k] {
				have[k] = true
				out = append(out, m.Content[i], m.Content[i+1])
			}
		}
	}
	return out
}
