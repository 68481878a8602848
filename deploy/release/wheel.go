package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
)

// wheelTags are the systems of a wheel. The programs for Linux are linked statically, so that they run with any C library.
var wheelTags = map[target][]string{
	{"linux", "amd64"}:   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	{"linux", "arm64"}:   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	{"darwin", "amd64"}:  {"macosx_12_0_x86_64"},
	{"darwin", "arm64"}:  {"macosx_12_0_arm64"},
	{"windows", "amd64"}: {"win_amd64"},
	{"windows", "arm64"}: {"win_arm64"},
}

// distribution is the name of the packages for Python and npm: berth is that of other projects there. The program is called berth all the same.
const distribution = "berth-server"

// writeWheels writes a wheel of the distribution for each system: the program is a script of it, which pip and uv put on the PATH;
// one with the name of the distribution, which uvx starts, runs it.
func (r *release) writeWheels() error {
	for _, b := range r.builds {
		if err := r.writeWheel(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) writeWheel(b build) error {
	tags := wheelTags[b.target]
	name := strings.ReplaceAll(distribution, "-", "_") + "-" + r.version.python()
	about := name + ".dist-info/"
	readme, err := packed.ReadFile("files/python/README.md")
	if err != nil {
		return err
	}

	metadata := fmt.Sprintf(`Metadata-Version: 2.4
Name: %s
Version: %s
Summary: %s
License-Expression: Apache-2.0
License-File: LICENSE
Project-URL: Source, %s
Requires-Python: >=3.8
Description-Content-Type: text/markdown

%s`, distribution, r.version.python(), summary, project, readme)
	kind := &strings.Builder{}
	kind.WriteString("Wheel-Version: 1.0\nGenerator: berth\nRoot-Is-Purelib: false\n")
	for _, tag := range tags {
		fmt.Fprintf(kind, "Tag: py3-none-%s\n", tag)
	}

	files := []file{}
	for _, module := range []string{"__init__.py", "__main__.py", "py.typed"} {
		source, err := packed.ReadFile("files/python/" + module)
		if err != nil {
			return err
		}
		files = append(files, file{name: "berth/" + module, text: source})
	}
	files = append(files,
		file{name: name + ".data/scripts/" + b.program(), from: b.path, program: true},
		file{name: about + "licenses/LICENSE", from: filepath.Join(r.root, "LICENSE")},
		file{name: about + "METADATA", text: []byte(metadata)},
		file{name: about + "entry_points.txt", text: []byte("[console_scripts]\n" + distribution + " = berth.__main__:main\n")},
		file{name: about + "WHEEL", text: []byte(kind.String())},
	)
	record, err := recordOf(files, about+"RECORD")
	if err != nil {
		return err
	}
	files = append(files, file{name: about + "RECORD", text: record})
	return writeZip(filepath.Join(r.dist, "python", name+"-py3-none-"+strings.Join(tags, ".")+".whl"), r.time, files)
}

// recordOf is the list of the files of a wheel, with itself.
func recordOf(files []file, itself string) ([]byte, error) {
	lines := &strings.Builder{}
	for _, f := range files {
		content, err := f.read()
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(lines, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
	}
	fmt.Fprintf(lines, "%s,,\n", itself)
	return []byte(lines.String()), nil
}
