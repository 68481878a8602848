package compute

import "time"

// Registry is a credential of a container registry.
type Registry struct {
	ID        RegistryID
	UserID    UserID
	Name      string
	Login     []byte // sealed: user name and password are never stored in clear
	CreatedAt time.Time
}

// Login is what a Registry holds, in clear. It is for a runtime at the time of a pull and for nobody else.
type Login struct {
	Username string
	Password string
}

// String hides the login, so that it cannot be printed or logged by mistake.
func (Login) String() string { return "(hidden)" }

// GoString hides the login.
func (l Login) GoString() string { return l.String() }

// Delegation is a record that a repository of somebody else's registry may be pulled from.
type Delegation struct {
	ID         DelegationID
	UserID     UserID // who delegated it
	Name       string // empty: none
	Account    string // that owns the repository
	Region     string
	Repository string
	Tag        string
	CreatedAt  time.Time
}

// Host is the address of the registry that holds the repository.
func (d Delegation) Host() string { return d.Account + ".dkr.ecr." + d.Region + ".amazonaws.com" }
