// Package registry reads, writes and checks workspace registries.
package registry
