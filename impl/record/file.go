package record

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// version is that of the form of recordings.
const version = 1

// head is the first line of a recording.
type head struct {
	Recording int       `json:"recording"` // the version of its form
	Upstream  string    `json:"upstream"`
	Began     time.Time `json:"began"`
}

// Recording is a file of exchanges, read.
type Recording struct {
	Upstream  string
	Exchanges []Exchange // by number
}

// longestLine bounds a line of a recording, in bytes.
const longestLine = 256 << 20

// Load reads a recording. The error names the line that is wrong.
func Load(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func read(from io.Reader) (*Recording, error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	r := &Recording{}
	known := map[int64]int{} // lines by numbers
	line := 0
	for lines.Scan() {
		line++
		if line == 1 {
			var first head
			if err := json.Unmarshal(lines.Bytes(), &first); err != nil || first.Recording == 0 {
				return nil, errors.New("line 1: this is not a recording, which begins with the line that berth record writes first")
			}
			if first.Recording != version {
				return nil, fmt.Errorf("line 1: the recording has the form %d, and this program knows %d", first.Recording, version)
			}
			r.Upstream = first.Upstream
			continue
		}

		x, err := parse(lines.Bytes())
		if err == nil && known[x.Number] != 0 {
			err = fmt.Errorf("number %d is that of line %d", x.Number, known[x.Number])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		known[x.Number] = line
		r.Exchanges = append(r.Exchanges, x)
	}

	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	}
	if line == 0 {
		return nil, errors.New("line 1: the file is empty")
	}
	slices.SortFunc(r.Exchanges, func(a, b Exchange) int { return cmp.Compare(a.Number, b.Number) })
	return r, nil
}

// parse reads a line.
func parse(line []byte) (x Exchange, err error) {
	var syntax *json.SyntaxError
	if err := json.Unmarshal(line, &x); errors.As(err, &syntax) && syntax.Offset >= int64(len(line)) {
		return x, errors.New("the line ends before the exchange does: the recording was cut off")
	} else if err != nil {
		return x, fmt.Errorf("this is no exchange: %w", err)
	}

	switch {
	case x.Number < 1:
		err = errors.New("the exchange has no number")
	case x.Method == "":
		err = errors.New("the exchange has no method")
	case !strings.HasPrefix(x.Path, "/"):
		err = fmt.Errorf("the path %q does not begin with a slash", x.Path)
	case x.Status < 200 || x.Status > 599:
		err = fmt.Errorf("%d is not the status of an answer", x.Status)
	}
	if err != nil {
		return x, err
	}

	if _, err = x.Request.bytes(); err != nil {
		return x, fmt.Errorf("the body of the request is not in base64: %w", err)
	}
	if _, err = x.Response.bytes(); err != nil {
		return x, fmt.Errorf("the body of the answer is not in base64: %w", err)
	}
	return x, nil
}

// Writer writes a recording, each line of which is on disk when it is written. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	err  error // what ended it
}

// Create begins a recording in a new file. The error is that of the file system, also where the file is there.
func Create(path, upstream string, at time.Time) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f}
	if err := w.write(head{Recording: version, Upstream: upstream, Began: at}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// write adds a line. Once one was not written, none is: what comes after it would look as if it were whole.
func (w *Writer) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		if _, w.err = w.file.Write(append(text, '\n')); w.err == nil {
			w.err = w.file.Sync()
		}
	}
	return w.err
}

// failed gives what ended the recording; nil: it goes on.
func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the recording.
func (w *Writer) Close() error { return w.file.Close() }
