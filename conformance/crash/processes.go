package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The variables that say whose process one is, see impl/runtime/process.
const (
	envOwner      = "BERTH_OWNER="
	envAllocation = "BERTH_ALLOCATION="
)

// gone is how long a process may take to vanish that was killed, on a slow machine. Those of pods and of endpoints that sleep would be there for longer.
const gone = time.Minute

// process is one that some server over the data directory started, or a child of it.
type process struct {
	pid, parent int
	allocation  string
	isPod       bool
	command     string
}

// processesOf gives the processes of the data directory; none where there is no /proc.
func processesOf(data string) (all []process) {
	if runtime.GOOS != "linux" {
		return nil
	}
	if real, err := filepath.EvalSymlinks(data); err == nil {
		data = real
	}

	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil {
			continue // ended meanwhile, or somebody else's
		}
		p := process{}

		ours := false
		for _, v := range strings.Split(string(environment), "\x00") {
			if owner, ok := strings.CutPrefix(v, envOwner); ok {
				ours, p.isPod = filepath.Dir(owner) == data, filepath.Base(owner) == "pods"
			}
			if id, ok := strings.CutPrefix(v, envAllocation); ok {
				p.allocation = id
			}
		}

		stat, err := os.ReadFile(filepath.Join(folder, "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ") // after the name, which may hold anything
		fields := strings.Fields(rest)
		if !ours || err != nil || len(fields) < 2 || fields[0] == "Z" {
			continue
		}

		p.pid, _ = strconv.Atoi(filepath.Base(folder))
		p.parent, _ = strconv.Atoi(fields[1])
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		p.command = strings.ReplaceAll(string(command), "\x00", " ")
		all = append(all, p)
	}

	return all
}

// awaitProcesses waits until no process is there for which wrong names a fault.
func awaitProcesses(data string, wrong func(process) string) error {
	return awaitProcessesFor(gone, data, wrong)
}

func awaitProcessesFor(patience time.Duration, data string, wrong func(process) string) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var found []string
		for _, p := range processesOf(data) {
			if why := wrong(p); why != "" {
				found = append(found, fmt.Sprintf("%d (%s, of %s): %s", p.pid, strings.TrimSpace(p.command), p.allocation, why))
			}
		}

		if len(found) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes are left that should not be: %s", len(found), strings.Join(found, "; "))
		}
	}
}

// noneLeft waits until no process of the data directory is left, after its server has ended.
func noneLeft(data string) error {
	return awaitProcesses(data, func(process) string { return "its server has ended" })
}

// noneOfBefore waits until every process descends from the server: none is left of an earlier one.
func noneOfBefore(data string, s *server) error {
	return awaitProcesses(data, func(p process) string {
		for at := p.pid; at > 1; at = parentOf(at) {
			if at == s.cmd.Process.Pid {
				return ""
			}
		}
		return "it is none of the present server"
	})
}

func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	parent, _ := strconv.Atoi(slices.Concat(strings.Fields(rest), []string{"", ""})[1])
	return parent
}

// asAsked compares the processes of pods with the pods: each that is RUNNING has one, where they are processes, and no other has.
func (s *things) asAsked(ctx context.Context, data, runtimeName string) error {
	running, err := s.running(ctx)
	if err != nil {
		return err
	}

	err = awaitProcesses(data, func(p process) string {
		if !p.isPod || running[p.allocation] {
			return ""
		}
		if now, err := s.running(ctx); err == nil { // one whose creation was never answered may have come up only now
			running = now
		}
		if running[p.allocation] {
			return ""
		}
		return "no pod of that id is to run"
	})
	if err != nil || runtimeName != "process" || runtime.GOOS != "linux" {
		return err
	}

	has := map[string]bool{}
	for _, p := range processesOf(data) {
		has[p.allocation] = true
	}

	for id := range running {
		if !has[id] {
			return fmt.Errorf("pod %s is RUNNING and has no process", id)
		}
	}

	return nil
}

// running gives the ids of the pods that are RUNNING.
func (s *things) running(ctx context.Context) (map[string]bool, error) {
	listed, err := s.list(ctx, kinds[0])
	running := map[string]bool{}
	for _, one := range listed {
		if one.Status == "RUNNING" {
			running[one.ID] = true
		}
	}
	return running, err
}
