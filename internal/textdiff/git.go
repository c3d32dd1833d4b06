package textdiff

// Git returns what becomes of a file as a diff that git apply carries out, also
// beside others in one patch: a header with both paths, which says if the file is
// new, gone or moved, and then what [Unified] gives. oldPath is "" for a new file,
// and newPath for one that goes. A file that only moves has no more than the
// header; nil is a file that stays as it is. All are regular files.
func Git(oldPath, newPath string, before, after []byte, context int) []byte {
	from, to := oldPath, newPath
	var header []byte
	oldName, newName := "a/"+oldPath, "b/"+newPath
	switch {
	case oldPath == "":
		from, oldName = newPath, "/dev/null"
		header = []byte("new file mode 100644\n")
	case newPath == "":
		to, newName = oldPath, "/dev/null"
		header = []byte("deleted file mode 100644\n")
	case oldPath != newPath:
		header = []byte("rename from " + quoted(oldPath) + "\nrename to " + quoted(newPath) + "\n")
	}
	hunks := Unified(oldName, newName, before, after, context)
	if header == nil && hunks == nil {
		return nil
	}
	out := []byte("diff --git " + quoted("a/"+from) + " " + quoted("b/"+to) + "\n")
	return append(append(out, header...), hunks...)
}
