package control

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Keyring authenticates. It holds every key's hash in memory, so that a request costs no read of the store.
type Keyring struct {
	store store.Store
	ids   *compute.IDs
	clock compute.Clock
	pods  *compute.PodKeys // nil: no pod's key is known

	changing sync.Mutex // held over the store's part of a change or a look, so that neither loses one
	looking  sync.Mutex // held while a look waits for changing: who changes waits for one look at most

	mu     sync.RWMutex
	keys   map[compute.KeyID]compute.Key
	hashes map[[sha256.Size]byte]compute.KeyID // of their tokens
}

// NewKeyring loads the keys. Without those of pods no pod's key is known.
func NewKeyring(ctx context.Context, s store.Store, ids *compute.IDs, clock compute.Clock, pods *compute.PodKeys) (*Keyring, error) {
	r := &Keyring{store: s, ids: ids, clock: clock, pods: pods}
	return r, r.Refresh(ctx)
}

// Refresh loads the keys again: another process, such as berth keys, may have changed them.
func (r *Keyring) Refresh(ctx context.Context) error {
	r.changing.Lock()
	defer r.changing.Unlock()

	keys, hashes := map[compute.KeyID]compute.Key{}, map[[sha256.Size]byte]compute.KeyID{}
	err := r.store.Read(ctx, func(tx store.Tx) error {
		stored, err := tx.ListKeys()
		if err != nil {
			return err
		}
		users, err := tx.ListUsers()
		named := make(map[compute.UserID]compute.User, len(users))
		for _, u := range users {
			named[u.Name] = u
		}
		for _, k := range stored {
			u, known := named[k.UserID]
			keys[k.ID], hashes[k.Hash] = k.Bounded(u, known), k.ID
		}
		return err
	})

	if err == nil {
		r.mu.Lock()
		r.keys, r.hashes = keys, hashes
		r.mu.Unlock()
	}

	return err
}

// look reads the key with the id, which another process may have made just now; the zero Key, which no token matches, if there
// is none. It looks for one at a time: who guesses keys must not have all connections to the store.
func (r *Keyring) look(ctx context.Context, id compute.KeyID) (k compute.Key, err error) {
	r.looking.Lock()
	defer r.looking.Unlock()

	r.changing.Lock()
	defer r.changing.Unlock()
	err = r.store.Read(ctx, func(tx store.Tx) (err error) {
		if k, err = tx.Key(id); err != nil {
			return err
		}
		u, known, err := userOf(tx, k.UserID)
		k = k.Bounded(u, known)
		return err
	})
	if compute.CodeOf(err) == compute.NotFound {
		return compute.Key{}, nil
	}
	if err != nil {
		return compute.Key{}, err
	}

	r.took(k)
	return k, nil
}

// NewKey is what a key is made from.
type NewKey struct {
	UserID   compute.UserID
	Name     string
	Scopes   []compute.Scope
	WorkerID compute.WorkerID // set on the key of a worker
	Exempt   bool             // from rate limits
	Contract string           // the edition of the contract for its requests; empty: the server's
	Expiry   time.Duration    // 0: never

	SpendLimit float64 // USD an hour; 0: none
}

// Create stores a key and gives its token, which cannot be had again.
func (r *Keyring) Create(ctx context.Context, n NewKey) (compute.Key, string, error) {
	id := r.ids.Key()
	token := compute.NewToken(r.ids, id)
	k, err := r.create(ctx, n, id, token)
	if err != nil {
		return compute.Key{}, "", err
	}
	return k, token, nil
}

// Keep stores a key of a token that somebody chose, if there is none of it. One that was revoked, or has expired, stays so. Rejected for what can be
// no token, and Conflict if another key has the id that it has in it, or that the context fixes.
func (r *Keyring) Keep(ctx context.Context, n NewKey, token string) error {
	if err := compute.CheckToken(token); err != nil {
		return err
	}
	if _, known := r.of(compute.HashOf(token)); known {
		return nil
	}
	id, made := compute.ParseToken(token)
	if !made {
		id = newID(ctx, r.ids.Key)
	}
	r.mu.RLock()
	_, taken := r.keys[id]
	r.mu.RUnlock()
	switch {
	case taken && made:
		return compute.Errorf(compute.Conflict, "another key has the id %s, which the token has in it", id)
	case taken:
		return compute.Errorf(compute.Conflict, "another key, of another token, has the id %s", id)
	}

	_, err := r.create(ctx, n, id, token)
	return err
}

// Forget removes the key of a token for good, be it valid or not, so that Keep stores it anew; one that is not known is no error.
func (r *Keyring) Forget(ctx context.Context, token string) error {
	k, known := r.of(compute.HashOf(token))
	if !known {
		return nil
	}
	return r.Delete(ctx, k.ID)
}

// of gives the key whose token has the hash.
func (r *Keyring) of(hash [sha256.Size]byte) (compute.Key, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	id, known := r.hashes[hash]
	if !known {
		return compute.Key{}, false
	}
	k, known := r.keys[id]
	return k, known
}

// create stores a key of a token.
func (r *Keyring) create(ctx context.Context, n NewKey, id compute.KeyID, token string) (compute.Key, error) {
	if !(n.SpendLimit >= 0 && n.SpendLimit <= math.MaxFloat64) { // nor what is no number: no document could show it
		return compute.Key{}, compute.Errorf(compute.Invalid, "spendLimit: must be a number of USD that is not negative")
	}
	k := compute.Key{ID: id, UserID: n.UserID, Name: n.Name, Scopes: n.Scopes, WorkerID: n.WorkerID, Exempt: n.Exempt, Contract: n.Contract}
	k.SpendLimit = n.SpendLimit
	k.Hash = compute.HashOf(token)
	r.changing.Lock()
	defer r.changing.Unlock()

	err := r.store.Write(ctx, func(tx store.Tx) error {
		k.CreatedAt = tx.Wall()
		if n.Expiry > 0 {
			k.ExpiresAt = tx.Wall().Add(n.Expiry)
		}
		if k.WorkerID == "" {
			u, err := userOfKey(tx, k)
			if err != nil {
				return err
			}
			k = k.Bounded(u, true)
		}
		return tx.InsertKey(k)
	})
	if err != nil {
		return compute.Key{}, err
	}

	r.took(k)
	return k, nil
}

// took keeps a key that was stored. The caller has changing.
func (r *Keyring) took(k compute.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys[k.ID], r.hashes[k.Hash] = k, k.ID
}

// good gives how many keys of a user are neither revoked nor expired.
func (r *Keyring) good(user compute.UserID) (n int) {
	now := r.clock.Wall()
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, k := range r.keys {
		if k.UserID == user && !k.Over(now) {
			n++
		}
	}
	return n
}

// Delete removes a key for good; an unknown one is no error.
func (r *Keyring) Delete(ctx context.Context, id compute.KeyID) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.Lock()
	delete(r.hashes, r.keys[id].Hash)
	delete(r.keys, id)
	r.mu.Unlock()
	return r.store.Write(ctx, func(tx store.Tx) error { return tx.DeleteKey(id) })
}

// DeleteInvalid removes for good the keys that were revoked or expired before the time.
func (r *Keyring) DeleteInvalid(ctx context.Context, before time.Time) error {
	old := func(k compute.Key) bool {
		return !k.RevokedAt.IsZero() && k.RevokedAt.Before(before) || !k.ExpiresAt.IsZero() && k.ExpiresAt.Before(before)
	}
	r.mu.RLock()
	found := slices.ContainsFunc(slices.Collect(maps.Values(r.keys)), old)
	r.mu.RUnlock()
	if !found {
		return nil
	}

	r.changing.Lock()
	defer r.changing.Unlock()
	err := r.store.Write(ctx, func(tx store.Tx) error {
		_, err := tx.DeleteInvalidKeys(before)
		return err
	})

	if err == nil {
		r.mu.Lock()
		maps.DeleteFunc(r.keys, func(_ compute.KeyID, k compute.Key) bool { return old(k) })
		maps.DeleteFunc(r.hashes, func(_ [sha256.Size]byte, id compute.KeyID) bool { return r.keys[id].ID == "" })
		r.mu.Unlock()
	}

	return err
}

// Revoke makes a key invalid; it stays listed. NotFound for an unknown one.
func (r *Keyring) Revoke(ctx context.Context, id compute.KeyID) error {
	if err := r.store.Write(ctx, func(tx store.Tx) error { return tx.RevokeKey(id) }); err != nil {
		return err
	}
	return r.Refresh(ctx)
}

// Keys gives the keys of workers (worker true) or of people, oldest first.
func (r *Keyring) Keys(worker bool) []compute.Key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var keys []compute.Key
	for _, k := range r.keys {
		if (k.WorkerID != "") == worker {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b compute.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return keys
}

// Holds reports whether a key that was found once is still good, and for as much: its user has the same role. It asks nobody.
func (r *Keyring) Holds(k compute.Key) bool {
	r.mu.RLock()
	now, known := r.keys[k.ID]
	r.mu.RUnlock()
	return known && now.Hash == k.Hash && now.Role == k.Role && !now.Disabled && !now.Over(r.clock.Wall())
}

// Authenticate gives the key that an Authorization header or parameter carries. Its Unauthenticated distinguishes missing from
// malformed from invalid from expired, but does not show whether a key exists (rule auth.detail). bareToo permits the key without
// the word Bearer.
func (r *Keyring) Authenticate(ctx context.Context, header string, bareToo bool) (key compute.Key, bearer bool, err error) {
	if header == "" {
		return key, false, compute.RefusedKey{Reason: compute.RefusedMissing}.Refuse("no API key: send Authorization: Bearer <key>")
	}
	scheme, token, found := strings.Cut(header, " ")
	bearer = found && strings.EqualFold(scheme, "Bearer")

	if !bearer {
		if found || !bareToo {
			return key, false, compute.RefusedKey{Reason: compute.RefusedMalformed}.Refuse("malformed Authorization header: it must be Bearer <key>")
		}
		token = header
	}
	token = strings.TrimLeft(token, " ") // there may be several (RFC 9110, 11.4)

	key, err = r.Find(ctx, token)
	return key, bearer, err
}

// Find gives the key of a token, which it looks for in the store if it is not known. Unauthenticated as for Authenticate; another
// error if the store cannot be read.
func (r *Keyring) Find(ctx context.Context, token string) (compute.Key, error) {
	if compute.IsPodToken(token) {
		return r.findPod(ctx, token)
	}
	key, err := r.find(ctx, token)
	if err != nil {
		return compute.Key{}, err
	}
	known := compute.RefusedKey{Reason: compute.RefusedUnknown, KeyID: compute.KeyOfToken(token)}
	if !key.Matches(token) {
		return compute.Key{}, errInvalidKey(known)
	}
	known.KeyID, known.UserID = key.ID, key.UserID
	if !key.RevokedAt.IsZero() {
		known.Reason = compute.RefusedRevoked
		return compute.Key{}, errInvalidKey(known)
	}
	if !key.ExpiresAt.IsZero() && !r.clock.Wall().Before(key.ExpiresAt) {
		known.Reason = compute.RefusedExpired
		return compute.Key{}, known.Refuse("expired API key")
	}
	if key.Disabled {
		return compute.Key{}, errDisabled(known)
	}

	return key, nil
}

// find gives the key that has the token, or the id in it. Of a token that somebody chose only memory knows: it is made at the start.
func (r *Keyring) find(ctx context.Context, token string) (compute.Key, error) {
	id, ok := compute.ParseToken(token)
	if !ok {
		if compute.CheckToken(token) == nil { // a long one would take time
			if key, known := r.of(compute.HashOf(token)); known {
				return key, nil
			}
		}
		return compute.Key{}, compute.RefusedKey{Reason: compute.RefusedMalformed}.Refuse("malformed API key")
	}

	r.mu.RLock()
	key, known := r.keys[id]
	r.mu.RUnlock()
	if known {
		return key, nil
	}
	return r.look(ctx, id)
}

// findPod gives the key of a pod, which is good for that pod alone, and as long as the run that it was made for: until the pod is
// started anew or terminated (rule auth.scopes.pod). What the secret did not make costs no read of the store.
func (r *Keyring) findPod(ctx context.Context, token string) (compute.Key, error) {
	unknown := compute.RefusedKey{Reason: compute.RefusedUnknown}
	if r.pods == nil {
		return compute.Key{}, errInvalidKey(unknown)
	}
	id, run, ok := r.pods.Parse(token)
	if !ok {
		return compute.Key{}, errInvalidKey(unknown)
	}

	var pod compute.Pod
	var disabled bool
	err := r.store.Read(ctx, func(tx store.Tx) (err error) {
		if pod, err = tx.Pod(id); err != nil {
			return err
		}
		u, _, err := userOf(tx, pod.UserID) // what runs is not bounded by a role, nor ended with the user
		disabled = u.Disabled
		return err
	})

	switch {
	case compute.CodeOf(err) == compute.NotFound:
		return compute.Key{}, errInvalidKey(compute.RefusedKey{Reason: compute.RefusedRevoked, KeyID: compute.KeyID(id)})
	case err != nil:
		return compute.Key{}, err
	case pod.Status == compute.PodTerminated || pod.Generation() != run:
		return compute.Key{}, errInvalidKey(compute.RefusedKey{Reason: compute.RefusedRevoked, KeyID: compute.KeyID(id), UserID: pod.UserID})
	case disabled:
		return compute.Key{}, errDisabled(compute.RefusedKey{KeyID: compute.KeyID(id), UserID: pod.UserID})
	}

	return compute.Key{ID: compute.KeyID(id), UserID: pod.UserID, Name: "pod " + string(id), Scopes: []compute.Scope{compute.ScopePod(id)}}, nil
}

// errInvalidKey shows nobody but who reads the audit log what is wrong with a key.
func errInvalidKey(known compute.RefusedKey) error { return known.Refuse("invalid API key") }

// errDisabled refuses a key that is good itself: who has it may know why (rule users.disabled).
func errDisabled(known compute.RefusedKey) error {
	known.Reason = compute.RefusedDisabled
	return known.Refuse("the user of the API key is disabled")
}
