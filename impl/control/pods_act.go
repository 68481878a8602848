package control

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// ActOnPod carries out an action that the user asked for. Conflict when the status or the lock does not allow it, Rejected
// when nothing can hold a pod that is to be started, NotFound as for GetPod.
func (c *Control) ActOnPod(ctx context.Context, user compute.UserID, id compute.PodID, action compute.PodEvent) (pod compute.Pod, err error) {
	if action == compute.PodStart {
		return c.ResumePod(ctx, user, id, Resume{})
	}
	err = c.placement.Write(ctx, func(tx store.Tx, claims *Claims) (err error) {
		if pod, err = ownPod(tx, user, id); err != nil {
			return err
		}
		if action == compute.PodTerminate {
			if err := checkAlone(pod); err != nil {
				return err
			}
		}

		if action == compute.PodStop || action == compute.PodRestart {
			if err := checkUnlocked(pod); err != nil {
				return err
			}
		}

		if action == compute.PodStop {
			pod.EndedBy, pod.Reason = compute.EndedByUser, "" // whatever it waited for
		}
		return move(tx, claims, &pod, action)
	})
	if err == nil {
		c.podHint(id)
	}

	return pod, err
}

// checkUnlocked refuses to stop or restart a locked pod (rules pods.locked.*).
func checkUnlocked(p compute.Pod) error {
	if !p.Locked {
		return nil
	}
	return compute.Errorf(compute.Conflict, "the pod is locked: it cannot be stopped or restarted")
}

// move moves the pod by an action for which it stays where it is. A container that is up from before a restart is then not the one that
// was asked for.
func move(tx store.Containers, claims *Claims, p *compute.Pod, action compute.PodEvent) (err error) {
	from := p.Status
	if p.Status, err = compute.PodMachine.Next(from, action); err != nil {
		return err
	}

	if action == compute.PodRestart {
		p.StartedAt, p.RestartAt, p.Reason = time.Time{}, tx.Now(), ""
		if err := connect(tx, p); err != nil {
			return err
		}
	}

	p.MovedAt = tx.Wall()
	_, err = claims.Move(tx, from, *p)
	return err
}

// renew has another container take the place of the one that the pod comes up with, which was asked for with other settings.
func renew(tx store.Containers, p *compute.Pod) error {
	next := p.RestartAt.Add(time.Millisecond) // a run of its own, also where the clock stands still
	if now := tx.Now(); now.After(next) {
		next = now
	}
	p.RestartAt, p.Reason = next, ""
	if err := connect(tx, p); err != nil {
		return err
	}
	_, err := tx.MovePod(*p)
	return err
}

// Resume is what may be asked of a pod that is to start again.
type Resume struct {
	GPUs         *int     // nil: as many as it has
	OnGPUs       *bool    // whether it is a GPU pod; nil: as it is
	CUDAVersions []string // any of them; empty: all
	BidPerGPU    float64  // USD an hour: it is interruptible from now on, for this; 0: it stays what it is
}

// errMoved says that somebody changed the pod between a look at it and its transaction.
var errMoved = compute.Errorf(compute.Conflict, "the pod was changed by another request at the same time")

// ResumePod starts the pod. Rejected for another number of GPUs than the pod has, or none in place of some; otherwise as for ActOnPod.
//
// It is placed anew: in its data center, and with a persistent mount on the host where that is.
func (c *Control) ResumePod(ctx context.Context, user compute.UserID, id compute.PodID, r Resume) (pod compute.Pod, err error) {
	for range attempts {
		if pod, err = c.startable(ctx, user, id, r); err != nil {
			return pod, err
		}
		w := wantOf(pod)
		w.DataCenterIDs, w.CUDAVersions = []string{pod.DataCenterID}, r.CUDAVersions
		w.keep(pod)
		switch { // where its data is
		case pod.Persistent != nil && !c.runtime.Can.Schedules:
			w.HostID = pod.HostID
		case pod.Network != nil:
			w.VolumeID = pod.Network.VolumeID
		}

		seen, length := pod.Version, c.interruptions.draw(pod)
		asked := pod
		err = c.placement.place(ctx, "pod", 1, []want{w}, func(at []choice) error {
			return c.store.Write(ctx, func(tx store.Tx) (err error) {
				if pod, err = ownPod(tx, user, id); err != nil {
					return err
				}
				if pod.Version != seen {
					return errMoved
				}
				if pod.BidPerGPU != asked.BidPerGPU {
					pod.BidPerGPU, pod.CostPerHour = asked.BidPerGPU, asked.CostPerHour
					if err := rebid(tx, &pod); err != nil {
						return err
					}
				}
				if err := checkSpend(ctx, tx, user, pod.CostPerHour); err != nil {
					return err
				}
				pod.InterruptAt = length.end(tx)
				if err := c.placement.holdVolume(tx, pod.Network, &at[0]); err != nil {
					return err
				}
				return start(tx, &pod, &at[0])
			})
		})
		if !errors.Is(err, errMoved) {
			break
		}
	}
	if err == nil {
		c.podHint(id)
		if timed(pod) {
			c.timerHint(id)
		}
	}
	return pod, err
}

// rebid stores another bid of the pod.
func rebid(tx store.Pods, p *compute.Pod) error {
	changed, err := tx.ChangePod(*p)
	if err == nil && !changed {
		err = errMoved
	}
	p.Version++
	return err
}

// startable gives the pod, with the bid that is asked for, if it can be started as is asked.
func (c *Control) startable(ctx context.Context, user compute.UserID, id compute.PodID, r Resume) (compute.Pod, error) {
	pod, err := c.GetPod(ctx, user, id)
	if err != nil {
		return pod, err
	}
	has := int64(0)
	if pod.GPU != nil {
		has = pod.GPU.Count
	}
	if r.GPUs != nil && int64(*r.GPUs) != has {
		return pod, compute.Errorf(compute.Rejected, "gpuCount: the pod has %d, which cannot change", has)
	}
	if r.OnGPUs != nil && *r.OnGPUs != (pod.GPU != nil) {
		return pod, compute.Errorf(compute.Rejected, "computeType: the pod has %d GPUs, which cannot change", has)
	}

	if _, err = compute.PodMachine.Next(pod.Status, compute.PodStart); err != nil || r.BidPerGPU == 0 {
		return pod, err
	}

	if err := checkAlone(pod); err != nil {
		return pod, err
	}
	if pod.GPU == nil {
		return pod, compute.Errorf(compute.Rejected, "bidPerGpu: only GPU pods are interruptible")
	}
	pod.BidPerGPU = r.BidPerGPU
	pod.CostPerHour, err = c.catalog.priceBid(*pod.GPU, pod.Cloud, r.BidPerGPU)
	return pod, err
}

// start moves the pod to where it was placed, with its claims there.
func start(tx store.Containers, p *compute.Pod, at *choice) (err error) {
	from := p.Status
	if p.Status, err = compute.PodMachine.Next(from, compute.PodStart); err != nil {
		return err
	}
	if err := at.claim(tx, string(p.ID)); err != nil {
		return err
	}

	p.HostID, p.DataCenterID, p.Devices = at.hostID(), at.host.DataCenterID, at.deviceNames()
	p.StartedAt, p.RestartAt, p.Reason, p.EndedBy, p.MovedAt, p.InterruptedAt = time.Time{}, tx.Now(), "", "", tx.Wall(), time.Time{}
	if !p.StopAfter.After(tx.Wall()) { // it passed while the pod was stopped (rule graphql.timers.start)
		p.StopAfter = time.Time{}
	}
	if err := connect(tx, p); err != nil {
		return err
	}

	moved, err := tx.MovePod(*p)
	if err == nil && !moved {
		err = errMoved
	}
	if err != nil {
		return err
	}

	return say(tx, *p)
}
