// Package yamldoc reads YAML text into a tree of positioned nodes, within limits.
//
//	root, err := yamldoc.Parse(src, nil)
//
// It is the only package of this module that imports a YAML library, so that the library can be
// exchanged in one place and so that no caller hands untrusted text to its struct decoder.
//
// # Two modes
//
// Our own files are read strictly, which is the default: one document, no anchors, aliases, merge keys,
// unknown tags, keys that are not scalars, or repeated keys. Text that people paste is read with
// [Options.Lenient]: aliases and merge keys are expanded on the tree under the node limit, repeated keys
// are kept in order, and [ParseAll] gives all documents of a stream.
//
// # Positions and errors
//
// Lines and columns count from 1; columns count characters, not bytes. Every refusal is an [*Error] with a
// position. A text that parses but breaks several rules gives them all: see [Faults].
//
// # Limits
//
// Size, nesting, the number of nodes and the number of keys of one mapping are bounded, see [Options]. The
// work done on a refused text is linear in its size.
//
// # Concurrency
//
// All functions may be called at the same time; they share nothing.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// Node is one node of a parsed document. Line and Column are always set; Tag holds the resolved short tag
// ("!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq") unless the text states
// another one; Value is the source text of a scalar after quotes and escapes were taken away.
type Node = yaml.Node

// Kind says what a [Node] is.
type Kind = yaml.Kind

// The kinds of nodes. Parse and ParseAll return the value below the document node, so DocumentNode is met
// only by callers that build trees, and AliasNode only beside an error.
const (
	DocumentNode = yaml.DocumentNode
	SequenceNode = yaml.SequenceNode
	MappingNode  = yaml.MappingNode
	ScalarNode   = yaml.ScalarNode
	AliasNode    = yaml.AliasNode
)

// Default limits, used where a field of [Options] is zero.
const (
	DefaultMaxBytes = 8 << 20
	DefaultMaxDepth = 32
	DefaultMaxNodes = 1_000_000
	DefaultMaxKeys  = 4096
)

// Options sets the mode and the limits of [Parse] and [ParseAll]. The nil pointer and the zero value stand
// for strict mode with the default limits.
type Options struct {
	MaxBytes int64 // size of the text; 0 means DefaultMaxBytes
	MaxDepth int   // nesting of sequences and mappings; 0 means DefaultMaxDepth
	MaxNodes int   // nodes of the tree, after expansion; 0 means DefaultMaxNodes
	MaxKeys  int   // keys of one mapping; 0 means DefaultMaxKeys
	Lenient  bool  // read text that was pasted, see the package comment
}

func (o *Options) limits() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.MaxBytes <= 0 {
		out.MaxBytes = DefaultMaxBytes
	}
	if out.MaxDepth <= 0 {
		out.MaxDepth = DefaultMaxDepth
	}
	if out.MaxNodes <= 0 {
		out.MaxNodes = DefaultMaxNodes
	}
	if out.MaxKeys <= 0 {
		out.MaxKeys = DefaultMaxKeys
	}
	return out
}

// Parse reads exactly one document and returns its root value.
//
// Errors are [*Error], or several of them joined (see [Faults]). When the text is well formed but breaks
// rules of strict mode, Parse returns the tree as well as the error, so that a caller can go on to report
// what else is wrong; such a tree may hold alias nodes and repeated keys.
func Parse(src []byte, opts *Options) (*Node, error) {
	o := opts.limits()
	src, err := admit(src, &o)
	if err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	root, err := next(dec, src)
	if errors.Is(err, io.EOF) {
		return nil, &Error{Line: 1, Column: 1, Code: Empty, Msg: "the document is empty"}
	}
	if err != nil {
		return nil, err
	}
	root, err = settle(root, &o, o.MaxNodes)
	if root == nil {
		return nil, err
	}
	second, err2 := next(dec, src)
	if errors.Is(err2, io.EOF) {
		return root, err
	}
	if err2 == nil {
		err2 = &Error{
			Line: second.Line, Column: second.Column, Code: SecondDocument,
			Msg: "a second document starts here; keep one document per file",
		}
	}
	return root, errors.Join(err, err2)
}

// ParseAll reads all documents of a stream and returns their root values. It always works in lenient mode.
// Empty text gives no documents and no error. On an error it also returns the documents before the fault.
func ParseAll(src []byte, opts *Options) ([]*Node, error) {
	o := opts.limits()
	o.Lenient = true
	src, err := admit(src, &o)
	if err != nil {
		return nil, err
	}
	var out []*Node
	left := o.MaxNodes // the limit holds for the stream, not for each document
	for dec := yaml.NewDecoder(bytes.NewReader(src)); ; {
		root, err := next(dec, src)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		root, err = settle(root, &o, left)
		if err != nil {
			return out, err
		}
		out = append(out, root)
		left -= count(root)
	}
}

// Marshal writes v, which may be a [*Node] or a value with yaml tags, with an indent of two spaces.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("yamldoc: encode: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("yamldoc: encode: %w", err)
	}
	return buf.Bytes(), nil
}

// next decodes one document under recover, because the library is known to panic on some inputs.
func next(dec *yaml.Decoder, src []byte) (root *Node, err error) {
	doc, err := decode(dec)
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, locate(src, err)
	}
	if doc.Kind != DocumentNode || len(doc.Content) == 0 {
		return nil, &Error{Line: max(doc.Line, 1), Column: max(doc.Column, 1), Code: Syntax, Msg: "the document holds no value"}
	}
	return doc.Content[0], nil
}

func decode(dec *yaml.Decoder) (doc *Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("the YAML reader gave up: %.100v", r)
		}
	}()
	doc = new(Node)
	if err := dec.Decode(doc); err != nil {
		return nil, err
	}
	return doc, nil
}

// settle brings a parsed tree, which may have left nodes, into the form the mode promises. A nil node means that
// a limit was passed.
func settle(root *Node, o *Options, left int) (*Node, error) {
	if err := bound(root, o, left); err != nil {
		return nil, err
	}
	if o.Lenient {
		return expand(root, o, left)
	}
	return root, errors.Join(vet(root)...)
}
