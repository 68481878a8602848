package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

// usersPath begins the paths of those of the controls that are about users.
const usersPath = "/_berth/users"

// ofUsers reports whether an operation is about users, which is for the scope admin, and served without test controls, too.
func ofUsers(op validate.Op) bool { return strings.HasPrefix(op.Path, usersPath) }

// ListUsers is GET /_berth/users.
func (h controlsHandlers) ListUsers(c echo.Context) error {
	users, err := h.Keyring.Users(contextOf(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.UserList{Users: views(users, userView)})
}

// CreateUser is POST /_berth/users.
func (h controlsHandlers) CreateUser(c echo.Context) error {
	n := bodyOf[controls.NewUser](c)
	made, err := h.Keyring.CreateUser(contextOf(c), compute.UserID(n.Name), newRole(n))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, userView(made))
}

// newRole gives the role that a new user is to have.
func newRole(n controls.NewUser) compute.Role {
	return cmp.Or(compute.Role(value(n.Role)), compute.RoleMember)
}

// ChangeUser is PATCH /_berth/users/{userName}.
func (h controlsHandlers) ChangeUser(c echo.Context, name string) error {
	r := bodyOf[controls.UserChange](c)
	change := compute.UserChange{Disabled: r.Disabled}
	if r.Role != nil {
		change.Role = new(compute.Role(*r.Role))
	}
	changed, err := h.Keyring.ChangeUser(contextOf(c), compute.UserID(name), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, userView(changed))
}

// DeleteUser is DELETE /_berth/users/{userName}.
func (h controlsHandlers) DeleteUser(c echo.Context, name string, p controls.DeleteUserParams) error {
	if err := h.Keyring.DeleteUser(contextOf(c), compute.UserID(name), value(p.KeepResources)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func userView(u compute.User) controls.User {
	return controls.User{Name: string(u.Name), Role: controls.UserRole(u.Role), Disabled: u.Disabled, CreatedAt: timeOf(u.CreatedAt)}
}
