// Package bench compares packages of this library with their peers. It is a
// module of its own, so that the peers are no requirement of the library.
package bench
