package changeset

// renderers are the names of the fixed registry.
func renderers() []string { return []string{"review", "outline"} }
