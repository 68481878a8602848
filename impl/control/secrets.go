package control

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// Secrets seals what must not be stored in clear, with AES-256-GCM and a random nonce for each. It is safe for concurrent
// use.
type Secrets struct{ aead cipher.AEAD }

// SecretKeySize is how many bytes the key of NewSecrets has.
const SecretKeySize = 32

// ErrSecretKey says that the key is a wrong one.
var ErrSecretKey = errors.New("the secret key does not open what was sealed")

// NewSecrets makes Secrets with a key of SecretKeySize bytes.
func NewSecrets(key []byte) (*Secrets, error) {
	if len(key) != SecretKeySize {
		return nil, fmt.Errorf("the secret key has %d bytes, not %d", len(key), SecretKeySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Secrets{aead}, err
}

// seal encrypts the text for its owner alone: moved to another row, it does not open.
func (s *Secrets) seal(text []byte, owner string) []byte {
	return s.aead.Seal(nil, nil, text, []byte(owner))
}

func (s *Secrets) open(sealed []byte, owner string) ([]byte, error) {
	text, err := s.aead.Open(nil, nil, sealed, []byte(owner))
	if err != nil {
		return nil, fmt.Errorf("%w for %s: %w", ErrSecretKey, owner, err)
	}
	return text, nil
}
