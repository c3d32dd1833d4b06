// Package api holds the exported API of the module as one text file, api.txt,
// so that a change of what users can name shows up in review as a change of a
// line. Its test writes the file anew with -update and fails when the file and
// the code differ.
package api
