package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// missed is a row that does not hold what is asked of it.
type missed struct {
	part, row string
	value     float64
}

// judged notes whether a row of the part that runs holds.
func (b *bench) judged(row, holds string, value float64) {
	if holds == "NO" {
		b.missed = append(b.missed, missed{b.part.name, row, value})
	}
}

// account says why rows do not hold: what takes the time, what was tried and what is left.
type account struct {
	title string
	of    []excused
	text  string
}

// excused are rows of which an account tells.
type excused struct {
	part, row string // with the beginning of their names
	here      bound  // that which can be had on a machine like that of the account; nothing: the account says none
}

// readExcused reads "part: row", or "part: row (here ≥ 0.5)".
func readExcused(line string) (e excused, err error) {
	name, here, has := strings.Cut(strings.TrimSuffix(line, ")"), " (here ")
	if has {
		sign, limit, _ := strings.Cut(here, " ")
		if e.here.sign = sign; sign != "≥" && sign != "≤" {
			return e, fmt.Errorf("%s: what can be had here begins with ≥ or ≤", line)
		}
		if e.here.limit, err = strconv.ParseFloat(limit, 64); err != nil {
			return e, fmt.Errorf("%s: %w", line, err)
		}
	}

	e.part, e.row, _ = strings.Cut(name, ": ")
	if !slices.ContainsFunc(parts, func(p part) bool { return p.name == e.part }) {
		return e, fmt.Errorf("there is no part %q", e.part)
	}
	return e, nil
}

// readAccounts reads a page of accounts: what is said before them, and then each with a heading, a list of rows as "- part: row", of which the
// beginning is enough, with what can be had here, and a text.
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
			e, err := readExcused(name)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", title, err)
			}
			a.of = append(a.of, e)
		}

		_, a.text, _ = strings.Cut(strings.TrimLeft(rest, "\n"), "\n\n")
		if a.text = strings.TrimSpace(a.text); a.text == "" || len(a.of) == 0 {
			return "", nil, fmt.Errorf("%s: an account has a list of rows, and after an empty line a text", title)
		}
		all = append(all, a)
	}
	return before, all, nil
}

// accountOf gives the place of the account of a row, which is the one that names most of it, and what it says can be had; -1: there is none.
func accountOf(all []account, m missed) (place int, here bound) {
	place, length := -1, -1
	for i, a := range all {
		for _, of := range a.of {
			if of.part == m.part && strings.HasPrefix(m.row, of.row) && len(of.row) > length {
				place, length, here = i, len(of.row), of.here
			}
		}
	}
	return place, here
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

	rowsOf := map[int][]string{}
	for _, m := range b.missed {
		i, here := accountOf(all, m)
		rowsOf[i] = append(rowsOf[i], m.line(here))
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
		fmt.Fprintln(b.out, strings.Join(rows, "\n"))
		fmt.Fprintf(b.out, "\n%s\n", a.text)
	}

	if left := rowsOf[-1]; len(left) > 0 {
		fmt.Fprint(b.out, "\n## Not looked into\n\n")
		fmt.Fprintln(b.out, strings.Join(left, "\n"))
	}
	return nil
}

// line says by how much the row does not hold, and whether what can be had here does.
func (m missed) line(here bound) string {
	line := fmt.Sprintf("- %s: %s: %.4g", m.part, m.row, m.value)
	if here.sign != "" {
		line += fmt.Sprintf("; here %s: %s", here, here.holds(m.value))
	}
	return line
}
