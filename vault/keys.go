package vault

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpcontract/mcpcontract/internal/rootfs"
)

// The kinds of the providers of this package.
const (
	kindFile       = "keyfile"
	kindEnv        = "env"
	kindPassphrase = "passphrase"
)

// maxKeyText bounds a key in base64 with space around it.
const maxKeyText = 128

// parseKey reads 32 bytes in base64. An error does not repeat the text.
func parseKey(op, from string, text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	key := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Strict().Decode(key, text)
	if err != nil || n != keySize {
		clear(key)
		return nil, fault(CodeKey, op, "%s does not hold 32 bytes in base64", from)
	}
	return key[:n], nil
}

// keyFile is the provider of a key file.
type keyFile struct{ path string }

// KeyFile returns a provider of the key in the file at path, 32 random bytes in
// base64, which [MakeKeyFile] makes. The file must belong to the user, must not
// be open to others, and must not lie inside the vault's directory, where it
// would be copied together with what it opens, nor have a second name, which may
// lie there; the code is vault_key_unsafe otherwise. Windows shows neither modes
// nor second names.
func KeyFile(path string) KeyProvider { return &keyFile{path: path} }

// Kind returns "keyfile".
func (*keyFile) Kind() string { return kindFile }

// Enroll returns the key that the file holds. It makes none: a slot that is
// added must not change what opens another vault.
func (k *keyFile) Enroll(ctx context.Context, s Slot) ([]byte, error) { return k.Key(ctx, s) }

// Key reads the file after it saw that nobody else can.
func (k *keyFile) Key(_ context.Context, s Slot) ([]byte, error) {
	const op = "key"
	info, err := os.Stat(k.path)
	if err != nil {
		return nil, &Error{Code: CodeLocked, Op: op, Err: err}
	}
	what := private(info)
	if what == "" && info.Mode().IsRegular() && names(info) > 1 {
		what = "it has a second name, which may be inside the vault's directory"
	}
	if what == "" && inside(k.path, s.dir) {
		what = "it is inside the vault's directory"
	}
	if what != "" {
		return nil, fault(CodeKeyUnsafe, op, "%.160q: %s", k.path, what)
	}
	text, err := rootfs.ReadNamed(k.path, maxKeyText)
	if err != nil {
		return nil, &Error{Code: CodeLocked, Op: op, Err: err}
	}
	defer clear(text)
	// What was looked at must be what was read.
	if now, err := os.Stat(k.path); err != nil || !os.SameFile(info, now) {
		return nil, fault(CodeKeyUnsafe, op, "%.160q was replaced while it was read", k.path)
	}
	return parseKey(op, fmt.Sprintf("the key file %.160q", k.path), text)
}

// inside reports whether the file at path, links resolved, is in dir or below
// it. What cannot be resolved is taken to be.
func inside(path, dir string) bool {
	if dir == "" {
		return false
	}
	top, err := os.Stat(dir)
	if err != nil {
		return true
	}
	// Directories are compared, not names: one may have several.
	path, err = filepath.EvalSymlinks(path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return true
	}
	for up := filepath.Dir(path); ; up = filepath.Dir(up) {
		if info, err := os.Stat(up); err != nil || os.SameFile(info, top) {
			return true
		}
		if up == filepath.Dir(up) {
			return false
		}
	}
}

// MakeKeyFile makes a file for [KeyFile] at path, with a new random key and
// mode 0600, durably. Directories above it that are missing are made with mode
// 0700. What has that name is left alone: the code is vault_exists then. Of two
// callers at once one makes the file. One that is killed meanwhile leaves a file
// that is no key; it can be removed.
func MakeKeyFile(path string) error {
	const op = "make"
	root, err := rootfs.OpenOrMake(filepath.Dir(path), 0o700, nil)
	if err != nil {
		return failed(op, err)
	}
	key := randomBytes(keySize)
	text := append(base64.StdEncoding.AppendEncode(nil, key), '\n')
	defer clear(key)
	defer clear(text)
	if err = makeFile(root, filepath.Base(path), text); err == nil {
		err = root.SyncDir(".")
	}
	return failed(op, errors.Join(err, root.Close()))
}

// envKey is the provider of an environment variable.
type envKey struct{ name string }

// Env returns a provider of the key in the environment variable of that name,
// 32 bytes in base64, for machines where a job's environment is the place of
// its secrets. Everything that a process starts inherits its environment; take
// the variable out of that of children.
func Env(name string) KeyProvider { return &envKey{name: name} }

// Kind returns "env".
func (*envKey) Kind() string { return kindEnv }

// Enroll returns the key in the variable.
func (k *envKey) Enroll(ctx context.Context, s Slot) ([]byte, error) { return k.Key(ctx, s) }

// Key reads the variable at every call, so that a process may take it out of its
// environment between two.
func (k *envKey) Key(context.Context, Slot) ([]byte, error) {
	text, ok := os.LookupEnv(k.name)
	if !ok {
		return nil, fault(CodeLocked, "key", "the variable %.80q is not set", k.name)
	}
	return parseKey("key", fmt.Sprintf("the variable %.80q", k.name), []byte(text))
}
