// Package play is the program that the suite has runtimes run. It is apart from the suite so that it makes a small program.
package play

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Run carries out the steps, in their order, and gives the exit code. A step is a word and what follows it:
//
//	say TEXT, complain TEXT   write a line to standard output, or error
//	args, env NAME            write all steps, each in quotes, or a variable
//	write PATH TEXT           write a file
//	read PATH                 write "PATH: " and what the file holds, or "nothing"
//	tick N                    write N lines, one every 20 ms
//	eat MB                    hold so much memory
//	burn                      use a CPU until the end
//	spawn N                   start children until N run, and write how many do
//	serve PORT                answer every connection with "ok"
//	web PORT                  answer every HTTP request with "ok", and write "asked for PATH"
//	fetch ADDRESS             write "ADDRESS: " and what is answered to a connection, or "unreachable"
//	echo                      write what is read, until its end
//	terminal                  write whether standard input is a terminal
//	stay                      until SIGTERM comes
//	exit CODE                 end
func Run(steps []string) int {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	for _, step := range steps {
		word, rest, _ := strings.Cut(step, " ")
		number, _ := strconv.Atoi(rest)
		var err error
		switch word {
		case "say":
			fmt.Println(rest)
		case "complain":
			fmt.Fprintln(os.Stderr, rest)
		case "args":
			fmt.Printf("%q\n", steps)
		case "env":
			fmt.Println(rest + "=" + os.Getenv(rest))
		case "write":
			path, text, _ := strings.Cut(rest, " ")
			err = os.WriteFile(path, []byte(text), 0o600)
		case "read":
			text, err := os.ReadFile(rest)
			if err != nil {
				text = []byte("nothing")
			}
			fmt.Printf("%s: %s\n", rest, text)
		case "tick":
			for i := range number {
				fmt.Println("tick", i)
				time.Sleep(20 * time.Millisecond)
			}
		case "eat":
			held = make([]byte, number<<20)
			for i := 0; i < len(held); i += 4 << 10 {
				held[i] = 1
			}
		case "burn":
			go func() {
				for { //nolint:staticcheck // it burns
				}
			}()
		case "spawn":
			fmt.Println("spawned", spawn(number))
		case "serve":
			err = serve(rest, func(conn net.Conn) { _, _ = conn.Write([]byte("ok")) })
		case "web":
			err = serve(rest, answer)
		case "fetch":
			fmt.Println(rest + ": " + fetch(rest))
		case "echo":
			_, err = io.Copy(os.Stdout, os.Stdin)
		case "terminal":
			var stdin os.FileInfo
			if stdin, err = os.Stdin.Stat(); err == nil {
				fmt.Println("a terminal:", stdin.Mode()&os.ModeCharDevice != 0)
			}
		case "stay":
			<-terms
			return 0
		case "exit":
			return number
		default:
			err = fmt.Errorf("what is %q?", step)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 99
		}
	}

	return 0
}

var held []byte // a variable of the package, so that it is not freed

func spawn(n int) (running int) {
	self, err := os.Executable()
	if err != nil {
		return 0
	}

	for ; running < n; running++ {
		child := exec.Command(self, "stay")
		if child.Start() != nil {
			break
		}
		defer func() {
			_ = child.Process.Kill()
			_ = child.Wait()
		}()
	}

	return running
}

func serve(port string, answer func(net.Conn)) error {
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}

	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			answer(conn)
			_ = conn.Close()
		}
	}()

	return nil
}

// answer speaks as much HTTP as a test needs; net/http would make the program twice as large.
func answer(conn net.Conn) {
	lines := bufio.NewReader(conn)
	first, _ := lines.ReadString('\n')
	for line := first; strings.TrimSpace(line) != ""; {
		line, _ = lines.ReadString('\n')
	}
	_, path, _ := strings.Cut(first, " ")
	path, _, _ = strings.Cut(path, " ")
	fmt.Println("asked for " + path)
	_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"))
}

func fetch(address string) string {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return "unreachable"
	}
	defer func() { _ = conn.Close() }()
	text, _ := io.ReadAll(conn)
	return string(text)
}
