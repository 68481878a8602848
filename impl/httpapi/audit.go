package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/validate"
)

// auditPath is where it is read who changed what.
const auditPath = "/_berth/audit"

// refusalsPath is where it is read who was refused.
const refusalsPath = "/_berth/audit/refusals"

// isREST reports whether an operation is one of REST, in whatever edition.
func isREST(id string) bool {
	return slices.ContainsFunc(rest.Editions, func(e validate.Edition) bool {
		_, is := e.Ops[id]
		return is
	})
}

// actor has what the request changes noted as its caller's, and what it creates refused if the caller was deleted meanwhile.
func (s *Services) actor(r *request, operation string) {
	ctx := audit.With(contextOf(r), audit.Actor{
		User: r.caller.UserID, Key: r.caller.ID, Request: r.Response().Header().Get(echo.HeaderXRequestID), Operation: operation, Client: s.Proxies.Client(r.Request()),
	})
	r.SetRequest(r.Request().WithContext(control.WithUserOf(ctx, r.caller.Key)))
}

// refusedKey notes the error if it refuses a key.
func (s *Services) refusedKey(r *request, err error) {
	if s.Refusals == nil {
		return
	}
	at := audit.REST
	switch path := r.Request().URL.Path; {
	case strings.HasPrefix(path, "/_berth/"):
		at = audit.Controls
	case isQueuePath(path):
		at = audit.Queue
	}
	s.Refusals.Note(at, func() string { return s.Proxies.Client(r.Request()) }, err)
}

// ListAudit is GET /_berth/audit.
func (h controlsHandlers) ListAudit(c echo.Context, p controls.ListAuditParams) error {
	s := control.AuditSearch{
		Since: value(p.Since), Until: given(p.Until), UserID: compute.UserID(value(p.User)), KeyID: compute.KeyID(value(p.Key)), Kind: string(value(p.Kind)),
		ID: value(p.ID), Operation: value(p.Operation),
	}
	list := listOf(c, "listAudit", s.Since.Format(time.RFC3339Nano), s.Until.Format(time.RFC3339Nano), string(s.UserID), string(s.KeyID), s.Kind, s.ID, s.Operation)
	page, err := list.page(p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	if key := callerOf(c).Key; !key.Allows(compute.ScopeAdmin) && !key.Allows(compute.ScopeControls) {
		if s.UserID != "" && s.UserID != key.UserID {
			return c.JSON(http.StatusOK, controls.AuditList{Entries: []controls.AuditEntry{}, Pagination: controls.Pagination(list.pagination(compute.Position{}))})
		}
		s.UserID = key.UserID
	}

	found, next, err := h.Control.Audit(contextOf(c), s, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.AuditList{Entries: views(found, auditView), Pagination: controls.Pagination(list.pagination(next))})
}

func auditView(e compute.AuditEntry) controls.AuditEntry {
	return controls.AuditEntry{
		Number: e.Seq, At: e.At, User: orNil(string(e.UserID)), Key: orNil(string(e.KeyID)), Request: orNil(e.Request), Operation: e.Operation, Client: orNil(e.Client),
		Kind: controls.AuditKind(e.Kind), ID: orNil(e.ID), Change: controls.AuditEntryChange(e.Change), Fields: append([]string{}, e.Fields...),
	}
}

// ListRefusals is GET /_berth/audit/refusals.
func (h controlsHandlers) ListRefusals(c echo.Context, p controls.ListRefusalsParams) error {
	s := control.RefusalSearch{
		Since: value(p.Since), Until: given(p.Until), Client: value(p.Client), KeyID: compute.KeyID(value(p.Key)), UserID: compute.UserID(value(p.User)),
	}
	list := listOf(c, "listRefusals", s.Since.Format(time.RFC3339Nano), s.Until.Format(time.RFC3339Nano), s.Client, string(s.KeyID), string(s.UserID))
	page, err := list.page(p.Cursor, p.Limit)
	if err != nil {
		return err
	}
	if err := h.Refusals.Save(contextOf(c)); err != nil && compute.CodeOf(err) != compute.Unavailable { // what is stored can be read in any case
		return err
	}

	found, next, err := h.Control.Refusals(contextOf(c), s, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.RefusalList{Refusals: views(found, refusalView), Pagination: controls.Pagination(list.pagination(next))})
}

func refusalView(r compute.Refusal) controls.Refusal {
	return controls.Refusal{
		Number: r.Seq, Minute: r.At, Interface: controls.RefusalInterface(r.Interface), Reason: controls.RefusalReason(r.Reason), Client: orNil(r.Client),
		Key: orNil(string(r.KeyID)), User: orNil(string(r.UserID)), Count: r.Count,
	}
}
