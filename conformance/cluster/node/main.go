// Command node stands before kwok, where a node of the test cluster has its kubelet: it runs commands in Pods as processes of this machine,
// over the library that a kubelet has for it, so that input ends, terminals are some, and exit codes come as they do from one. What else a
// node is asked for goes on to kwok.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idleTime   = 4 * time.Hour
	createTime = 30 * time.Second
)

func main() {
	listen := flag.String("listen", "", "address, host and port")
	kwok := flag.String("kwok", "", "address of kwok's own")
	certificate := flag.String("cert", "", "file of the certificate")
	key := flag.String("key", "", "file of its key")
	folder := flag.String("dir", "", "where commands run")
	flag.Parse()

	others := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: *kwok})
	others.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // of this machine
	mux := http.NewServeMux()
	mux.Handle("/", others)
	for _, path := range []string{"/exec/{namespace}/{pod}/{container}", "/exec/{namespace}/{pod}/{uid}/{container}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			options, err := remotecommand.NewOptions(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			remotecommand.ServeExec(w, r, processes{*folder}, r.PathValue("pod"), r.PathValue("uid"), r.PathValue("container"),
				r.URL.Query()["command"], options, idleTime, createTime, remotecommand.SupportedStreamingProtocols)
		})
	}
	server := &http.Server{Addr: *listen, Handler: mux, ReadHeaderTimeout: createTime}
	if err := server.ListenAndServeTLS(*certificate, *key); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// processes runs commands in a folder.
type processes struct{ folder string }

// ExecInContainer is that of remotecommand.Executor.
func (p processes) ExecInContainer(ctx context.Context, _, _, _ string, command []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // of tests
	cmd.Dir = p.folder
	if tty {
		return inTerminal(cmd, in, out, resize)
	}

	if out != nil {
		cmd.Stdout = out
	}
	if errs != nil {
		cmd.Stderr = errs
	}
	if in != nil {
		to, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() { // it need not read everything
			_, _ = io.Copy(to, in)
			_ = to.Close()
		}()
	}
	return coded(cmd.Run())
}

// inTerminal runs a command in a terminal of its own.
func inTerminal(cmd *exec.Cmd, in io.Reader, out io.Writer, resize <-chan remotecommand.TerminalSize) error {
	terminal, err := pty.Start(cmd)
	if err != nil {
		return err
	}
	defer func() { _ = terminal.Close() }()
	go func() {
		for size := range resize {
			_ = pty.Setsize(terminal, &pty.Winsize{Rows: size.Height, Cols: size.Width})
		}
	}()
	if in != nil {
		go func() { _, _ = io.Copy(terminal, in) }()
	}
	if out != nil {
		_, _ = io.Copy(out, terminal) // until nobody has the other side
	}
	return coded(cmd.Wait())
}

// coded gives the error that tells the exit code of a command, as a shell has it.
func coded(err error) error {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	code := ended.ExitCode()
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return utilexec.CodeExitError{Err: err, Code: code}
}
