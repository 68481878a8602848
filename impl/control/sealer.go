package control

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/berthdev/berth/impl/compute"
)

// Sealer seals what must not be stored in clear, with AES-256-GCM and a random nonce for each. It is safe for concurrent
// use.
type Sealer struct {
	aead    cipher.AEAD
	podKeys compute.PodKeys
	links   artifactLinks
}

// SecretKeySize is how many bytes the key of NewSealer has.
const SecretKeySize = 32

// ErrSecretKey says that the key is a wrong one.
var ErrSecretKey = errors.New("the secret key does not open what was sealed")

// NewSealer makes a Sealer with a key of SecretKeySize bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != SecretKeySize {
		return nil, fmt.Errorf("the secret key has %d bytes, not %d", len(key), SecretKeySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}

	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	forPods, err := hkdf.Key(sha256.New, key, nil, "berth: keys of pods", SecretKeySize) // reveals nothing of the key itself
	if err != nil {
		return nil, err
	}
	forLinks, err := hkdf.Key(sha256.New, key, nil, "berth: addresses of artifacts", SecretKeySize)
	return &Sealer{aead, compute.NewPodKeys(forPods), artifactLinks{forLinks}}, err
}

// PodKeys makes and knows the keys of pods. They last as long as the secret key does.
func (s *Sealer) PodKeys() compute.PodKeys { return s.podKeys }

// Seal encrypts the text for its owner alone: moved to another row, it does not open.
func (s *Sealer) Seal(text []byte, owner string) []byte {
	return s.aead.Seal(nil, nil, text, []byte(owner))
}

// Open gives the text again. ErrSecretKey if another key sealed it, or for another owner.
func (s *Sealer) Open(sealed []byte, owner string) ([]byte, error) {
	text, err := s.aead.Open(nil, nil, sealed, []byte(owner))
	if err != nil {
		return nil, fmt.Errorf("%w for %s: %w", ErrSecretKey, owner, err)
	}
	return text, nil
}
