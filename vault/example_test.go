package vault_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpcontract/mcpcontract/vault"
)

// workDir returns a new directory for an example.
func workDir() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "vault-example")
	if err != nil {
		panic(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

func Example() {
	dir, remove := workDir()
	defer remove()
	ctx := context.Background()
	key := filepath.Join(dir, "config", "vault.key")
	if err := vault.MakeKeyFile(key); err != nil {
		fmt.Println(err)
		return
	}
	v, err := vault.Create(ctx, filepath.Join(dir, "vault"), vault.KeyFile(key))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer v.Close()
	err = v.Update(ctx, func(tx *vault.Tx) error {
		if err := tx.CreateProfile("work", vault.Default); err != nil {
			return err
		}
		return tx.Set(vault.Default, "TRACKER_TOKEN", "tt-19")
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	work, err := v.Profile("work")
	if err != nil {
		fmt.Println(err)
		return
	}
	secret, origin, err := work.Get("TRACKER_TOKEN")
	fmt.Println(secret, origin, err)
	fmt.Println(len(secret.Reveal()))
	_, _, err = work.Get("PRINTER_KEY")
	fmt.Println(vault.CodeOf(err))
	// Output:
	// [redacted] vault:default <nil>
	// 5
	// vault_secret_missing
}

func ExampleCreate() {
	dir, remove := workDir()
	defer remove()
	ctx := context.Background()
	key := filepath.Join(dir, "vault.key")
	recovery := vault.Passphrase(func(context.Context) ([]byte, error) {
		return []byte("a long sentence from a safe"), nil // ask a person twice
	})
	if err := vault.MakeKeyFile(key); err != nil {
		fmt.Println(err)
		return
	}
	v, err := vault.Create(ctx, filepath.Join(dir, "vault"), vault.KeyFile(key), recovery)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer v.Close()
	slots, err := v.Slots()
	for _, s := range slots {
		fmt.Println(s.Kind)
	}
	fmt.Println(err)
	// Output:
	// keyfile
	// passphrase
	// <nil>
}

func ExampleOpen() {
	dir, remove := workDir()
	defer remove()
	_, err := vault.Open(context.Background(), dir, vault.Passphrase(nil), nil)
	switch e := new(vault.Error); {
	case errors.As(err, &e) && e.Code == vault.CodeMissing:
		fmt.Println("make one first")
	case err != nil:
		fmt.Println(err)
	}
	// Output: make one first
}

func ExampleKeyFile() {
	dir, remove := workDir()
	defer remove()
	key := filepath.Join(dir, "open.key")
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	if err := os.WriteFile(key, []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	_, err := vault.Create(context.Background(), filepath.Join(dir, "vault"), vault.KeyFile(key))
	fmt.Println(vault.CodeOf(err))
	// Output: vault_key_unsafe
}

func ExampleEnv() {
	dir, remove := workDir()
	defer remove()
	_, err := vault.Create(context.Background(), filepath.Join(dir, "vault"), vault.Env("NOT_SET_ANYWHERE"))
	fmt.Println(err)
	// Output: key: the key is not available: the variable "NOT_SET_ANYWHERE" is not set
}

func ExamplePassphrase() {
	dir, remove := workDir()
	defer remove()
	p := vault.Passphrase(func(context.Context) ([]byte, error) { return nil, errors.New("no terminal") })
	_, err := vault.Create(context.Background(), filepath.Join(dir, "vault"), p)
	fmt.Println(err)
	// Output: key: the key is not available: no terminal
}

// An inherited record stays in one place; a profile has only a switch for it.
func ExampleTx_SetEnabled() {
	dir, remove := workDir()
	defer remove()
	ctx := context.Background()
	key := filepath.Join(dir, "vault.key")
	if err := vault.MakeKeyFile(key); err != nil {
		fmt.Println(err)
		return
	}
	v, err := vault.Create(ctx, filepath.Join(dir, "vault"), vault.KeyFile(key))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer v.Close()
	err = v.Update(ctx, func(tx *vault.Tx) error {
		return errors.Join(
			tx.CreateProfile("work", ""),
			tx.SetRecord(vault.Default, vault.Record{Name: "printer", Data: []byte(`{"port": 631}`), Enabled: true}),
			tx.SetEnabled("work", "printer", false),
		)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{vault.Default, "work"} {
		p, err := v.Profile(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := p.Record("printer")
		fmt.Println(name, r.Enabled, string(r.Data), r.Profile, err)
	}
	// Output:
	// default true {"port":631} default <nil>
	// work false {"port":631} default <nil>
}
