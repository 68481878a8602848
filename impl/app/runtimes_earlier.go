package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/process"
	"github.com/berthdev/berth/store"
)

// endEarlierProcesses kills what is left of pods that were processes, if they are something else now: their runtime does so when it
// is opened.
func (s *Server) endEarlierProcesses(c Config) error {
	if c.Runtime == RuntimeProcess {
		return nil
	}
	if _, err := os.Stat(podProcesses(c)); err != nil {
		return nil // there never were any
	}
	r, err := process.New(process.Config{Dir: podProcesses(c)})
	if err != nil {
		return err
	}
	return r.Close()
}

// noteRuntimes stores where this server has containers, before it has any, and gives the places where an earlier one may have left
// some.
func (s *Server) noteRuntimes(ctx context.Context) (all []compute.RuntimeAt, err error) {
	err = s.store.Read(ctx, func(tx store.Tx) (err error) {
		all, err = tx.ListRuntimes()
		return err
	})
	if err != nil {
		return nil, err
	}
	containers := s.config.Runtime == RuntimeDocker
	if containers || len(all) == 0 && s.hasOwner() { // the latter of a berth that did not store it
		here := compute.RuntimeAt{Name: RuntimeDocker}
		if here.Address, err = docker.Address(s.config.DockerHost); err != nil {
			return nil, err
		}
		if !slices.Contains(all, here) {
			all = append(all, here)
			err = s.store.Write(ctx, func(tx store.Tx) error { return tx.InsertRuntime(here) })
		}
		if containers {
			all = slices.DeleteFunc(all, func(one compute.RuntimeAt) bool { return one == here })
		}
	}
	return all, err
}

// hasOwner tells whether there ever were containers of the data directory.
func (s *Server) hasOwner() bool {
	_, err := os.Stat(s.ownerFile())
	return err == nil
}

// endEarlierContainers sees to what an earlier server left in an engine, until ctx ends.
func (s *Server) endEarlierContainers(ctx context.Context, at compute.RuntimeAt) {
	log := s.config.Log.With("address", at.Address)
	if s.config.Runtime == RuntimeDocker {
		// It may be the same engine by another name: what is there could be what this server runs.
		log.Warn("an earlier start had containers at another engine: what is left there is seen to by a start with its address")
		return
	}
	err := s.seeToContainers(ctx, at)
	if err != nil && ctx.Err() == nil {
		log.Error("what an earlier start left in an engine cannot be seen to", "error", err)
	}
}

func (s *Server) seeToContainers(ctx context.Context, at compute.RuntimeAt) error {
	owner, err := s.readOwner()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // which no container has
	}
	if err != nil {
		return err
	}
	pods, workers, err := containers(docker.Config{Owner: owner, Host: at.Address, Clock: compute.SystemClock{}, Log: s.config.Log})
	if err != nil {
		return err
	}
	l := loop.Earlier{Store: s.store, At: at, Pods: pods, Workers: workers, Clock: compute.SystemClock{}, Log: s.config.Log}
	nothingLeft := l.Run(ctx)
	err = errors.Join(pods.Close(), workers.Close())
	if nothingLeft {
		err = errors.Join(err, s.forgetOwner(ctx))
	}
	return err
}

// forgetOwner removes the name of the containers, if there may be none anywhere.
func (s *Server) forgetOwner(ctx context.Context) error {
	var left []compute.RuntimeAt
	err := s.store.Read(ctx, func(tx store.Tx) (err error) {
		left, err = tx.ListRuntimes()
		return err
	})
	if err != nil || len(left) > 0 {
		return err
	}
	return os.Remove(s.ownerFile())
}
