package normalize

// dialect is one client's configuration format as data: the reader and the
// writer both interpret it.
type dialect struct {
	id Dialect
}

var dialects = []dialect{{id: ClaudeCode}, {id: Generic}}
