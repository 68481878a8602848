package app_test

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/faulttest"
)

// seededServer starts a server that has something of most kinds.
func seededServer(t *testing.T, c app.Config) *app.Server {
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	c.TestControls, c.Seed = true, seedFile(t, wholeSeed)
	c.Endpoints = []app.Endpoint{{Name: "own"}}
	s := start(t, c)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStates_NamesAreOnDiskBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ephemeral bool
		want      []string
	}{"kept": {false, []string{"data", "states"}}, "thrown away": {true, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			disk := faulttest.New(t, dir)
			data := filepath.Join(dir, "data")
			s := start(t, app.Config{Data: data, TestControls: true, Ephemeral: c.ephemeral})
			for _, state := range []string{"first", "another"} {
				var mu sync.Mutex
				var synced []string // since the state has its name
				disk.Watch(func(c faulttest.Call) {
					if _, err := os.Stat(filepath.Join(data, "states", state+".db")); err == nil && c.Kind == faulttest.DirSync {
						mu.Lock()
						defer mu.Unlock()
						synced = append(synced, filepath.Base(filepath.Dir(c.Path)))
					}
				})
				require.NoError(t, s.SaveState(t.Context(), state))
				disk.Watch(nil)
				mu.Lock()
				require.ElementsMatch(t, c.want, synced, state)
				mu.Unlock()
			}
			require.NoError(t, s.Close())
		})
	}
}

func TestStates_LoadGoesBack(t *testing.T) {
	t.Parallel()
	s := seededServer(t, app.Config{})
	require.NoError(t, s.Advance(t.Context(), time.Minute))
	own := string(s.Endpoints()["own"])
	_, job := call(t, "POST", s.URL()+"/v2/"+own+"/run", seededKey, `{"input":{"n":1}}`)
	before, saved := podsOf(t, s), s.Clock().Now()
	require.Equal(t, "RUNNING", before[seededPod])
	require.NoError(t, s.SaveState(t.Context(), "first"))

	require.NoError(t, s.Advance(t.Context(), 25*time.Hour)) // the job falls due
	for method, path := range map[string]string{"DELETE": "/v2/pods/" + seededPod, "POST": "/v2/global-volumes"} {
		status, body := call(t, method, s.URL()+path, seededKey, `{"name":"more"}`)
		require.Less(t, status, 300, body)
	}
	status, body := call(t, "POST", s.URL()+"/_berth/keys", s.ControlsKey(), `{"scopes":["all"]}`)
	require.Equal(t, 201, status)
	later := body["key"].(string)
	s.Clock().Freeze()

	for range 2 {
		require.NoError(t, s.LoadState(t.Context(), "first"))
		require.True(t, s.Clock().Frozen())
		require.WithinDuration(t, saved, s.Clock().Now(), time.Minute, "what falls due goes on from where it was")
		require.Equal(t, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(podsOf(t, s))))
		require.Equal(t, own, string(s.Endpoints()["own"]))
		_, body = call(t, "GET", s.URL()+"/v2/"+own+"/status/"+job["id"].(string), seededKey, "")
		require.Equal(t, "IN_QUEUE", body["status"], "and can be taken")
		require.NoError(t, s.Advance(t.Context(), time.Minute))
		require.Equal(t, "RUNNING", podsOf(t, s)[seededPod])

		status, _ = call(t, "GET", s.URL()+"/v2/pods", later, "")
		require.Equal(t, 401, status, "it was made later")
		status, _ = call(t, "GET", s.URL()+"/_berth/clock", s.ControlsKey(), "")
		require.Equal(t, 200, status)
	}
	_, body = call(t, "GET", s.URL()+"/v2/global-volumes", seededKey, "")
	require.Len(t, body["globalVolumes"], 1)
	status, _ = call(t, "DELETE", s.URL()+"/v2/pods/"+seededPod, seededKey, "")
	require.Equal(t, 204, status, "and it goes on")
}

// What the server does by itself after it was told to go back is nobody's doing.
func TestStates_WhatComesAfterALoadIsNotOfWhoLoaded(t *testing.T) {
	t.Parallel()
	s := seededServer(t, app.Config{})
	status, _ := call(t, "PUT", s.URL()+"/_berth/states/first", s.ControlsKey(), "")
	require.Less(t, status, 300)
	status, _ = call(t, "POST", s.URL()+"/_berth/states/first/load", s.ControlsKey(), "")
	require.Less(t, status, 300)
	status, pod := call(t, "POST", s.URL()+"/v2/pods", seededKey, `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	require.Equal(t, 201, status)
	require.Eventually(t, func() bool { return podsOf(t, s)[pod["id"].(string)] == "RUNNING" }, time.Minute, 100*time.Millisecond)
	_, body := call(t, "GET", s.URL()+"/_berth/audit?operation=loadState", s.ControlsKey(), "")
	require.Empty(t, body["entries"])
	_, body = call(t, "GET", s.URL()+"/_berth/audit?operation=createPod", s.ControlsKey(), "")
	require.NotEmpty(t, body["entries"])
}

func TestStates_AClockThatStandsStillComesBackWhereItStood(t *testing.T) {
	t.Parallel()
	s := seededServer(t, app.Config{})
	s.Clock().Freeze()
	saved := s.Clock().Now().Truncate(time.Millisecond)
	require.NoError(t, s.SaveState(t.Context(), "first"))
	for range 2 {
		require.NoError(t, s.Advance(t.Context(), time.Hour))
		require.NoError(t, s.LoadState(t.Context(), "first"))
		require.Equal(t, saved, s.Clock().Now())
	}
}

func TestStates_LoadGoesBackWhileTheStorageTakesNoWrites(t *testing.T) {
	t.Parallel()
	s := seededServer(t, app.Config{})
	require.NoError(t, s.SaveState(t.Context(), "first"))
	status, _ := call(t, "PUT", s.URL()+"/_berth/storage", s.ControlsKey(), `{"state":"full"}`)
	require.Equal(t, 204, status)
	require.NotEmpty(t, podsOf(t, s)) // which counts a request that cannot be noted
	status, _ = call(t, "POST", s.URL()+"/v2/global-volumes", seededKey, `{"name":"more"}`)
	require.Equal(t, 503, status)
	require.NoError(t, s.LoadState(t.Context(), "first"))
	status, _ = call(t, "POST", s.URL()+"/v2/global-volumes", seededKey, `{"name":"more"}`)
	require.Equal(t, 201, status)
}

func TestStates_LoadHasAClockStandStillThatWentByItself(t *testing.T) {
	t.Parallel()
	s := seededServer(t, app.Config{})
	require.NoError(t, s.SaveState(t.Context(), "first"))
	s.SetClock(app.ClockAuto, 0, 0)
	s.Clock().Resume() // as while a worker has a job
	require.NoError(t, s.LoadState(t.Context(), "first"))
	require.True(t, s.Clock().Frozen())
}

func TestStates_AreOfAnotherServerToo(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	s := seededServer(t, app.Config{Data: from})
	require.NoError(t, s.SaveState(t.Context(), "first"))
	text, err := os.ReadFile(filepath.Join(from, "states", "first.db"))
	require.NoError(t, err)

	other := start(t, app.Config{Data: to, TestControls: true})
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	require.NoError(t, os.MkdirAll(filepath.Join(to, "states"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to, "states", "first.db"), text, 0o600))
	err = other.LoadState(t.Context(), "first")
	require.ErrorContains(t, err, "--secret-key")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	status, _ := call(t, "GET", other.URL()+"/v2/pods", other.FirstKey(), "")
	require.Equal(t, 200, status, "nothing has changed")

	dir := t.TempDir()
	third := start(t, app.Config{Data: dir, TestControls: true, SecretKey: filepath.Join(from, "secret.key")})
	t.Cleanup(func() { require.NoError(t, third.Close()) })
	require.NoError(t, third.SaveState(t.Context(), "empty"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "states", "first.db"), text, 0o600))
	require.NoError(t, third.LoadState(t.Context(), "first"))
	require.Contains(t, podsOf(t, third), seededPod)
	require.NoError(t, third.LoadState(t.Context(), "empty"))
	status, _ = call(t, "GET", third.URL()+"/v2/pods", third.FirstKey(), "")
	require.Equal(t, 200, status)
}

func TestStates_RefusesWhatItCannotLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := seededServer(t, app.Config{Data: dir})
	require.Equal(t, compute.NotFound, compute.CodeOf(s.LoadState(t.Context(), "none")))
	for _, name := range []string{"", "../berth", "a/b", "A", ".", "a.db", "-a"} {
		require.Equal(t, compute.Rejected, compute.CodeOf(s.SaveState(t.Context(), name)), name)
		require.Equal(t, compute.Rejected, compute.CodeOf(s.LoadState(t.Context(), name)), name)
	}

	require.NoError(t, s.SaveState(t.Context(), "newer"))
	path := filepath.Join(dir, "states", "newer.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 999")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	err = s.LoadState(t.Context(), "newer")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorContains(t, err, "a newer berth wrote it: its schema is version 999")

	require.NoError(t, os.WriteFile(path, []byte("no database"), 0o600))
	require.Equal(t, compute.Conflict, compute.CodeOf(s.LoadState(t.Context(), "newer")))
	require.Contains(t, podsOf(t, s), seededPod, "nothing has changed")
}

func TestStates_OfAnOlderBerthAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := seededServer(t, app.Config{Data: dir})
	text, err := os.ReadFile(filepath.Join("..", "..", "store", "sqlite", "testdata", "released", "1.sql"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "states"), 0o700))
	path := filepath.Join(dir, "states", "old.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(string(text) + `; DELETE FROM registries`) // another key has sealed them
	require.NoError(t, err)
	var user, volume string
	require.NoError(t, db.QueryRow(`SELECT user_id, id FROM volumes`).Scan(&user, &volume))
	require.NoError(t, db.Close())

	require.NoError(t, s.LoadState(t.Context(), "old"))
	status, body := call(t, "POST", s.URL()+"/_berth/keys", s.ControlsKey(), `{"scopes":["all"],"user":"`+user+`"}`)
	require.Equal(t, 201, status)
	status, _ = call(t, "GET", s.URL()+"/v2/network-volumes/"+volume, body["key"].(string), "")
	require.Equal(t, 200, status)
	status, _ = call(t, "GET", s.URL()+"/v2/pods", seededKey, "")
	require.Equal(t, 401, status, "it is not in the state")

	db, err = sql.Open("sqlite", path)
	require.NoError(t, err)
	var version int
	require.NoError(t, db.QueryRow(`PRAGMA user_version`).Scan(&version))
	require.NoError(t, db.Close())
	require.Equal(t, 1, version, "the file stays as it is")
}

func TestStates_AreSoManyAndSoLargeAtMost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := seededServer(t, app.Config{Data: dir})
	require.NoError(t, s.SaveState(t.Context(), "first"))
	for i := range 99 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "states", fmt.Sprintf("more-%d.db", i)), []byte("a state"), 0o600))
	}
	err := s.SaveState(t.Context(), "one-more")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorContains(t, err, "there are 100 saved states")
	require.NoError(t, s.SaveState(t.Context(), "first"), "in place of one that there is")
	status, _ := call(t, "DELETE", s.URL()+"/_berth/states/more-0", s.ControlsKey(), "")
	require.Equal(t, 204, status)
	require.NoError(t, s.SaveState(t.Context(), "one-more"))
	require.NoError(t, s.Close())

	small := start(t, app.Config{Data: dir, TestControls: true}.WithStatesOf(10))
	t.Cleanup(func() { require.NoError(t, small.Close()) })
	err = small.SaveState(t.Context(), "first")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.ErrorContains(t, err, "more in the server than a state may have")
	left, err := filepath.Glob(filepath.Join(dir, "*.saving*"))
	require.NoError(t, err)
	require.Empty(t, left, "nothing is left of what was too large")
	require.NoError(t, small.LoadState(t.Context(), "first"), "what was saved before stays")
}

// Who reads the database meanwhile keeps the log of the old one, which is none of the new one's.
func TestStates_LoadBesideAReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := seededServer(t, app.Config{Data: dir})
	volumes := func() (names []string) {
		_, body := call(t, "GET", s.URL()+"/v2/global-volumes", seededKey, "")
		for _, one := range body["globalVolumes"].([]any) {
			names = append(names, one.(map[string]any)["name"].(string))
		}
		return names
	}
	saved := volumes()
	require.NoError(t, s.SaveState(t.Context(), "first"))

	db, err := sql.Open("sqlite", filepath.Join(dir, "berth.db"))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	reader, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	var keys int
	require.NoError(t, reader.QueryRowContext(t.Context(), "SELECT count(*) FROM keys").Scan(&keys))
	for i := range 10 {
		status, body := call(t, "POST", s.URL()+"/v2/global-volumes", seededKey, fmt.Sprintf(`{"name":"later-%d"}`, i))
		require.Equal(t, 201, status, body)
	}

	for range 2 {
		require.NoError(t, s.LoadState(t.Context(), "first"))
		require.Equal(t, saved, volumes())
	}
	require.NoError(t, reader.Rollback())
	left, err := filepath.Glob(filepath.Join(dir, "*.before*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestStates_KillInALoadLeavesOneOfTheTwo(t *testing.T) {
	t.Parallel()
	for i, step := range app.LoadSteps {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			named := func(s *app.Server) (names []string) {
				_, body := call(t, "GET", s.URL()+"/v2/global-volumes", seededKey, "")
				for _, one := range body["globalVolumes"].([]any) {
					names = append(names, one.(map[string]any)["name"].(string))
				}
				slices.Sort(names)
				return names
			}
			s := start(t, app.Config{Data: dir, TestControls: true, Seed: seedFile(t, wholeSeed)})
			saved := named(s)
			require.NoError(t, s.SaveState(t.Context(), "first"))
			for _, name := range []string{"later", "later-too"} {
				status, body := call(t, "POST", s.URL()+"/v2/global-volumes", seededKey, `{"name":"`+name+`"}`)
				require.Equal(t, 201, status, body)
			}
			now := named(s)
			require.Len(t, now, len(saved)+2)
			require.NoError(t, s.Close())

			b := servePart(t, part{Data: dir, Listen: "127.0.0.1:0", KilledAt: step})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/_berth/states/first/load", http.NoBody)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+b.key)
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				_ = res.Body.Close()
			}
			require.Error(t, err, "it was killed before it could answer")
			require.Error(t, b.process.Wait())

			again := start(t, app.Config{Data: dir, TestControls: true})
			t.Cleanup(func() { require.NoError(t, again.Close()) })
			if i < slices.Index(app.LoadSteps, "replaced") {
				require.Equal(t, now, named(again), "what there was")
			} else {
				require.Equal(t, saved, named(again), "the state")
			}

			require.NoError(t, again.LoadState(t.Context(), "first"), "and a load goes on to be one")
			require.Equal(t, saved, named(again))
			for _, left := range []string{"*.loading*", "*.before*"} {
				files, err := filepath.Glob(filepath.Join(dir, left))
				require.NoError(t, err)
				require.Empty(t, files)
			}
		})
	}
}
