package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Open opens a store for t on a file in t.TempDir(). Called again with the same t, it opens the same file again.
type Open func(t *testing.T, clock compute.Clock) store.Store

// Run holds a store against what package store promises.
func Run(t *testing.T, open func(t *testing.T, clock compute.Clock) store.Store) {
	t.Helper()
	for _, part := range []map[string]func(*testing.T, Open){resources, jobs, transactions} {
		for name, test := range part {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, open)
			})
		}
	}
}

// resources are the tests of what is stored of resources, and what is counted and remembered beside them.
var resources = map[string]func(*testing.T, Open){
	"every field comes back as it was stored":                        fieldsStored,
	"every field is changed, but those that stay":                    fieldsChanged,
	"claims that are refused have nobody run again":                  claimsRefused,
	"a pod comes back as it was stored":                              podRoundTrip,
	"a pod moves only from the version that was read":                podMove,
	"a terminated pod loses its secrets, then its row":               podEnds,
	"no two pods have one network address":                           podAddresses,
	"an endpoint comes back as it was stored":                        endpointRoundTrip,
	"a declared endpoint's name is unique for its user":              endpointNames,
	"an endpoint is updated":                                         endpointUpdate,
	"endpoints are listed by user and by what they name":             endpointLists,
	"releases are listed, and go with their endpoint":                releases,
	"workers are listed, started and deleted":                        workers,
	"claims are stored, resized and released with their sums":        claims,
	"a device is claimed once":                                       claimedOnce,
	"no more is claimed than a host has":                             claimsFit,
	"keys are listed, revoked and deleted":                           keys,
	"who changed what is searched for in pages, and expires":         audit,
	"users are listed and changed, and admins counted":               users,
	"requests to log in are counted, moved and deleted":              logins,
	"keys that were revoked or expired long ago are deleted":         oldKeys,
	"request counts are replaced and deleted":                        requestCounts,
	"what differs of hosts is listed, changed and forgotten":         hostChanges,
	"runtimes are listed and deleted":                                runtimes,
	"lists are walked in pages while things come and go":             pages,
	"releases are walked in pages":                                   releasePages,
	"pages end where there is no room for another row":               pagesInBytes,
	"a list is walked of which not all is in memory":                 walk,
	"pages with little room are read in steps":                       pagesInSteps,
	"volumes are listed, updated and deleted":                        volumes,
	"the pods of a volume are those that are not terminated":         volumePods,
	"secrets are listed, found by name, changed and deleted":         secrets,
	"registry credentials are listed and deleted, with their pods":   registries,
	"delegations are listed and revoked":                             delegations,
	"templates are listed, updated and deleted":                      templates,
	"a template has pods, and forgets its credential":                templateUse,
	"flash apps have environments and builds":                        flash,
	"scripts are replaced, listed and go with their endpoints":       scripts,
	"the SSH keys of a user are replaced":                            sshKeys,
	"what berth says in a log is kept to its last lines":             systemLines,
	"the last workers that have ended are kept with their logs":      endedWorkers,
	"clusters are listed, renamed and deleted, with their pods":      clusters,
	"charges are opened, seen, closed and listed":                    charges,
	"a step of the time of day splits the open charges":              chargesStep,
	"a step may have come at another time of day":                    chargesStepAt,
	"charges that ended are summed by day, each once":                chargesSummed,
	"a charge of many days is summed a part at a time":               chargesSummedInPart,
	"what a reset leaves is charged from then on":                    chargesCleared,
	"the lag of the clock is kept":                                   lag,
	"the last time of day is known":                                  lastWall,
	"the seed is noted, and forgotten with its rows":                 seeds,
	"everything can be read, by the names of its columns":            everything,
	"builds are moved, listed and deleted with their endpoint":       builds,
	"the last builds of an endpoint are kept":                        buildsKept,
	"global volumes are listed, renamed and deleted":                 globalVolumes,
	"pods are listed by user, by status and by timer, and counted":   podLists,
	"who was refused is counted, searched for in pages, and expires": refusals,
}

// jobs are the tests of the jobs and what belongs to them.
var jobs = map[string]func(*testing.T, Open){
	"a job comes back as it was stored":                          jobRoundTrip,
	"a job's JSON comes back byte for byte":                      jobJSON,
	"a job's id is unique":                                       jobIDs,
	"a job moves only from the status and holder that were read": jobMove,
	"output, lease and chunks are their holder's":                jobHolder,
	"the job of the latest id is known":                          jobsLast,
	"waiting jobs are listed in the order of queueing":           jobsWaiting,
	"held jobs are listed in the order of taking":                jobsHeld,
	"jobs are counted":                                           jobCounts,
	"chunks are drained in their order":                          chunks,
	"deliveries of a wrong clock stop no deletion":               webhooksOfAWrongClock,
	"deliveries of webhooks are pending, tried and logged":       webhooks,
	"a cleared store keeps declared endpoints and keys alone":    clears,
	"jobs expire in the order of their time":                     jobsExpire,
	"only an ended job is deleted":                               jobDelete,
	"a job is submitted, taken and ended by the sets":            jobSets,
	"very many jobs are, at once":                                manyJobSets,
	"a take ends where it has enough":                            boundedTakes,
	"a job is taken once":                                        jobTake,
	"long inputs and outputs come in pieces":                     jobPieces,
	"jobs are listed by endpoint, time and error":                jobsListed,
	"an error is listed wherever it is cut":                      cutErrorsListed,
	"the size of an input is known":                              inputSizes,
	"the end of a job is stored with what its webhook gets":      jobEnds,
	"jobs are counted with those of the same commit":             countsShared,
	"very many chunks are drained in turns":                      manyChunks,
}

// transactions are the tests of what every function of a transaction may rely on.
var transactions = map[string]func(*testing.T, Open){
	"what a failing function did is undone":                         undone,
	"what a statement gave is undone with its function":             undoneGiven,
	"a failing function undoes itself alone":                        undoneAlone,
	"a function that fails after a change has the others run again": runsAgain,
	"a function that fails before any change harms nobody":          failsUnchanged,
	"a panic reaches the caller and undoes itself alone":            panics,
	"a function that exits its goroutine undoes itself alone":       exits,
	"a panic after the commit reaches the caller alone":             effectPanics,
	"concurrent writes are all kept":                                concurrent,
	"a write withdrawn in line never runs":                          withdrawn,
	"a write that has begun is seen through":                        seenThrough,
	"a read with an ended context does not run":                     readEnded,
	"a read sees one snapshot":                                      snapshot,
	"a read does not write":                                         readOnly,
	"the time is stamped once, in whole milliseconds":               stamped,
	"a step of the time of day is seen by who is written after it":  wallSteps,
	"what was written is there after a restart":                     reopened,
	"a closed store is unavailable":                                 closed,
	"closing waits for writes":                                      closeWaitsForWrites,
	"closing waits for reads":                                       closeWaitsForReads,
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// begin opens a store that is closed at the end of the test.
func begin(t *testing.T, open Open) (store.Store, *compute.SettableClock) {
	t.Helper()
	clock := compute.NewFrozenClock(start)
	s := open(t, clock)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, clock
}

func write(t *testing.T, s store.Store, f func(store.Tx) error) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), f))
}

// read gives what f reads.
func read[T any](t *testing.T, s store.Store, f func(store.Tx) (T, error)) T {
	t.Helper()
	v, err := tryRead(t, s, f)
	require.NoError(t, err)
	return v
}

func tryRead[T any](t *testing.T, s store.Store, f func(store.Tx) (T, error)) (v T, err error) {
	t.Helper()
	err = s.Read(t.Context(), func(tx store.Tx) (err error) {
		v, err = f(tx)
		return err
	})
	return v, err
}

// job makes a waiting job of endpoint "e".
func job(id compute.JobID) compute.Job {
	return compute.Job{
		ID: id, EndpointID: "e", Status: compute.JobInQueue, ExecutionTimeout: time.Minute, TTL: time.Hour, Retention: time.Minute,
		CreatedAt: start, QueuedAt: start, ExpiresAt: start.Add(time.Hour),
	}
}

// insertJobs stores jobs, with their endpoints: only those of an endpoint are counted.
func insertJobs(t *testing.T, s store.Store, jobs ...compute.Job) {
	t.Helper()
	write(t, s, func(tx store.Tx) error {
		for _, j := range jobs {
			if err := insertEndpoint(tx, j.EndpointID); err != nil {
				return err
			}
			if err := tx.InsertJob(j, json.RawMessage(`{}`)); err != nil {
				return err
			}
		}
		return nil
	})
}

// insertEndpoint stores an endpoint of that id, unless there is one.
func insertEndpoint(tx store.Tx, id compute.EndpointID) error {
	_, err := tx.Endpoint(id)
	if compute.CodeOf(err) == compute.NotFound {
		err = tx.InsertEndpoint(compute.Endpoint{ID: id, UserID: "u", Name: string(id)})
	}
	return err
}

func getJob(t *testing.T, s store.Store, id compute.JobID) compute.Job {
	t.Helper()
	return read(t, s, func(tx store.Tx) (compute.Job, error) { return tx.Job(id) })
}

// exists reports whether there is a job of that id.
func exists(t *testing.T, s store.Store, id compute.JobID) bool {
	t.Helper()
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Job, error) { return tx.Job(id) })
	if compute.CodeOf(err) == compute.NotFound {
		return false
	}
	require.NoError(t, err)
	return true
}

// move moves a job from where it is by change, and gives it.
func move(t *testing.T, s store.Store, id compute.JobID, change func(*compute.Job)) compute.Job {
	t.Helper()
	var j compute.Job
	write(t, s, func(tx store.Tx) (err error) {
		if j, err = tx.Job(id); err != nil {
			return err
		}
		was := store.GuardOf(j)
		change(&j)
		moved, err := tx.MoveJob(j, was)
		if err == nil && !moved {
			err = compute.Errorf(compute.Internal, "the job did not move")
		}

		return err
	})

	return j
}

func to(s compute.JobStatus) func(*compute.Job) { return func(j *compute.Job) { j.Status = s } }

func take(w compute.WorkerID, at time.Time) func(*compute.Job) {
	return func(j *compute.Job) { j.Status, j.WorkerID, j.TakenAt = compute.JobInProgress, w, at }
}

func jobIDsOf(jobs []compute.Job) []compute.JobID {
	ids := []compute.JobID{}
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

// guarded runs a guarded write and gives whether it found what it asked for.
func guarded(t *testing.T, s store.Store, f func(store.Tx) (bool, error)) (ok bool) {
	t.Helper()
	write(t, s, func(tx store.Tx) (err error) {
		ok, err = f(tx)
		return err
	})
	return ok
}
