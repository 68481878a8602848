// Package play is the program that the suite has runtimes run. It is apart from the suite so that it makes a small program.
package play

import (
	"fmt"
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
			err = serve(rest)
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

func serve(port string) error {
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
			_, _ = conn.Write([]byte("ok"))
			_ = conn.Close()
		}
	}()
	return nil
}
