// Package changeset lets agents propose changes of documents that a person
// reviews and carries out: no proposal ever touches a canonical file.
package changeset
