package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term" // the width of a terminal is asked for differently from system to system
)

// column is a part of a T that is shown: in lists, and in detail if it is wide only there.
type column[T any] struct {
	head  string
	value func(T) string
	wide  bool
}

// idHeads are the heads of first columns by which what is shown is named in other calls.
var idHeads = []string{"ID", "NUMBER", "NAME", "FINGERPRINT", "ENDED WORKER"}

// printTable prints rows under their heads, aligned; on a terminal the heads are bold, and cells are cut so that a row is no wider than it.
func printTable[T any](cmd *cobra.Command, columns []column[T], rows []T) error {
	lines := make([][]string, 1+len(rows))
	for _, c := range columns {
		if c.wide {
			continue
		}
		lines[0] = append(lines[0], c.head)
		for i, row := range rows {
			lines[1+i] = append(lines[1+i], oneLine(c.value(row)))
		}
	}
	return writeTable(cmd, lines)
}

// writeTable writes a table whose first line has the heads.
func writeTable(cmd *cobra.Command, lines [][]string) error {
	if idsAlone(cmd) {
		return writeIDs(cmd, lines[0][0], lines[1:])
	}
	out := cmd.OutOrStdout()
	text := aligned(lines, widthOf(out))
	if heads, rest, ok := strings.Cut(text, "\n"); ok && terminal(out) && os.Getenv("NO_COLOR") == "" {
		text = "\x1b[1m" + heads + "\x1b[0m\n" + rest
	}
	_, err := io.WriteString(out, text)
	return err
}

// writeIDs writes the first cells of rows, one a line, where their head is one of ids; else nothing.
func writeIDs(cmd *cobra.Command, head string, rows [][]string) error {
	if !slices.Contains(idHeads, head) {
		return nil
	}
	for _, cells := range rows {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), cells[0]); err != nil {
			return err
		}
	}
	return nil
}

// printDetail prints one row, a line for each column.
func printDetail[T any](cmd *cobra.Command, columns []column[T], row T) error {
	var lines [][]string
	for _, c := range columns {
		lines = append(lines, []string{strings.ToLower(c.head), oneLine(c.value(row))})
	}
	if idsAlone(cmd) {
		return writeIDs(cmd, columns[0].head, [][]string{{lines[0][1]}})
	}
	_, err := io.WriteString(cmd.OutOrStdout(), aligned(lines, 0))
	return err
}

// widthOf gives how many characters a line of a terminal has, 0 for what is none.
func widthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok && terminal(w) {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Between two columns, and what a column has at least when it is cut.
const (
	gap      = 2
	leastCut = 6
)

// aligned gives the lines with their cells below one another. With a width, in characters, cells are cut where a line would be longer: those
// of the widest columns, and never those of the first, by which things are named.
func aligned(lines [][]string, width int) string {
	var widths []int
	for _, cells := range lines {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	if width > 0 {
		fit(widths, width)
	}

	var text strings.Builder
	for _, cells := range lines {
		for i, cell := range cells {
			cell = cut(cell, widths[i])
			text.WriteString(cell)
			if i < len(cells)-1 {
				text.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap))
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// fit makes the widest columns narrower until all fit into a line, or none but the first is wider than leastCut.
func fit(widths []int, width int) {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := -1
		for i := 1; i < len(widths); i++ {
			if widths[i] > leastCut && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// cut gives at most so many characters of a text; its end says where some are left out.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
