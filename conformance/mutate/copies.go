//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// planted is the variable of the environment that says which mutant a program is: 0 and none is that which people wrote.
const planted = "BERTH_MUTANT"

// chooser is the file that each package gets that has copies.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var mutantPlanted = func() int {
	n, _ := strconv.Atoi(os.Getenv("` + planted + `"))
	return n
}()
`

// copies are the changed files of a program that is each of many mutants, by what the environment says: every function that has
// mutants has a copy for each, and begins by leaving what it is called for to the copy. One program is compiled for all.
type copies struct {
	files map[string][]byte // by the path of the file that they stand for, from the root of the module
	lines map[string][]int  // by the file, which mutant a line belongs to, from line 1 on; 0: none
}

// copiesOf gives the files for mutants, each of them in a function and named by its number, from 1 on.
func copiesOf(mutants map[int]mutant) copies {
	c := copies{files: map[string][]byte{}, lines: map[string][]int{}}
	byFile := map[string][]int{}
	for n, m := range mutants {
		byFile[m.file] = append(byFile[m.file], n)
	}

	for file, numbers := range byFile {
		slices.Sort(numbers)
		text := mutants[numbers[0]].in.text
		functions := map[*ast.FuncDecl][]int{}
		var inserted []insertion
		var appended strings.Builder
		lines := make([]int, strings.Count(string(text), "\n")+2)
		for _, n := range numbers {
			m := mutants[n]
			functions[m.in.decl] = append(functions[m.in.decl], n)
			one := m.copy(n)
			appended.WriteString("\n" + one)
			for range strings.Count(one, "\n") + 1 {
				lines = append(lines, n)
			}
		}

		for decl, numbers := range functions {
			inserted = append(inserted, mutants[numbers[0]].in.leave(decl, numbers)...)
		}
		c.files[file] = append(insert(text, inserted), appended.String()...)
		c.lines[file] = lines
		c.files[path.Join(path.Dir(file), "mutant_planted.go")] = fmt.Appendf(nil, chooser, mutants[numbers[0]].in.pkg)
	}
	return c
}

// copyName is what the copy of a function is called in which mutant n is.
func copyName(decl *ast.FuncDecl, n int) string { return fmt.Sprintf("%s_mutant%d", decl.Name.Name, n) }

// copy gives the function with the change, under another name.
func (m mutant) copy(n int) string {
	begin, end, name := m.in.at(m.in.decl.Pos()), m.in.at(m.in.decl.End()), m.in.at(m.in.decl.Name.Pos())
	if m.in.decl.Doc != nil {
		begin = m.in.at(m.in.decl.Type.Func)
	}
	text := m.in.text
	return string(text[begin:name]) + copyName(m.in.decl, n) + string(text[name+len(m.in.decl.Name.Name):m.from]) + m.new + string(text[m.to:end])
}

// insertion is a text that a file gets at a byte, in the place of as many bytes as it says.
type insertion struct {
	at, instead int
	text        string
}

// leave gives what has the function leave its work to the copies, with a name for each of its parameters.
func (f *function) leave(decl *ast.FuncDecl, numbers []int) (all []insertion) {
	named := func(fields *ast.FieldList, prefix string) (names []string) {
		if fields == nil {
			return nil
		}
		for _, field := range fields.List {
			var own []string
			for i, name := range field.Names {
				if name.Name == "_" {
					own = append(own, fmt.Sprintf("%s%d_%d", prefix, f.at(field.Pos()), i))
					all = append(all, insertion{f.at(name.Pos()), 1, own[i]})
					continue
				}
				own = append(own, name.Name)
			}
			if len(field.Names) == 0 {
				own = []string{fmt.Sprintf("%s%d", prefix, f.at(field.Pos()))}
				all = append(all, insertion{f.at(field.Pos()), 0, own[0] + " "})
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				own[0] += "..."
			}
			names = append(names, own...)
		}
		return names
	}

	receiver, arguments := "", strings.Join(named(decl.Type.Params, "mutantArgument"), ", ")
	if of := named(decl.Recv, "mutantReceiver"); of != nil {
		receiver = of[0] + "."
	}
	var parameters string
	if decl.Type.TypeParams != nil {
		var names []string
		for _, field := range decl.Type.TypeParams.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
		parameters = "[" + strings.Join(names, ", ") + "]"
	}

	var begin strings.Builder
	for _, n := range numbers {
		call := fmt.Sprintf("%s%s%s(%s)", receiver, copyName(decl, n), parameters, arguments)
		if decl.Type.Results.NumFields() > 0 {
			fmt.Fprintf(&begin, " if mutantPlanted == %d { return %s };", n, call)
		} else {
			fmt.Fprintf(&begin, " if mutantPlanted == %d { %s; return };", n, call)
		}
	}
	return append(all, insertion{f.at(decl.Body.Lbrace) + 1, 0, begin.String()})
}

// insert gives the text with the insertions. None of them has a line break: what follows stays in its line.
func insert(text []byte, all []insertion) []byte {
	slices.SortStableFunc(all, func(a, b insertion) int { return a.at - b.at })
	var out []byte
	last := 0
	for _, one := range all {
		out = append(append(out, text[last:one.at]...), one.text...)
		last = one.at + one.instead
	}
	return append(out, text[last:]...)
}

// complaint is how the compiler names a place, at the beginning of a line.
var complaint = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// at gives the numbers of the mutants at whose places a compiler complains. It may name a file of the tree or the one laid over it,
// which names leads from by the last part of its path.
func (c copies) at(output string, names map[string]string) (numbers []int) {
	for _, place := range complaint.FindAllStringSubmatch(output, -1) {
		file := path.Clean(place[1])
		if over, ok := names[path.Base(file)]; ok {
			file = over
		}
		line, _ := strconv.Atoi(place[2])
		if lines := c.lines[file]; line < len(lines) && lines[line] != 0 {
			numbers = append(numbers, lines[line])
		}
	}
	return numbers
}
