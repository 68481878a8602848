package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// asJSON reports whether JSON is asked for.
func asJSON(cmd *cobra.Command) bool {
	is, _ := cmd.Flags().GetBool("json")
	return is
}

// idsAlone reports whether ids alone are asked for.
func idsAlone(cmd *cobra.Command) bool {
	is, _ := cmd.Flags().GetBool("quiet")
	return is
}

// say prints a line about what was done, unless ids alone are asked for.
func say(cmd *cobra.Command, line string) error {
	if idsAlone(cmd) {
		return nil
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), line)
	return err
}

// terminal reports whether what is written is seen by a person.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// printJSON prints a value as printDocument does.
func printJSON(cmd *cobra.Command, value any) error {
	b := &bytes.Buffer{}
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	return printDocument(cmd, b.Bytes())
}

// printDocument prints JSON: for a person indented, else on one line.
func printDocument(cmd *cobra.Command, document []byte) error {
	out := &bytes.Buffer{}
	var err error
	if terminal(cmd.OutOrStdout()) {
		err = json.Indent(out, document, "", "  ")
	} else {
		err = json.Compact(out, document)
	}
	if err != nil {
		return fmt.Errorf("the server answered with something else than JSON: %w", err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", bytes.TrimSpace(out.Bytes()))
	return err
}

// oneLine keeps what others wrote from breaking the table, or the terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// pointed gives what a pointer points to as text, a dash if it points nowhere.
func pointed[T any](p *T) string {
	if p == nil {
		return "-"
	}
	return textOf(*p)
}

// textOf gives a value as it stands in a table.
func textOf(value any) string {
	switch v := value.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case []string:
		return orDash(strings.Join(v, ", "))
	case map[string]string:
		var pairs []string
		for name, text := range v {
			pairs = append(pairs, name+"="+text)
		}
		slices.Sort(pairs)
		return textOf(pairs)
	case float64:
		if v >= 1 {
			return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
		}
		return fmt.Sprintf("%.3g", v)
	default:
		return fmt.Sprint(v)
	}
}

// progress is one line on the terminal that reports how far a long work is. It is nowhere else.
type progress struct {
	out   io.Writer // nil: nobody looks
	begun time.Time
}

func newProgress(cmd *cobra.Command) *progress {
	p := &progress{begun: time.Now()}
	if err := cmd.ErrOrStderr(); terminal(err) {
		p.out = err
	}
	return p
}

// say replaces the line.
func (p *progress) say(text string) {
	if p.out != nil {
		fmt.Fprintf(p.out, "\r\x1b[K%s, %s", oneLine(text), time.Since(p.begun).Truncate(time.Second))
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
