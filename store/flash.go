package store

import (
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Flash stores the apps of clients of flash.
type Flash interface {
	FlashApps
	FlashBuilds
}

// FlashApps stores apps and their environments.
type FlashApps interface {
	// InsertFlashApp gives Conflict when the user has one of that name.
	InsertFlashApp(compute.FlashApp) error
	// FlashApp gives NotFound for an unknown id.
	FlashApp(compute.FlashAppID) (compute.FlashApp, error)
	// ListFlashApps gives the user's apps, newest first.
	ListFlashApps(compute.UserID) ([]compute.FlashApp, error)
	// DeleteFlashApp removes the app with its environments and builds, known or not.
	DeleteFlashApp(compute.FlashAppID) error

	// InsertFlashEnvironment gives Conflict when the app has one of that name.
	InsertFlashEnvironment(compute.FlashEnvironment) error
	// FlashEnvironment gives NotFound for an unknown id.
	FlashEnvironment(compute.FlashEnvironmentID) (compute.FlashEnvironment, error)
	// ListFlashEnvironments gives the app's environments, newest first.
	ListFlashEnvironments(compute.FlashAppID) ([]compute.FlashEnvironment, error)
	// SetFlashEnvironmentBuild writes which build runs there; NotFound for an unknown id.
	SetFlashEnvironmentBuild(compute.FlashEnvironmentID, compute.FlashBuildID) error
	// DeleteFlashEnvironment removes the environment, known or not.
	DeleteFlashEnvironment(compute.FlashEnvironmentID) error
}

// FlashBuilds stores what is known of artifacts. They themselves are files.
type FlashBuilds interface {
	InsertFlashBuild(compute.FlashBuild) error
	// FlashBuild gives NotFound for an unknown id.
	FlashBuild(compute.FlashBuildID) (compute.FlashBuild, error)
	// FlashManifest gives the manifest of a build, nil if it has none; NotFound for an unknown id.
	FlashManifest(compute.FlashBuildID) (json.RawMessage, error)
	// ListFlashBuilds gives the app's builds and uploads, newest first.
	ListFlashBuilds(compute.FlashAppID) ([]compute.FlashBuild, error)
	// ListFlashBuildsOf gives those of the user's apps, newest first.
	ListFlashBuildsOf(compute.UserID) ([]compute.FlashBuild, error)
	// FlashBuildIDs gives the ids of all, in no order.
	FlashBuildIDs() ([]compute.FlashBuildID, error)
	// UpdateFlashBuild writes ReceivedAt and CreatedAt; NotFound for an unknown id.
	UpdateFlashBuild(compute.FlashBuild) error
	// SetFlashManifest replaces the manifest; NotFound for an unknown id.
	SetFlashManifest(compute.FlashBuildID, json.RawMessage) error
	// DeleteFlashBuild removes the build, known or not.
	DeleteFlashBuild(compute.FlashBuildID) error
	// DeleteFlashUploads removes at most limit uploads that were prepared before the time, and reports how many.
	DeleteFlashUploads(before time.Time, limit int) (int, error)
}
