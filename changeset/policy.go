package changeset

// A Policy says what a writer may propose. It is checked when something is
// proposed and again by [Store.Validate]. The zero value allows nothing.
type Policy struct {
	// Allow has the operations; none, and nothing may be proposed.
	Allow []Op
	// Kinds has the kinds a node may have, before and afterwards; none means
	// every kind.
	Kinds []string
	// Paths has patterns of the paths a file may have, before and afterwards,
	// relative to the docs folder; none means every path. A pattern has the
	// form of [path.Match], part by part; the part "**" stands for any number
	// of parts, also none.
	Paths []string
}
