package connections

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mcpcontract/mcpcontract/mcpkit"
	"github.com/mcpcontract/mcpcontract/vault"
)

// What was done under an approval is kept beside it, until the token store has it.
const (
	maxReceipts = 32
	receiptLife = 24 * time.Hour
)

// keptReceipt is a receipt as the vault keeps it.
type keptReceipt struct {
	At      time.Time       `json:"at"`
	Receipt json.RawMessage `json:"receipt"`
}

// commit makes a change together with its receipt. If there is one already, the
// change was made, and the receipt is what that came to.
func commit[Out any](ctx context.Context, s *Store, approval string, out Out, change func(tx *vault.Tx) error) (Out, error) {
	err := s.vault.Update(ctx, func(tx *vault.Tx) error {
		r, err := tx.Record(s.profile.Name(), receiptPrefix+approval)
		if err == nil {
			out, err = decodeReceipt[Out](&r)
			return err
		}
		if vault.CodeOf(err) != vault.CodeRecordMissing {
			return err
		}
		if err := change(tx); err != nil {
			return err
		}
		return s.putReceipt(tx, approval, out)
	})
	return out, err
}

// decodeReceipt reads a receipt back. It is typed by the command that wrote it: the
// hash of an approval belongs to one of them.
func decodeReceipt[Out any](r *vault.Record) (Out, error) {
	var k keptReceipt
	var out Out
	err := json.Unmarshal(r.Data, &k)
	if err == nil {
		err = json.Unmarshal(k.Receipt, &out)
	}
	if err != nil {
		return out, recordInvalid(r, err)
	}
	return out, nil
}

// putReceipt stores a receipt, and drops those that are too old or too many.
func (s *Store) putReceipt(tx *vault.Tx, approval string, out any) error {
	records, err := s.profile.Records()
	if err != nil {
		return err
	}
	type dated struct {
		name string
		at   time.Time
	}
	var old []dated
	for _, r := range records {
		if !strings.HasPrefix(r.Name, receiptPrefix) || r.Profile != s.profile.Name() {
			continue
		}
		var k keptReceipt
		_ = json.Unmarshal(r.Data, &k) // what cannot be read is as old as can be
		old = append(old, dated{r.Name, k.At})
	}
	slices.SortFunc(old, func(a, b dated) int { return a.at.Compare(b.at) })
	for i, d := range old {
		if i > len(old)-maxReceipts && s.now().Sub(d.at) < receiptLife {
			break
		}
		if err := tx.DeleteRecord(s.profile.Name(), d.name); err != nil {
			return err
		}
	}
	data, err := json.Marshal(out)
	if err == nil {
		data, err = json.Marshal(keptReceipt{s.now(), data})
	}
	if err != nil {
		return err
	}
	return tx.SetRecord(s.profile.Name(), vault.Record{Name: receiptPrefix + approval, Data: data})
}

// transaction joins approvals and the vault: the receipt of what was done is
// stored by the same save. There is no lock to hold while a server is probed:
// whoever saves first has done it, and the other gets the receipt.
type transaction[Plan, Out any] struct {
	store *Store
	apply func(ctx context.Context, plan Plan, approval string) (Out, error)
}

// begin returns what a [mcpkit.Command] wants.
func begin[Plan, Out any](s *Store, apply func(ctx context.Context, plan Plan, approval string) (Out, error)) func(context.Context) (mcpkit.Transaction[Plan, Out], error) {
	return func(context.Context) (mcpkit.Transaction[Plan, Out], error) {
		return &transaction[Plan, Out]{s, apply}, nil
	}
}

// Receipt tells what was done under an approval, as far back as receipts are kept.
func (t *transaction[Plan, Out]) Receipt(_ context.Context, approval string) (Out, bool, error) {
	r, err := t.store.profile.Record(receiptPrefix + approval)
	if vault.CodeOf(err) == vault.CodeRecordMissing {
		var none Out
		return none, false, nil
	}
	if err != nil {
		var none Out
		return none, false, err
	}
	out, err := decodeReceipt[Out](&r)
	return out, err == nil, err
}

// Apply carries a plan out. Its save is the commit point.
func (t *transaction[Plan, Out]) Apply(ctx context.Context, plan Plan, approval string) (Out, error) {
	return t.apply(ctx, plan, approval)
}

// Close has nothing to give back: the vault's lock is held during the save only.
func (*transaction[Plan, Out]) Close() error { return nil }
