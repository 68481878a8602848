package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// missed is a row that does not hold what is asked of it.
type missed struct{ part, row string }

// judged notes whether a row of the part that runs holds.
func (b *bench) judged(row, holds string) {
	if holds == "NO" {
		b.missed = append(b.missed, missed{b.part.name, row})
	}
}

// account says why rows do not hold: what takes the time, what was tried and what is left.
type account struct {
	title string
	of    []missed // with the beginnings of the names of rows
	text  string
}

// readAccounts reads a page of accounts: what is said before them, and then each with a heading, a list of rows as "- part: row", of which the
// beginning is enough, and a text.
func readAccounts(text string) (before string, all []account, err error) {
	before, text, _ = strings.Cut(text, "\n## ")
	if title, rest, has := strings.Cut(before, "\n"); has && strings.HasPrefix(title, "# ") {
		before = rest
	}
	before = strings.TrimSpace(before)
	for section := range strings.SplitSeq(text, "\n## ") {
		title, rest, _ := strings.Cut(section, "\n")
		a := account{title: title}
		for line := range strings.Lines(strings.TrimLeft(rest, "\n")) {
			name, found := strings.CutPrefix(strings.TrimSpace(line), "- ")
			if !found {
				break
			}
			in, row, _ := strings.Cut(name, ": ")
			if !slices.ContainsFunc(parts, func(p part) bool { return p.name == in }) {
				return "", nil, fmt.Errorf("%s: there is no part %q", title, in)
			}
			a.of = append(a.of, missed{in, row})
		}

		_, a.text, _ = strings.Cut(strings.TrimLeft(rest, "\n"), "\n\n")
		if a.text = strings.TrimSpace(a.text); a.text == "" || len(a.of) == 0 {
			return "", nil, fmt.Errorf("%s: an account has a list of rows, and after an empty line a text", title)
		}
		all = append(all, a)
	}
	return before, all, nil
}

// accountOf gives the place of the account of a row, which is the one that names most of it; -1: there is none.
func accountOf(all []account, m missed) int {
	best, length := -1, -1
	for i, a := range all {
		for _, of := range a.of {
			if of.part == m.part && strings.HasPrefix(m.row, of.row) && len(of.row) > length {
				best, length = i, len(of.row)
			}
		}
	}
	return best
}

// accounts prints why the rows of this run that do not hold do not, and names those of which nothing is said.
func (b *bench) accounts(page string) error {
	if len(b.missed) == 0 {
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, all, err := readAccounts(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}

	rowsOf := map[int][]missed{}
	for _, m := range b.missed {
		i := accountOf(all, m)
		rowsOf[i] = append(rowsOf[i], m)
	}

	fmt.Fprint(b.out, "\n# What does not hold, and why\n")
	if before != "" {
		fmt.Fprintf(b.out, "\n%s\n", before)
	}
	for i, a := range all {
		rows := rowsOf[i]
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(b.out, "\n## %s\n\n", a.title)
		printRows(b.out, rows)
		fmt.Fprintf(b.out, "\n%s\n", a.text)
	}

	if left := rowsOf[-1]; len(left) > 0 {
		fmt.Fprint(b.out, "\n## Not looked into\n\n")
		printRows(b.out, left)
	}
	return nil
}

func printRows(out io.Writer, rows []missed) {
	for _, m := range rows {
		fmt.Fprintf(out, "- %s: %s\n", m.part, m.row)
	}
}
