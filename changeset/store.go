package changeset

// A Store keeps the changesets of one project, and reads the project. It has
// no method that changes the project: nothing carries a changeset out.
//
// It is safe for concurrent use, and several processes may have stores on one
// root. Close it when it is no longer needed.
type Store struct{}

// A Writer proposes changes in the name of one writer. [Store.Bind] makes one.
// It is safe for concurrent use.
type Writer struct{}
