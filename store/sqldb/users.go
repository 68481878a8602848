package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	userColumns = columns[compute.User]{
		text("name", func(u *compute.User) *compute.UserID { return &u.Name }),
		text("role", func(u *compute.User) *compute.Role { return &u.Role }),
		flag("disabled", func(u *compute.User) *bool { return &u.Disabled }),
		instant("created_at", func(u *compute.User) *time.Time { return &u.CreatedAt }),
	}

	insertUser  = userColumns.insert("users")
	selectUser  = `SELECT ` + userColumns.list() + ` FROM users WHERE name = ?`
	selectUsers = `SELECT ` + userColumns.list() + ` FROM users ORDER BY created_at, name`

	// holdUser has a comment that PostgreSQL's dialect takes for a part of it. In SQLite one transaction writes at a time.
	holdUser = selectUser + ` /* FOR KEY SHARE */`
)

const (
	countUsers = `SELECT count(*) FROM users`
	updateUser = `UPDATE users SET role = ?1, disabled = ?2 WHERE name = ?3`
	deleteUser = `DELETE FROM users WHERE name = ?`

	// holdAdmins changes nothing: it waits for who changes an admin, sees what became of it, and has others wait.
	holdAdmins = `UPDATE users SET role = role WHERE role = 'admin' AND disabled = 0`
)

// InsertUser gives Conflict when the name is taken.
func (tx *Tx) InsertUser(u compute.User) error {
	_, err := tx.exec("insert user "+string(u.Name), insertUser, userColumns.values(tx.args(), &u)...)
	return err
}

// User gives NotFound for an unknown name.
func (tx *Tx) User(name compute.UserID) (compute.User, error) {
	u, found, err := get(tx, "user "+string(name), userColumns, selectUser, string(name))
	if err == nil && !found {
		err = unknownUser(name)
	}
	return u, err
}

func unknownUser(name compute.UserID) error {
	return compute.Errorf(compute.NotFound, "user %q does not exist", name)
}

// ListUsers gives all users, oldest first.
func (tx *Tx) ListUsers() ([]compute.User, error) {
	return list(tx, "list users", userColumns, selectUsers)
}

// CountUsers gives how many there are.
func (tx *Tx) CountUsers() (int, error) {
	n, _, err := get(tx, "count users", countColumn, countUsers)
	return int(n), err
}

var countColumn = columns[int64]{whole("n", func(n *int64) *int64 { return n })}

// HoldAdmins gives how many admins are not disabled, and keeps other transactions from changing these until this one ends.
func (tx *Tx) HoldAdmins() (int, error) { return tx.affected("hold admins", holdAdmins) }

// HoldUser reports whether there is the user, and keeps other transactions from deleting it until this one ends.
func (tx *Tx) HoldUser(name compute.UserID) (bool, error) {
	_, found, err := get(tx, "hold user "+string(name), userColumns, holdUser, string(name))
	return found, err
}

// UpdateUser writes role and whether it is disabled; NotFound for an unknown name.
func (tx *Tx) UpdateUser(u compute.User) error {
	ok, err := tx.changed("update user "+string(u.Name), updateUser, string(u.Role), bit(u.Disabled), string(u.Name))
	if err == nil && !ok {
		err = unknownUser(u.Name)
	}
	return err
}

// DeleteUser removes the user, known or not, and leaves what it has.
func (tx *Tx) DeleteUser(name compute.UserID) error {
	_, err := tx.exec("delete user "+string(name), deleteUser, string(name))
	return err
}
