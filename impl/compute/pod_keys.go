package compute

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
)

// PodKeys makes the keys that pods get of their own, and knows them again. None is stored: a key is the pod's id, the run of the
// pod, and what the secret makes of both. So it costs no write, is the same after a restart of the server, and ends with the run
// that it was made for: who knows it checks the pod.
type PodKeys struct{ secret []byte }

// NewPodKeys makes PodKeys. Who has the secret can make the key of every pod.
func NewPodKeys(secret []byte) PodKeys { return PodKeys{secret} }

// The parts of the secret half of such a key: as long as that of any other key.
const (
	runSize = 9  // digits of base 36, for milliseconds until the year 5188
	macSize = 31 // digits of base 32: 155 bits
)

var macText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Token gives the key of the pod's present run.
func (k PodKeys) Token(p Pod) string {
	run := strconv.FormatInt(p.Generation(), 36)
	run = strings.Repeat("0", max(0, runSize-len(run))) + run
	return tokenPrefix + string(p.ID) + "_" + run + k.mac(string(p.ID), run)
}

// IsPodToken reports whether the token has the form of a pod's key, made by the secret or not.
func IsPodToken(token string) bool {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	return ok && len(rest) == podIDSize+1+runSize+macSize && rest[podIDSize] == '_'
}

// Parse gives the pod that a token is for, with the run that it was made for. It is false for what the secret did not make.
func (k PodKeys) Parse(token string) (id PodID, run int64, ok bool) {
	if !IsPodToken(token) {
		return "", 0, false
	}
	pod, rest := token[len(tokenPrefix):][:podIDSize], token[len(tokenPrefix)+podIDSize+1:]
	if !hmac.Equal([]byte(k.mac(pod, rest[:runSize])), []byte(rest[runSize:])) {
		return "", 0, false
	}
	run, err := strconv.ParseInt(rest[:runSize], 36, 64)
	return PodID(pod), run, err == nil
}

func (k PodKeys) mac(pod, run string) string {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte(pod + "_" + run))
	return macText.EncodeToString(h.Sum(nil))[:macSize]
}
