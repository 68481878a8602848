package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// workers measures how many jobs a second an unmodified worker of the SDK does.
func (b *bench) workers() error {
	b.heading()
	names := map[int]string{1: "concurrency 1", 8: "concurrency 8", 64: "concurrency 64"}
	python, dir, err := b.python("sdk")
	if err != nil {
		for _, n := range []int{1, 8, 64} {
			b.skipped(names[n], err.Error())
		}
		return nil
	}

	stub, err := b.bare("endless")
	if err != nil {
		return err
	}
	defer stub.stop()
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()

	for _, n := range []int{1, 8, 64} {
		start := func(s *server) (*exec.Cmd, error) { return s.worker(python, dir, n) }
		length := 10 * time.Second // it looks for more jobs once a second

		err := row{name: names[n], unit: "jobs/s", asked: atLeast(0.95), reference: func() (reading, error) {
			return stub.done(start, length)
		}, measured: func() (reading, error) {
			if _, err := berth.fill(int(1500 * length.Seconds())); err != nil {
				return reading{}, err
			}
			r, err := berth.done(start, length)
			if err != nil {
				return r, err
			}
			return r, berth.purge()
		}}.print(b)
		if err != nil {
			return err
		}
	}

	return nil
}

// worker starts a worker of the SDK on the queue.
func (s *server) worker(python, dir string, concurrency int) (*exec.Cmd, error) {
	queue := "http://" + s.address + s.path("")
	cmd := exec.Command(python, "-u", "handler.py")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it starts a process for its heartbeats, which does not end with it
	cmd.Env = append(os.Environ(), fmt.Sprint("CONCURRENCY=", concurrency), "RUNPOD_POD_ID=bench0", "RUNPOD_AI_API_KEY="+s.key,
		"RUNPOD_WEBHOOK_GET_JOB="+queue+"job-take/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_OUTPUT="+queue+"job-done/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_PING="+queue+"ping/$RUNPOD_POD_ID?gpu=none")
	return cmd, cmd.Start()
}

// done starts a worker, waits until it has done its first jobs, and measures how many a second it does from then on. It does them in bursts: both
// moments are ends of one, since a burst more or less would be a tenth of all.
func (s *server) done(start func(*server) (*exec.Cmd, error), length time.Duration) (reading, error) {
	before, err := s.completed()
	if err != nil {
		return reading{}, err
	}
	worker, err := start(s)
	if err != nil {
		return reading{}, err
	}
	defer func() {
		_ = worker.Process.Signal(syscall.SIGTERM)
		killed := time.AfterFunc(5*time.Second, func() { _ = worker.Process.Kill() })
		_ = worker.Wait() // it ends as it was told to
		killed.Stop()
		_ = syscall.Kill(-worker.Process.Pid, syscall.SIGKILL) // what it has left
	}()

	now, err := s.burst(before)
	if err != nil {
		return reading{}, err
	}
	return s.reading(func() (int64, error) {
		time.Sleep(length)
		then, err := s.completed()
		if err == nil {
			then, err = s.burst(then)
		}
		return then - now, err
	})
}

// burst waits until more jobs have been done than before, and then until none was for a while, or for a second if there is always one. It gives how
// many they are.
func (s *server) burst(before int64) (int64, error) {
	const quiet = 50 * time.Millisecond
	count, begun, changed := before, time.Now(), time.Time{}
	for ; ; time.Sleep(5 * time.Millisecond) {
		now, err := s.completed()
		if err != nil {
			return 0, err
		}
		if now > count {
			if count == before {
				begun = time.Now()
			}
			count, changed = now, time.Now()
		}
		switch {
		case count > before && (time.Since(changed) >= quiet || time.Since(begun) >= time.Second):
			return count, nil
		case time.Since(begun) > time.Minute:
			return 0, errors.New("the worker has done no job within a minute")
		}
	}
}

// completed is how many jobs the queue has done.
func (s *server) completed() (int64, error) {
	health, err := s.once(s.get("health"))
	if err != nil {
		return 0, err
	}
	return numberOf(health, `"completed":`)
}
