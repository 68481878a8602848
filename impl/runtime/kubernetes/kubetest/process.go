package kubetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// program is the entrypoint of every image: it carries out the steps of package play.
const program = "/player"

// line is one of a log.
type line struct {
	at   time.Time
	text string
}

// process is a program that runs in a container.
type process struct {
	s         *Server
	program   string
	steps     []string
	idle      bool // nothing is run: it waits to be ended
	env       map[string]string
	mounts    map[string]*disk // by the paths at which they are
	disk      *disk            // of the container
	began     string
	term, end chan struct{} // closed by signals
	why       object        // the node's reason to end it
	exhausted bool          // by using too much memory
	failed    string        // why it could not be started

	mu      sync.Mutex
	log     []line
	written chan struct{} // closed at each line, and at the end
	over    bool
	held    int64 // bytes
	burns   bool
	served  map[string]func(net.Conn) // by ports
}

func newProcess(s *Server, env map[string]string) *process {
	return &process{
		s: s, program: program, env: env, mounts: map[string]*disk{}, disk: newDisk(), term: make(chan struct{}), end: make(chan struct{}),
		written: make(chan struct{}), served: map[string]func(net.Conn){}, held: 2 << 20,
	}
}

// signal sends SIGTERM, or SIGKILL.
func (p *process) signal(kill bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := []chan struct{}{p.term}
	if kill {
		all = []chan struct{}{p.end, p.term} // in this order: who sees the second one sees that it was killed
	}
	for _, c := range all {
		select {
		case <-c:
		default:
			close(c)
		}
	}
}

func (p *process) uses() (memory, nanoCPU int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	nanoCPU = 1e6
	if p.burns {
		nanoCPU = 1e9
	}
	return p.held, nanoCPU
}

// write adds lines to the log.
func (p *process) write(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for text := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		p.log = append(p.log, line{p.s.clock.Wall(), text})
	}
	close(p.written)
	p.written = make(chan struct{})
}

// lines gives those from a number on, and what is closed when there are more; over: there never will be.
func (p *process) lines(from int) (some []line, more <-chan struct{}, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log[min(from, len(p.log)):], p.written, p.over
}

// play carries out the steps, and gives the exit code.
func (p *process) play() (code int) {
	defer func() {
		p.mu.Lock()
		p.over = true
		p.served = map[string]func(net.Conn){}
		close(p.written)
		p.written = make(chan struct{})
		p.mu.Unlock()
	}()
	if p.idle {
		select {
		case <-p.term:
		case <-p.end:
		}
		return 0
	}
	if p.program != program {
		p.failed = fmt.Sprintf("exec: %q: stat %s: no such file or directory", p.program, p.program)
		return 128
	}

	for _, s := range p.steps {
		select {
		case <-p.end:
			return 137
		default:
		}
		if code, ended := p.step(s); ended {
			return code
		}
	}
	return 0
}

// step carries out one step. What it cannot do, ends the program.
func (p *process) step(s string) (code int, ended bool) {
	word, rest, _ := strings.Cut(s, " ")
	n, _ := strconv.Atoi(rest)

	switch word {
	case "say", "complain":
		p.write("%s", rest)
	case "args":
		p.write("%q", p.steps)
	case "env":
		p.write("%s=%s", rest, p.env[rest])
	case "write":
		path, content, _ := strings.Cut(rest, " ")
		p.on(path).write(path, content)
	case "read":
		content, there := p.on(rest).read(rest)
		if !there {
			content = "nothing"
		}
		p.write("%s: %s", rest, content)
	case "tick":
		for i := range n {
			p.write("tick %d", i)
			if !p.sleep(20 * time.Millisecond) {
				return 137, true
			}
		}
	case "eat", "burn":
		p.mu.Lock()
		p.held += int64(n) << 20
		p.burns = p.burns || word == "burn"
		p.mu.Unlock()
	case "serve":
		p.serve(rest, func(conn net.Conn) { _, _ = io.WriteString(conn, "ok") })
	case "web":
		p.serve(rest, p.web)
	case "stay":
		select {
		case <-p.term:
			return p.last(0), true
		case <-p.end:
			return 137, true
		}
	case "exit":
		return n, true
	default:
		p.write("what is %q?", s)
		return 99, true
	}
	return 0, false
}

// last is the exit code of who ends as it was asked to, unless it was killed, too.
func (p *process) last(code int) int {
	select {
	case <-p.end:
		return 137
	default:
		return code
	}
}

// sleep waits; false: it was killed.
func (p *process) sleep(d time.Duration) bool {
	after, stop := p.s.clock.After(d)
	defer stop()
	select {
	case <-after:
		return true
	case <-p.end:
		return false
	}
}

// disk has files by their paths.
type disk struct {
	mu    sync.Mutex
	files map[string]string
}

func newDisk() *disk { return &disk{files: map[string]string{}} }

func (d *disk) write(path, content string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files[path] = content
}

func (d *disk) read(path string) (content string, there bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	content, there = d.files[path]
	return content, there
}

// on gives the disk that a path is on.
func (p *process) on(path string) *disk {
	for at, disk := range p.mounts {
		if strings.HasPrefix(path, at+"/") {
			return disk
		}
	}
	return p.disk
}

func (p *process) serve(port string, f func(net.Conn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.served[port] = f
}

// web answers an HTTP request.
func (p *process) web(conn net.Conn) {
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	p.write("asked for %s", r.URL.Path)
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
}

// server gives what answers at a port; nil if nothing does.
func (p *process) server(port string) func(net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.served[port]
}

// logs answers the log of a Pod.
func (s *Server) logs(w http.ResponseWriter, r *http.Request, name string) {
	s.mu.Lock()
	o := s.stored[pods][name]
	run, node, silent := s.running[uidOf(o)], text(o, "spec", "nodeName"), s.silent[text(o, "spec", "nodeName")]
	s.mu.Unlock()
	switch {
	case o == nil:
		notFound(pods, name).write(w)
		return
	case silent:
		refuse(http.StatusInternalServerError, "InternalError", "Get \"https://%s:10250/containerLogs\": dial tcp: i/o timeout", node).write(w)
		return
	case run == nil && !isTerminal(o):
		refuse(http.StatusBadRequest, "BadRequest", "container \"main\" in pod %q is waiting to start: ContainerCreating", name).write(w)
		return
	case run == nil:
		notFound("pods/log", name).write(w)
		return
	}

	query := r.URL.Query()
	all, _, _ := run.lines(0)
	from := 0
	if since, err := time.Parse(time.RFC3339, query.Get("sinceTime")); err == nil {
		from = sort.Search(len(all), func(i int) bool { return !all[i].at.Before(since.Truncate(time.Second)) })
	}
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		from = max(from, len(all)-tail)
	}
	s.follow(w, r, run, from, node, query.Get("follow") == "true")
}

// follow writes lines from a number on. From a node that is silent nothing comes any more, and no end.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, run *process, from int, node string, follow bool) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	stream := http.NewResponseController(w)
	for {
		some, more, over := run.lines(from)
		s.mu.Lock()
		if s.silent[node] {
			some, more, over = nil, nil, false
		}
		s.mu.Unlock()
		for _, l := range some {
			if _, err := fmt.Fprintf(w, "%s %s\n", l.at.Format("2006-01-02T15:04:05.000000000Z07:00"), l.text); err != nil {
				return
			}
		}
		from += len(some)
		if !follow || over {
			return
		}
		if stream.Flush() != nil {
			return
		}

		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}
