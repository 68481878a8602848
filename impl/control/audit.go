package control

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// AuditSearch is what is searched for in the audit log.
type AuditSearch = store.AuditSearch

// Audit gives a page of who changed what, newest first, and where the next one begins; zero: there is none.
func (c *Control) Audit(ctx context.Context, s AuditSearch, p compute.Page) (all []compute.AuditEntry, next compute.Position, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) (err error) {
		all, next, err = tx.PageAudit(s, p)
		return err
	})
	return all, next, err
}

// RefusalSearch is what is searched for among who was refused.
type RefusalSearch = store.RefusalSearch

// Refusals gives a page of who was refused, newest first, and where the next one begins; zero: there is none.
func (c *Control) Refusals(ctx context.Context, s RefusalSearch, p compute.Page) (all []compute.Refusal, next compute.Position, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) (err error) {
		all, next, err = tx.PageRefusals(s, p)
		return err
	})
	return all, next, err
}
