package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fleets is how many endpoints the killed workers serve: an endpoint whose workers die often starts them ever later.
const fleets = 10

// killWorkers kills workers of a server that stays up, that many, and sees every job to its end.
func killWorkers(c settings, kills int, seed uint64) error {
	if runtime.GOOS != "linux" {
		fmt.Println("SKIPPED: workers are found through /proc, which only Linux has")
		return nil
	}
	for n := range fleets {
		c.endpoints = append(c.endpoints, fmt.Sprintf("fleet%d=%s worker --handler sleep --concurrency 4", n, c.berth))
	}
	s, err := c.start()
	if err != nil {
		return err
	}

	defer s.kill()
	receiver, err := listenForWebhooks()
	if err != nil {
		return err
	}

	defer receiver.close()
	l := &load{service: s.service(), ledger: newLedger(), receiver: receiver}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	busy, enough := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for n := range fleets {
		clients.Go(func() { l.keepBusy(busy, fmt.Sprintf("fleet%d", n), seed) })
	}

	random := source(seed, 1)
	for killed := 0; killed < kills; {
		select {
		case <-l.failed:
			enough()
			clients.Wait()
			return l.err()
		case <-time.After(time.Duration(random.IntN(200)) * time.Millisecond):
		}

		children := childrenOf(s.cmd.Process.Pid)
		if len(children) == 0 {
			continue // all are waited for
		}
		if victim, err := os.FindProcess(children[random.IntN(len(children))]); err == nil && victim.Kill() == nil {
			killed++
		}
	}

	enough()
	clients.Wait()
	if err := l.verify(ctx); err != nil {
		return fmt.Errorf("workers killed: %w", err)
	}

	fmt.Printf("workers: %d kills, %s\n", kills, l.summary())
	return nil
}

// keepBusy keeps a few jobs of an endpoint in flight.
func (l *load) keepBusy(ctx context.Context, endpoint string, seed uint64) {
	r := source(seed, 2)
	for ctx.Err() == nil {
		if l.lookAt(ctx, func(j *job) bool { return j.endpoint == endpoint && j.final == nil && !j.gone }) < 8 {
			j := &job{endpoint: endpoint, webhook: true}
			j.output = fmt.Sprintf(`{"slept":%d}`, r.IntN(300))
			l.send(context.WithoutCancel(ctx), j, `{"ms":`+strings.TrimPrefix(j.output, `{"slept":`), "")
		}
		pause(ctx, time.Duration(r.IntN(50))*time.Millisecond)
	}
}

// childrenOf gives the processes that the process started and that have not ended.
func childrenOf(parent int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // ended meanwhile
		}
		_, rest, _ := strings.Cut(string(text), ") ") // after the name, which may hold anything
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(parent) {
			continue
		}

		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			children = append(children, pid)
		}
	}

	return children
}
