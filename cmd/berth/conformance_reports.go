package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/app"
)

// reports are the files that a run writes. They are whole at any time, so that a run which is cut short leaves them, too: what is not
// checked yet stands in them as skipped.
type reports struct {
	files    []reportFile
	about    conformance.ReportOf
	outcomes []conformance.Outcome
	places   map[string]int // in outcomes, by id
	written  time.Time
}

// reportFile is one of them.
type reportFile struct {
	path  string
	write func(io.Writer) error
}

// newReports writes the files that were asked for with no rule judged yet. It fails where one cannot be written.
func (c *conformanceCommand) newReports(rules []conformance.Rule) (r *reports, err error) {
	contract := cmp.Or(c.target.Contract, app.Contracts()[0])
	r = &reports{places: map[string]int{}, about: conformance.ReportOf{Target: withoutPassword(withoutUser(c.target.URL)), Contract: contract, Version: version, At: time.Now()}}
	if r.outcomes, err = conformance.NotRun(rules, "the run was cut short"); err != nil {
		return nil, err
	}
	for i, o := range r.outcomes {
		r.places[o.ID] = i
	}

	for _, file := range []reportFile{
		{c.junit, func(out io.Writer) error { return conformance.WriteJUnit(out, r.outcomes) }},
		{c.html, func(out io.Writer) error { return conformance.WriteHTML(out, r.about, r.outcomes) }},
	} {
		if file.path != "" {
			r.files = append(r.files, file)
		}
	}

	return r, r.write(false)
}

// add writes the files with one more outcome, at most once a second.
func (r *reports) add(o conformance.Outcome) {
	r.outcomes[r.places[o.ID]] = o
	if time.Since(r.written) > time.Second {
		_ = r.write(false) // it is tried again at the end
	}
}

// end writes the files of a run that has ended, before its rules if there is an error.
func (r *reports) end(ended error) error {
	r.about.Ended = ended
	return r.write(true)
}

func (r *reports) write(last bool) (err error) {
	for _, file := range r.files {
		err = errors.Join(err, file.put(last))
	}
	r.written = time.Now()
	return err
}

// put puts a new file in the place of the old one. What is no file, such as a pipe, is written once, at the end.
func (file reportFile) put(last bool) error {
	if stat, err := os.Stat(file.path); err == nil && !stat.Mode().IsRegular() {
		switch {
		case stat.IsDir():
			return fmt.Errorf("%s is a directory: a report is a file", file.path)
		case !last:
			return nil
		}

		f, err := os.OpenFile(file.path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(file.write(f), f.Close())
	}

	f, err := os.CreateTemp(filepath.Dir(file.path), ".report-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", file.path, errors.Unwrap(err))
	}
	err = errors.Join(file.write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}

	return err
}
