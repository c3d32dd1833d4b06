package yamldoc

import (
	"cmp"
	"fmt"
	"slices"
)

// maxFaults is how many broken rules are reported for one text.
const maxFaults = 1000

// bound checks the limits on a tree that has not been expanded and may have left nodes.
func bound(root *Node, o *Options, left int) error {
	return boundBelow(root, o, o.MaxDepth, &left)
}

func boundBelow(n *Node, o *Options, depth int, left *int) error {
	if *left--; *left < 0 {
		return fault(n, TooManyNodes, "more than %d values", o.MaxNodes)
	}
	if len(n.Content) == 0 {
		return nil
	}
	if depth == 0 {
		return fault(n, TooDeep, "nested deeper than %d levels", o.MaxDepth)
	}
	if n.Kind == MappingNode && len(n.Content)/2 > o.MaxKeys {
		return fault(n.Content[2*o.MaxKeys], TooManyKeys, "more than %d keys in one mapping; write a list", o.MaxKeys)
	}
	for _, child := range n.Content {
		if err := boundBelow(child, o, depth-1, left); err != nil {
			return err
		}
	}
	return nil
}

// vet finds what strict mode does not allow.
func vet(root *Node) []error {
	var v vetter
	v.node(root)
	slices.SortStableFunc(v.faults, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	out := make([]error, len(v.faults))
	for i, f := range v.faults {
		out[i] = f
	}
	return out
}

type vetter struct{ faults []*Error }

func (v *vetter) add(err *Error) {
	if len(v.faults) < maxFaults {
		v.faults = append(v.faults, err)
	}
}

func (v *vetter) node(n *Node) {
	switch {
	case n.Kind == AliasNode:
		v.add(fault(n, Alias, "alias %s is not allowed here; write the value out", quote("*"+n.Value)))
		return
	case n.Anchor != "":
		v.add(fault(n, Alias, "anchor %s is not allowed here; remove it", quote("&"+n.Anchor)))
	}
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq", "!!merge":
	default:
		v.add(fault(n, UnknownTag, "tag %s is not allowed here; remove it", quote(tag)))
	}
	if n.Kind == MappingNode {
		v.keys(n)
	}
	for _, child := range n.Content {
		v.node(child)
	}
}

// keys checks the keys of a mapping. The library's own check for repeated keys compares every pair.
func (v *vetter) keys(n *Node) {
	var have keySet
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Tag == "!!merge":
			v.add(fault(key, Merge, "merge key \"<<\" is not allowed here; write the fields out"))
		case key.Kind != ScalarNode || key.Tag == "!!null":
			v.add(fault(key, KeyNotScalar, "a key must be a plain word"))
		default:
			if first := have.add(n.Content[:i], key); first != nil {
				v.add(fault(key, DuplicateKey, "key %s was given on line %d already; remove one", quote(key.Value), first.Line))
			}
		}
	}
}

// smallMapping is how many keys are compared one by one before a set is made.
const smallMapping = 24

// keySet finds repeated keys of a mapping.
type keySet struct {
	set map[string]*Node // nil while there are few
}

// add gives the key of the same text among those of before, the content up to this key; nil if there is none.
func (s *keySet) add(before []*Node, key *Node) *Node {
	if s.set != nil {
		first := s.set[key.Value]
		if first == nil {
			s.set[key.Value] = key
		}
		return first
	}
	for i := 0; i < len(before); i += 2 {
		if k := before[i]; k.Kind == ScalarNode && k.Value == key.Value {
			return k
		}
	}
	if len(before)/2 >= smallMapping {
		s.set = map[string]*Node{key.Value: key}
		for i := 0; i < len(before); i += 2 {
			if k := before[i]; k.Kind == ScalarNode && s.set[k.Value] == nil {
				s.set[k.Value] = k
			}
		}
	}
	return nil
}

func fault(n *Node, code Code, format string, args ...any) *Error {
	return &Error{Line: max(n.Line, 1), Column: max(n.Column, 1), Code: code, Msg: fmt.Sprintf(format, args...)}
}

func count(n *Node) int {
	sum := 1
	for _, child := range n.Content {
		sum += count(child)
	}
	return sum
}
