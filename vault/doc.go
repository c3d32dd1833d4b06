// Package vault keeps secrets, and records beside them, in one sealed file that
// several processes share.
//
//	keyPath := filepath.Join(config, "vault.key") // not below dir
//	if err := vault.MakeKeyFile(keyPath); err != nil {
//		return err
//	}
//	v, err := vault.Create(ctx, dir, vault.KeyFile(keyPath))
//	if err != nil {
//		return err
//	}
//	defer v.Close()
//	err = v.Update(ctx, func(tx *vault.Tx) error {
//		return tx.Set(vault.Default, "TRACKER_TOKEN", token)
//	})
//	if err != nil {
//		return err
//	}
//	p, err := v.Profile(vault.Default)
//	if err != nil {
//		return err
//	}
//	secret, origin, err := p.Get("TRACKER_TOKEN")
//	fmt.Println(secret, origin) // [redacted] vault:default
//	use(secret.Reveal())
//
// From then on it is opened with [Open]:
//
//	v, err := vault.Open(ctx, dir, vault.KeyFile(keyPath), nil)
//
// # Profiles
//
// A profile holds named secrets and records. It inherits from one parent, and
// so on to [Default]: [Profile.Get] looks there for what the profile lacks, and
// says where it found it. Nothing is copied down, and a profile sees neither
// its siblings nor those below it. [Tx.Hide] makes an inherited secret missing,
// [Tx.SetEnabled] switches an inherited record off or on.
//
// # Keys
//
// The content is sealed under a random data key, which has a slot in the file
// for each [KeyProvider] that opens the vault. [Create] makes the slots of a
// new vault, [Vault.AddSlot] and [Vault.RemoveSlot] change them, and
// [Vault.Rotate] makes all anew. There is no mode without a key, and no
// fallback from one source of keys to another.
//
// # Storage
//
// The directory has mode 0700 and holds vault.json, vault.bak with the state
// before the last save, and the lock file vault.lock, which stays; all have
// mode 0600. Links, second names, and files that belong to or are open to
// others are refused: vault.json by everybody, the other two by who writes.
//
// The file tells who can read it: kinds of keys, names of profiles, their
// parents, and sizes in steps of 256 bytes. Names of secrets, their number,
// values and records are sealed, each profile in one box of AES-256-GCM under
// a key of its own. An HMAC-SHA256 binds all parts to each other and to the
// number of the save. What is to be saved is opened again, goes to a new file,
// is made durable, and given the name: after a crash at any point the old state
// or the new one is there, whole, and a save that finds no room changes neither
// file. If vault.json is lost, vault.bak can take its name. Only local file systems are supported: locks over a network are not to be
// trusted.
//
// # What it does not do
//
// It does not protect from programs that run as the same user or as root, from
// who reads the memory of a process, or from what a child process shows of its
// environment. Keys are cleared after use; values are Go strings while they
// are in use, which nobody can clear. An older vault that is put back as a
// whole opens, unless [Options.MinGeneration] says which are too old; a [Vault]
// that is open refuses what is older than it saw, or differs from what it saw
// with the same generation, and once that was passed nobody can tell. Access
// lists of Windows are not looked at.
//
// # Errors
//
// Every failure is an [*Error] with a [Code]. A wrong key, tampering and damage
// are three codes: vault_wrong_key if no slot opens, vault_tampered if a slot
// opens and the rest is not what was sealed, vault_damaged if the file is empty
// or no vault at all. A call that fails leaves the vault as it was, except that
// after vault_io the change may be there all the same, whole. A [Create] that
// fails makes nothing, except that one which was under way when another was
// faster, or the operating system failed, may leave the directory, empty but for
// the lock file. Nothing secret is in any message. Every method of an open vault may also fail with the codes of
// [Open], vault_closed or vault_io, those that write with vault_busy or
// vault_limit.
//
// # Limits
//
// 16 MiB for the file, 11 MiB of sealed content in it, where values take a third
// more than their size; 8 slots, 256 profiles, 8 above each; in a profile 4,096
// secrets of at most 64 KiB and 4,096 records of at most 256 KiB and 128 levels;
// names of at most 256 bytes, of profiles 64.
//
// # Concurrency
//
// All types but [Tx] are safe for concurrent use. Writers wait for each other
// across processes, until their context ends or, if that has no deadline, for 10
// seconds; readers never wait for them, and read the file at every call. The
// package starts no goroutines.
package vault
