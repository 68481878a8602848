package berth

import (
	"context"
	nethttp "net/http" // http is a name of the tests of this package

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
)

// User is somebody who has keys, and what these permit at most, as spec/controls.yaml describes it.
type User = controls.User

// Users gives all users, the oldest first, on any runtime.
func (s *Server) Users(ctx context.Context) ([]User, error) {
	var list controls.UserList
	err := s.askWith(s.key, &list, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ListUsers(ctx) })
	return list.Users, err
}

// CreateUser makes a user with a role: admin, member or reader. The user has no key yet; NewUserKey makes one. The error is that of a name or a role
// that is none, of a name that is taken, or of ctx.
func (s *Server) CreateUser(ctx context.Context, name, role string) (u User, err error) {
	n := controls.NewUser{Name: name, Role: new(controls.NewUserRole(role))}
	err = s.askWith(s.key, &u, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.CreateUser(ctx, n) })
	return u, err
}

// SetUserRole gives a user another role, which bounds its keys from the next request on. The error is that of a role that is none, of an unknown user,
// of the last admin, who stays one, or of ctx.
func (s *Server) SetUserRole(ctx context.Context, name, role string) (User, error) {
	return s.changeUser(ctx, name, controls.UserChange{Role: new(controls.UserChangeRole(role))})
}

// DisableUser refuses a user with every key, from the next request on. What it runs goes on. Errors as for SetUserRole.
func (s *Server) DisableUser(ctx context.Context, name string) (User, error) {
	return s.changeUser(ctx, name, controls.UserChange{Disabled: new(true)})
}

// EnableUser accepts a user again that was disabled. Errors as for SetUserRole.
func (s *Server) EnableUser(ctx context.Context, name string) (User, error) {
	return s.changeUser(ctx, name, controls.UserChange{Disabled: new(false)})
}

func (s *Server) changeUser(ctx context.Context, name string, change controls.UserChange) (u User, err error) {
	err = s.askWith(s.key, &u, func(c *controlsclient.Client) (*nethttp.Response, error) { return c.ChangeUser(ctx, name, change) })
	return u, err
}

// DeleteUser deletes a user and revokes its keys. One that has resources is not deleted, unless keepResources says that these stay as they are,
// without a user. Errors as for SetUserRole.
func (s *Server) DeleteUser(ctx context.Context, name string, keepResources bool) error {
	return s.askWith(s.key, nil, func(c *controlsclient.Client) (*nethttp.Response, error) {
		return c.DeleteUser(ctx, name, &controls.DeleteUserParams{KeepResources: &keepResources})
	})
}
