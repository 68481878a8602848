package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

// ofAnybody reports whether an operation of the controls is for every key.
func ofAnybody(op validate.Op) bool { return op.Path == "/_berth/session" }

// listsKeys reports whether an operation lists the keys: unlike those that make and revoke some it is served without test controls, too.
func listsKeys(op validate.Op) bool {
	return op.Path == "/_berth/keys" && op.Method == http.MethodGet
}

// ListKeys is GET /_berth/keys.
func (h controlsHandlers) ListKeys(c echo.Context) error {
	return c.JSON(http.StatusOK, controls.KeyList{Keys: views(h.Keyring.Keys(false), keyView)})
}

// GetSession is GET /_berth/session.
func (h controlsHandlers) GetSession(c echo.Context) error {
	key := callerOf(c).Key
	return c.JSON(http.StatusOK, controls.Session{
		Key: keyView(key), May: rightsView(key), Role: roleOf(key), Version: h.Version, Contract: rest.Editions[requestOf(c).edition].Name, Runtime: h.Runtime, Simulated: h.Simulate,
		TestControls: h.Controls != nil, PodAddress: string(h.PodAddress(c.Request())),
	})
}

// keyView fills every field that the key has; nobody is told more.
func keyView(k compute.Key) controls.ListedKey {
	v := controls.ListedKey{
		ID: string(k.ID), Name: k.Name, User: string(k.UserID), Scopes: []string{}, Exempt: k.Exempt, Contract: orNil(k.Contract), CreatedAt: timeOf(k.CreatedAt),
		ExpiresAt: timeOf(k.ExpiresAt), RevokedAt: timeOf(k.RevokedAt),
	}
	for _, s := range k.Scopes {
		v.Scopes = append(v.Scopes, string(s))
	}
	if k.SpendLimit > 0 {
		v.SpendLimit = &k.SpendLimit
	}
	return v
}

func rightsView(k compute.Key) controls.SessionRights {
	return controls.SessionRights{
		Read: k.Allows(compute.ScopeRESTRead), Write: k.Allows(compute.ScopeRESTWrite), Invoke: k.Invokes(), Graphql: k.Allows(compute.ScopeGraphQLRead),
		Hosts: k.Allows(compute.ScopeAdmin), Controls: k.Allows(compute.ScopeControls),
	}
}

// roleOf gives the role that bounds the key; nil if none does.
func roleOf(k compute.Key) *controls.SessionRole {
	if k.Role == "" {
		return nil
	}
	return new(controls.SessionRole(k.Role))
}
