package control

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// ArtifactPaths begin the addresses of artifacts. The id of the build follows.
const ArtifactPaths = "/_berth/artifacts/"

// use is what an address of an artifact is for.
type use string

const (
	sendArtifact use = "send"
	getArtifact  use = "get"
)

// artifactLinks make and know the addresses of artifacts. Nothing of them is stored: the key signs what they permit.
type artifactLinks struct{ key []byte }

// path gives the path and query of the address, which permits the use until then.
func (l artifactLinks) path(u use, id compute.FlashBuildID, until time.Time) string {
	expires := strconv.FormatInt(until.Unix(), 10)
	return ArtifactPaths + string(id) + "?expires=" + expires + "&token=" + l.token(u, id, expires)
}

func (l artifactLinks) token(u use, id compute.FlashBuildID, expires string) string {
	mac := hmac.New(sha256.New, l.key)
	mac.Write([]byte(string(u) + "\n" + string(id) + "\n" + expires))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// check refuses with Forbidden what permits no such use now (rule flash.links).
func (l artifactLinks) check(u use, id compute.FlashBuildID, expires, token string, now time.Time) error {
	if !hmac.Equal([]byte(l.token(u, id, expires)), []byte(token)) {
		return compute.Errorf(compute.Forbidden, "token: the address does not permit this: ask for another one")
	}
	if until, err := strconv.ParseInt(expires, 10, 64); err != nil || now.Unix() >= until {
		return compute.Errorf(compute.Forbidden, "expires: the address has expired: ask for another one")
	}
	return nil
}
