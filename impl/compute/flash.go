package compute

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// FlashApp is a program of a user, which a client of flash deploys: environments of it run builds of it.
type FlashApp struct {
	ID        FlashAppID
	UserID    UserID
	Name      string // the user's apps have different ones
	CreatedAt time.Time
}

// FlashEnvironment is a place where a build of an app runs, such as production. Endpoints name it.
type FlashEnvironment struct {
	ID        FlashEnvironmentID
	AppID     FlashAppID
	Name      string       // the app's environments have different ones
	BuildID   FlashBuildID // that runs there; empty: none was deployed
	CreatedAt time.Time
}

// FlashBuild is an artifact of an app, a compressed archive of its files, from when its upload is prepared. The manifest is read by itself.
type FlashBuild struct {
	ID         FlashBuildID
	AppID      FlashAppID
	UserID     UserID
	Size       int64     // of the artifact, in bytes
	PreparedAt time.Time // when its upload was
	ReceivedAt time.Time // when all of it had come; zero: not yet
	CreatedAt  time.Time // when it was finalized, and became a build; zero: it is an upload
}

// What a user may have of flash apps.
const (
	FlashApps         = 50               // of a user
	FlashEnvironments = 20               // of an app
	FlashUploads      = 10               // of a user that are prepared and not finalized
	FlashBuildsKept   = 10               // of an app, beside those that its environments run
	FlashArtifact     = 1500 << 20       // bytes of an artifact
	FlashArtifacts    = 12 << 30         // bytes of all artifacts of a user
	FlashManifest     = 256 << 10        // bytes of a manifest
	FlashNameRunes    = 191              // of the name of an app and of an environment
	FlashUploadTime   = time.Hour        // from the preparation of an upload to its end
	FlashDownloadTime = 15 * time.Minute // in which a download begins after its address was given
	FlashTransfers    = 8                // artifacts that come at once, of a server
)

// artifactEnd ends the keys of artifacts.
const artifactEnd = ".tar.gz"

// ObjectKey is what clients call the artifact.
func (b FlashBuild) ObjectKey() string { return string(b.AppID) + "/" + string(b.ID) + artifactEnd }

// FlashBuildOf gives the build whose artifact has the key; empty: it is none.
func FlashBuildOf(objectKey string) FlashBuildID {
	_, name, _ := strings.Cut(objectKey, "/")
	id, ended := strings.CutSuffix(name, artifactEnd)
	if !ended {
		return ""
	}
	return FlashBuildID(id)
}

// CheckFlashName refuses with Rejected what is no name of an app or an environment (rule flash.names).
func CheckFlashName(name string) error {
	switch {
	case name == "" || utf8.RuneCountInString(name) > FlashNameRunes:
		return Errorf(Rejected, "name: must have 1 to %d characters", FlashNameRunes)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return Errorf(Rejected, "name: must be text without control characters")
	case strings.TrimSpace(name) != name:
		return Errorf(Rejected, "name: must not begin or end with a space")
	}
	return nil
}

// CheckFlashManifest refuses with Rejected what is no manifest: an object of FlashManifest bytes at most (rule flash.manifest).
func CheckFlashManifest(manifest json.RawMessage) error {
	switch {
	case len(manifest) > FlashManifest:
		return Errorf(Rejected, "manifest: has %d bytes, and at most %d are kept", len(manifest), FlashManifest)
	case len(manifest) > 0 && manifest[0] != '{' || !json.Valid(manifest) && len(manifest) > 0:
		return Errorf(Rejected, "manifest: must be an object")
	}
	return nil
}
