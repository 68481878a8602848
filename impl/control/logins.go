package control

import (
	"cmp"
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Logins are the requests of clients without a key to get one: somebody who has a key approves them.
type Logins struct {
	store   store.Store
	ids     *compute.IDs
	clock   compute.Clock
	keyring *Keyring
}

// NewLogins makes the use cases.
func NewLogins(s store.Store, ids *compute.IDs, clock compute.Clock, keyring *Keyring) *Logins {
	return &Logins{store: s, ids: ids, clock: clock, keyring: keyring}
}

// NewLogin is what a request to log in is made from.
type NewLogin struct {
	Name      string // of the key; empty: one is made
	Challenge string
	Method    string // of the challenge
	Client    string // the address of who asks
	Agent     string // what they call themselves
}

// Ask makes a request to log in and gives its id, which cannot be had again (rules flash.login, flash.login.bounds). Invalid for a name or a
// challenge that is none, TooMany if there are too many that nobody has decided.
func (l *Logins) Ask(ctx context.Context, n NewLogin) (compute.LoginRequest, string, error) {
	if err := compute.CheckLogin(n.Name, n.Challenge, n.Method); err != nil {
		return compute.LoginRequest{}, "", err
	}
	id := l.ids.Login()
	hash, _ := compute.HashOfLogin(id)
	made := compute.LoginRequest{
		Hash: hash, Name: n.Name, Challenge: n.Challenge, Client: n.Client, Origin: compute.LoginOrigin(n.Client), Agent: compute.LoginAgent(n.Agent),
		Status: compute.LoginPending,
	}

	err := l.store.Write(ctx, func(tx store.Tx) error {
		made.CreatedAt, made.ExpiresAt = tx.Wall(), tx.Wall().Add(compute.LoginTime)
		ofOrigin, all, err := tx.CountLogins(made.Origin, tx.Wall())
		switch {
		case err != nil:
			return err
		case ofOrigin >= compute.LoginsOfOrigin || all >= compute.Logins:
			return compute.Errorf(compute.TooMany, "too many requests to log in wait to be approved; each ends %s after it was made", compute.LoginTime)
		}
		return tx.InsertLogin(made)
	})
	return made, id, err
}

// Find gives a request as it is now. NotFound for an unknown one (rule flash.login.unknown).
func (l *Logins) Find(ctx context.Context, id string) (found compute.LoginRequest, err error) {
	hash, ok := compute.HashOfLogin(id)
	if !ok {
		return found, compute.Errorf(compute.NotFound, "the request to log in does not exist")
	}
	err = l.store.Read(ctx, func(tx store.Tx) error {
		found, err = tx.Login(hash)
		return err
	})
	return found.At(l.clock.Wall()), err
}

// Decide approves or denies a request as the holder of a key (rules flash.login.approve, flash.login.deny). NotFound for an unknown one,
// Conflict for one that was decided or has expired, TooMany for one who has too many keys.
func (l *Logins) Decide(ctx context.Context, id string, by compute.Key, approve bool) (decided compute.LoginRequest, err error) {
	if _, err := l.Find(ctx, id); err != nil {
		return compute.LoginRequest{}, err
	}
	if approve {
		if err := l.mayHaveMore(by.UserID); err != nil {
			return compute.LoginRequest{}, err
		}
	}
	hash, _ := compute.HashOfLogin(id)
	err = l.store.Write(ctx, func(tx store.Tx) error {
		if decided, err = tx.Login(hash); err != nil {
			return err
		}
		if decided = decided.At(tx.Wall()); decided.Status != compute.LoginPending {
			return compute.Errorf(compute.Conflict, "the request to log in is %s, and cannot be decided", decided.Status)
		}
		decided.Status = compute.LoginDenied
		if approve {
			decided.Status, decided.Approver, decided.UserID = compute.LoginApproved, by.ID, by.UserID
		}
		return moveLogin(tx, decided, compute.LoginPending)
	})
	return decided, err
}

// mayHaveMore refuses one more key to who has too many.
func (l *Logins) mayHaveMore(user compute.UserID) error {
	if l.keyring.good(user) >= compute.LoginKeys {
		return compute.Errorf(compute.TooMany, "the user has %d keys, and no more come of logins: revoke some", compute.LoginKeys)
	}
	return nil
}

// Fetch gives the key of an approved request, which it makes: once, to whoever asks first (rule flash.login.once). The token is empty if the
// request is not APPROVED, and it is DENIED if the key of who approved it is not valid any more (rule flash.login.approver). TooMany as for
// Decide.
func (l *Logins) Fetch(ctx context.Context, id string) (fetched compute.LoginRequest, token string, err error) {
	hash, ok := compute.HashOfLogin(id)
	if !ok {
		return fetched, "", compute.Errorf(compute.NotFound, "the request to log in does not exist")
	}
	keyID := l.ids.Key()
	secret := compute.NewToken(l.ids, keyID)
	var key compute.Key
	var valid bool

	l.keyring.changing.Lock()
	defer l.keyring.changing.Unlock()
	err = l.store.Write(ctx, func(tx store.Tx) error {
		valid = false
		if fetched, err = tx.Login(hash); err != nil {
			return err
		}
		if fetched = fetched.At(tx.Wall()); fetched.Status != compute.LoginApproved {
			return nil
		}
		if err := l.mayHaveMore(fetched.UserID); err != nil {
			return err
		}
		if key, valid, err = keyOfLogin(tx, fetched, keyID, secret); err != nil {
			return err
		}

		if !valid {
			fetched.Status = compute.LoginDenied
			return moveLogin(tx, fetched, compute.LoginApproved)
		}
		fetched.Status, fetched.KeyID = compute.LoginConsumed, keyID
		if err = moveLogin(tx, fetched, compute.LoginApproved); err != nil {
			return err
		}
		return tx.InsertKey(key)
	})
	if err != nil || !valid {
		return fetched, "", err
	}

	l.keyring.took(key)
	return fetched, secret, nil
}

// keyOfLogin gives the key of a request that was approved; none if the approver's key is not valid any more.
func keyOfLogin(tx store.Tx, l compute.LoginRequest, id compute.KeyID, token string) (k compute.Key, valid bool, err error) {
	approver, err := tx.Key(l.Approver)
	if compute.CodeOf(err) == compute.NotFound {
		return compute.Key{}, false, nil
	}
	if err != nil {
		return compute.Key{}, false, err
	}
	if _, err := tx.HoldUser(approver.UserID); err != nil { // as for userOfKey
		return compute.Key{}, false, err
	}
	u, known, err := userOf(tx, approver.UserID)
	if err != nil {
		return compute.Key{}, false, err
	}

	approver = approver.Bounded(u, known)
	if approver.Over(tx.Wall()) || approver.UserID != l.UserID || approver.Disabled || !approver.Allows(compute.ScopeGraphQLWrite) {
		return compute.Key{}, false, nil
	}
	return approver.Heir(id, cmp.Or(l.Name, "login from "+l.Client), token, tx.Wall()), true, nil
}

// moveLogin moves a request. Conflict if somebody else has moved it.
func moveLogin(tx store.Logins, l compute.LoginRequest, from compute.LoginStatus) error {
	moved, err := tx.MoveLogin(l, from)
	if err == nil && !moved {
		err = compute.Errorf(compute.Conflict, "the request to log in is not %s any more", from)
	}
	return err
}
