package compute

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"sync"
)

// The ids are distinct types, so that one cannot be taken for another.
type (
	// UserID names who owns keys, pods and endpoints.
	UserID string
	// KeyID is the part of a key that may be shown.
	KeyID string
	// PodID names a pod.
	PodID string
	// EndpointID names an endpoint, in the path of its queue.
	EndpointID string
	// WorkerID names a worker; it fences the jobs that the worker holds.
	WorkerID string
	// JobID names a job.
	JobID string
	// ClusterID names a cluster.
	ClusterID string
	// VolumeID names a network volume or a global one.
	VolumeID string
	// RegistryID names a registry credential.
	RegistryID string
	// DelegationID names a delegation.
	DelegationID string
	// SecretID names a secret.
	SecretID string
	// TemplateID names a template.
	TemplateID string
	// ReleaseID names a release of an endpoint.
	ReleaseID string
	// BuildID names a build.
	BuildID string
	// FlashAppID names a flash app.
	FlashAppID string
	// FlashEnvironmentID names an environment of a flash app.
	FlashEnvironmentID string
	// FlashBuildID names a build of a flash app, and the file of its artifact.
	FlashBuildID string
)

// reservedIDs are the first path segments after /v2 that belong to resources; no endpoint may be named so.
var reservedIDs = []string{"account", "billing", "catalog", "clusters", "global-volumes", "network-volumes", "openapi", "pods", "registries", "serverless", "templates"}

const idAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

// IDs makes ids from a source of randomness and a clock. It is safe for concurrent use.
type IDs struct {
	mu       sync.Mutex
	random   io.Reader
	clock    Clock
	last     uint64 // the time of the last job's id: milliseconds << counterBits | counter
	number   uint16 // of this source
	numbered bool   // it has a number

	spared map[string]struct{} // ids of resources that are not to be made

	room [128]byte // for random bytes on their way: a piece of memory for each id would be allocated
}

// The twelve bits after the milliseconds of a job's id, which order it and number its row: a counter, and the number of the source.
// So two sources, such as two processes, make no two rows of one number in a millisecond, unless they have the same number, too: then
// one of them takes another when they meet. Where one makes more in a millisecond than the counter counts, its ids run ahead of time.
const (
	counterBits = 6
	sourceBits  = 6
)

// NewIDs makes a source of ids. It panics later if random fails: there is no id without randomness.
func NewIDs(random io.Reader, clock Clock) *IDs { return &IDs{random: random, clock: clock} }

// fill fills b with randomness. The caller has the lock.
func (s *IDs) fill(b []byte) {
	if _, err := io.ReadFull(s.random, b); err != nil {
		panic("compute: the source of randomness failed: " + err.Error())
	}
}

// Word gives n random lower-case letters and digits, the first one a letter.
func (s *IDs) Word(n int) string {
	word := make([]byte, 0, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { clear(s.room[:]) }() // a word may be a secret
	buf := s.room[:min(2*n, len(s.room))]
	for len(word) < n {
		s.fill(buf)
		for _, b := range buf {
			size := len(idAlphabet)
			if len(word) == 0 {
				size = 26
			}
			if int(b) < 256/size*size && len(word) < n { // no bias: refuse the remainder
				word = append(word, idAlphabet[int(b)%size])
			}
		}
	}

	return string(word)
}

// podIDSize is how many characters the id of a pod, an endpoint and the like has.
const podIDSize = 14

// keyIDSize is how many characters the id of a key has.
const keyIDSize = 10

// idEpoch is what the ids of resources count from, in milliseconds since 1970: the begin of 2020.
const idEpoch = 1_577_836_800_000

// resource gives the id of a pod, an endpoint and the like: 14 lower-case letters and digits, the first one a letter, never a
// reserved path segment. The first eight give the millisecond, so that inserts stay at the end of every index of ids: with random
// ones each writes a page of its own. They come round after 64 years.
func (s *IDs) resource() string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz" // in the order of their bytes
	for {
		word := []byte(s.Word(podIDSize))
		left := uint64(s.clock.Now().UnixMilli() - idEpoch)
		for i := 7; i > 0; i-- {
			word[i] = digits[left%36]
			left /= 36
		}
		word[0] = digits[10+left%26]
		if id := string(word); !slices.Contains(reservedIDs, id) && !s.spares(id) {
			return id
		}
	}
}

// Spare has nothing get that id any more: somebody has fixed it for what they want to have it.
func (s *IDs) Spare(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spared == nil {
		s.spared = map[string]struct{}{}
	}
	s.spared[id] = struct{}{}
}

func (s *IDs) spares(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, spared := s.spared[id]
	return spared
}

// Pod makes a pod's id (rule rest.ids).
func (s *IDs) Pod() PodID { return PodID(s.resource()) }

// Endpoint makes an endpoint's id (rule rest.ids).
func (s *IDs) Endpoint() EndpointID { return EndpointID(s.resource()) }

// Volume makes the id of a network volume or of a global one.
func (s *IDs) Volume() VolumeID { return VolumeID(s.resource()) }

// Registry makes a registry credential's id.
func (s *IDs) Registry() RegistryID { return RegistryID(s.resource()) }

// Delegation makes a delegation's id.
func (s *IDs) Delegation() DelegationID { return DelegationID(s.resource()) }

// Secret makes a secret's id.
func (s *IDs) Secret() SecretID { return SecretID(s.resource()) }

// Template makes a template's id.
func (s *IDs) Template() TemplateID { return TemplateID(s.resource()) }

// Cluster makes a cluster's id.
func (s *IDs) Cluster() ClusterID { return ClusterID(s.resource()) }

// Release makes the id of a release.
func (s *IDs) Release() ReleaseID { return ReleaseID(s.resource()) }

// Build makes a build's id.
func (s *IDs) Build() BuildID { return BuildID(s.resource()) }

// FlashApp makes the id of a flash app.
func (s *IDs) FlashApp() FlashAppID { return FlashAppID(s.resource()) }

// FlashEnvironment makes the id of an environment of a flash app.
func (s *IDs) FlashEnvironment() FlashEnvironmentID { return FlashEnvironmentID(s.resource()) }

// FlashBuild makes the id of a build of a flash app.
func (s *IDs) FlashBuild() FlashBuildID { return FlashBuildID(s.resource()) }

// Worker makes a worker's id.
func (s *IDs) Worker() WorkerID { return WorkerID(s.resource()) }

// Key makes a key's id, the part of a key that may be shown.
func (s *IDs) Key() KeyID {
	for {
		if id := s.Word(keyIDSize); !s.spares(id) {
			return KeyID(id)
		}
	}
}

// Job makes a job's id: a version 7 UUID, ordered by time so that inserts stay at the end of the index; those of
// /runsync begin with "sync-" (rule queue.job.ids).
func (s *IDs) Job(sync bool) JobID {
	k := s.next()
	k[keyVariant] = 0x80 | k[keyVariant]&0x3f
	if sync {
		k[keyVariant] |= keySync
	}

	return k.ID()
}

// next gives the key of the next job, but for its variant.
func (s *IDs) next() (k JobKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	random := s.room[:len(k)-8]
	s.fill(random)
	copy(k[8:], random)
	if !s.numbered {
		s.renumber()
	}

	now := uint64(s.clock.Now().UnixMilli()) << counterBits
	if now <= s.last {
		now = s.last + 1
	}
	s.last = now
	ms, counter := now>>counterBits, now&(1<<counterBits-1)
	binary.BigEndian.PutUint64(k[:8], ms<<16|0x7000|counter<<sourceBits|uint64(s.number))
	return k
}

// Meet is called when another source made a job's id in the same millisecond that is taken for this one's: they have the same
// number. This one takes another.
func (s *IDs) Meet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renumber()
}

// renumber takes a random number. The caller has the lock.
func (s *IDs) renumber() {
	var b [1]byte
	s.fill(b[:])
	s.number, s.numbered = uint16(b[0])%(1<<sourceBits), true
}

// Follow makes the ids of jobs that come later in order than id, even if the clock says that it is earlier. Anything but an id
// that Job made changes nothing.
func (s *IDs) Follow(id JobID) {
	k, ok := id.Key()
	if !ok {
		return
	}
	prefix := binary.BigEndian.Uint64(k[:8])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, prefix>>16<<counterBits|prefix&0xfff>>sourceBits)
}

// CheckEndpointID refuses with Rejected what is no id of an endpoint: 14 lower-case letters and digits, which are no path segment of a resource.
func CheckEndpointID(id EndpointID) error {
	if !hasForm(string(id), podIDSize) {
		return Errorf(Rejected, "%q is no id of an endpoint: it has %d lower-case letters and digits", id, podIDSize)
	}
	return nil
}

// CheckID refuses with Rejected what is no id of a pod, an endpoint and the like.
func CheckID(id string) error {
	if !hasForm(id, podIDSize) {
		return Errorf(Rejected, "%q is no id: it has %d lower-case letters and digits", id, podIDSize)
	}
	return nil
}

// CheckKeyID refuses with Rejected what is no id of a key.
func CheckKeyID(id KeyID) error {
	if !hasForm(string(id), keyIDSize) {
		return Errorf(Rejected, "%q is no id of a key: it has %d lower-case letters and digits", id, keyIDSize)
	}
	return nil
}

// hasForm reports whether it has so many lower-case letters and digits, and is no path segment of a resource.
func hasForm(id string, size int) bool {
	return len(id) == size && strings.Trim(id, idAlphabet) == "" && !Reserved(id)
}

// FixedID gives the id that a resource has which somebody wants to have the same one in every database: it follows from the name.
func FixedID(name string) string { return fixedWord(name, podIDSize) }

// FixedKeyID is FixedID of a key.
func FixedKeyID(name string) KeyID { return KeyID(fixedWord(name, keyIDSize)) }

// fixedWord gives lower-case letters and digits, the first one a letter, that follow from the name.
func fixedWord(name string, n int) string {
	sum := sha256.Sum256([]byte(name))
	word := []byte{idAlphabet[int(sum[0])%26]}
	for _, b := range sum[1:n] {
		word = append(word, idAlphabet[int(b)%len(idAlphabet)])
	}
	return string(word)
}

// Reserved reports whether a first path segment after /v2 belongs to a resource and so cannot be an endpoint's id.
func Reserved(segment string) bool { return slices.Contains(reservedIDs, segment) }
