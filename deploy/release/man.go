package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// command is what the help of the program says of one of its commands; berth help --json writes it.
type command struct {
	Name     string
	Use      string
	Aliases  []string
	Group    string
	Short    string
	Long     string
	Example  string
	Flags    []commandFlag
	Commands []command
}

// commandFlag is what it says of a flag.
type commandFlag struct {
	Name, Shorthand, Value, Default, Usage, Variable string
}

// page is the name of the manual page of a command that has one: those below it are on its page.
func (c command) page() string { return strings.ReplaceAll(c.Name, " ", "-") }

// writeManual has the program describe its commands, and writes a manual page for berth and for each command below it. They are the same on
// every system.
func (r *release) writeManual() error {
	program, err := r.host()
	if err != nil {
		return err
	}
	text, err := exec.Command(program, "help", "--json").Output()
	if err != nil {
		return err
	}
	var berth command
	if err := json.Unmarshal(text, &berth); err != nil {
		return err
	}

	pages := manual(berth, r.version.String(), r.time)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if err := r.extra("man/"+name, []byte(pages[name])); err != nil {
			return err
		}
	}
	return nil
}

// manual gives the pages by the names of their files, in the language of man(7).
func manual(berth command, version string, at time.Time) map[string]string {
	pages := map[string]string{}
	for _, c := range append([]command{berth}, berth.Commands...) {
		m := &manPage{}
		m.line(".TH", strings.ToUpper(c.page()), "1", at.Format(time.DateOnly), "berth "+version, "berth")
		m.line(".SH", "NAME")
		m.text(c.page() + " - " + c.Short)
		if c.Name == berth.Name {
			m.overview(c)
		} else {
			m.command(c)
			m.line(".SH", "SEE ALSO")
			m.refer(berth.Name)
		}
		pages[c.page()+".1"] = m.String()
	}
	return pages
}

// manPage is a page that is written.
type manPage struct{ strings.Builder }

// line writes a request with its arguments.
func (m *manPage) line(request string, args ...string) {
	m.WriteString(request)
	for _, arg := range args {
		m.WriteString(` "` + strings.ReplaceAll(roff(arg), `"`, `\(dq`) + `"`)
	}
	m.WriteByte('\n')
}

// text writes what is filled into lines.
func (m *manPage) text(text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		m.WriteString(guarded(roff(line)))
	}
}

// refer writes the name of another page.
func (m *manPage) refer(page string) { fmt.Fprintf(m, ".BR %s (1)\n", roff(page)) }

// paragraphs writes a text of the help, in which an empty line parts paragraphs, and lines that begin with a space stand as they are.
func (m *manPage) paragraphs(text string) {
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			m.line(".PP")
		}
		if strings.Contains(paragraph, "\n ") || strings.HasPrefix(paragraph, " ") {
			m.verbatim(paragraph)
			continue
		}
		m.text(paragraph)
	}
}

// verbatim writes lines as they are.
func (m *manPage) verbatim(text string) {
	m.line(".nf")
	m.text(text)
	m.line(".fi")
}

// overview writes what is on the page of berth itself.
func (m *manPage) overview(c command) {
	m.line(".SH", "SYNOPSIS")
	m.line(".B", c.Name)
	m.text("COMMAND [FLAG]...")
	m.line(".SH", "DESCRIPTION")
	m.paragraphs(c.Long)
	m.flags(c.Flags, ".SH")

	group := ""
	for _, one := range grouped(c.Commands) {
		if one.Group != group {
			group = one.Group
			m.line(".SH", strings.ToUpper(group))
		}
		m.line(".TP")
		m.refer(one.page())
		m.text(one.Short + ".")
	}
	m.examples(c, ".SH")
}

// grouped gives the commands of one group after those of another, in the order in which the groups come.
func grouped(commands []command) (all []command) {
	var groups []string
	by := map[string][]command{}
	for _, c := range commands {
		if by[c.Group] == nil {
			groups = append(groups, c.Group)
		}
		by[c.Group] = append(by[c.Group], c)
	}
	for _, group := range groups {
		all = append(all, by[group]...)
	}
	return all
}

// command writes what is on the page of a command, with those below it.
func (m *manPage) command(c command) {
	m.line(".SH", "SYNOPSIS")
	for _, one := range leaves(c) {
		m.line(".B", one.Use)
		m.line(".br")
	}
	m.line(".SH", "DESCRIPTION")
	m.about(c)
	m.flags(c.Flags, ".SH")
	m.examples(c, ".SH")

	if len(c.Commands) > 0 {
		m.line(".SH", "COMMANDS")
	}
	for _, one := range leaves(c) {
		if one.Name == c.Name {
			continue
		}
		m.line(".SS", one.Use)
		m.about(one)
		m.flags(one.Flags, ".PP")
		m.examples(one, ".PP")
	}
}

// about writes what a command does.
func (m *manPage) about(c command) {
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	m.paragraphs(c.Long)
	if len(c.Aliases) > 0 {
		m.line(".PP")
		m.text("It is also called " + strings.Join(c.Aliases, ", ") + ".")
	}
}

// leaves gives the commands at or below one that do something.
func leaves(c command) (all []command) {
	if len(c.Commands) == 0 {
		return []command{c}
	}
	for _, sub := range c.Commands {
		all = append(all, leaves(sub)...)
	}
	return all
}

// flags writes flags below a heading: a section, or a line of its own.
func (m *manPage) flags(flags []commandFlag, heading string) {
	if len(flags) == 0 {
		return
	}
	if heading == ".SH" {
		m.line(".SH", "OPTIONS")
	}
	for _, f := range flags {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		m.line(".TP")
		m.line(".B", strings.TrimSpace(name+" "+f.Value))
		m.text(strings.TrimSuffix(f.Usage, ".") + ".")
		if f.Default != "" {
			m.text("The default is " + f.Default + ".")
		}
		if f.Variable != "" {
			m.text("In the environment it is " + f.Variable + ".")
		}
	}
}

// examples writes the examples of a command.
func (m *manPage) examples(c command, heading string) {
	if c.Example == "" {
		return
	}
	if heading == ".SH" {
		m.line(".SH", "EXAMPLES")
	} else {
		m.line(".PP")
	}
	m.verbatim(c.Example)
}

// roff escapes what means something to the formatter: the backslash, and a hyphen, which it would take for one between words. Other
// characters than those of ASCII are named by their numbers, for formatters of any encoding.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > 0x7e:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// guarded keeps a line from being taken for a request.
func guarded(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
