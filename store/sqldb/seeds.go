package sqldb

var (
	seedColumn = columns[string]{text("digest", itself[string])}
	selectSeed = `SELECT ` + seedColumn.list() + ` FROM seeds`
)

const setSeed = `INSERT INTO seeds (one, digest) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET digest = excluded.digest`

// Seed gives the digest of the seed whose rows are all there; empty: of none.
func (tx *Tx) Seed() (string, error) {
	digest, _, err := get(tx, "read the digest of the seed", seedColumn, selectSeed)
	return digest, err
}

// SetSeed keeps the digest of the seed whose rows are all there.
func (tx *Tx) SetSeed(digest string) error {
	_, err := tx.exec("set the digest of the seed", setSeed, digest)
	return err
}
