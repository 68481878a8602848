package main

import (
	"encoding/json"
	"path/filepath"
)

// npmSystem is a system by the names of npm.
func npmSystem(t target) (os, cpu string) {
	os, cpu = t.os, t.arch
	if os == "windows" {
		os = "win32"
	}
	if cpu == "amd64" {
		cpu = "x64"
	}
	return os, cpu
}

// npmPackage is package.json.
type npmPackage struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Description  string            `json:"description"`
	License      string            `json:"license"`
	Repository   map[string]string `json:"repository"`
	Engines      map[string]string `json:"engines,omitempty"`
	Bin          map[string]string `json:"bin,omitempty"`
	OS           []string          `json:"os,omitempty"`
	CPU          []string          `json:"cpu,omitempty"`
	PreferUnplug bool              `json:"preferUnplugged,omitempty"`
	Optional     map[string]string `json:"optionalDependencies,omitempty"`
}

// writeNpm writes the package of the distribution, and one for each system that has the program. The first depends on all of the others, each of which npm
// installs on its own system alone.
func (r *release) writeNpm() error {
	all := r.npmPackage(distribution)
	all.Engines = map[string]string{"node": ">=18"}
	all.Bin = map[string]string{"berth": "bin/berth.cjs", distribution: "bin/berth.cjs"} // npx starts the one with the name of the package
	all.Optional = map[string]string{}
	for _, b := range r.builds {
		os, cpu := npmSystem(b.target)
		one := r.npmPackage("@berthdev/berth-" + os + "-" + cpu)
		one.OS, one.CPU, one.PreferUnplug = []string{os}, []string{cpu}, true
		all.Optional[one.Name] = one.Version

		if err := r.packNpm("berth-"+os+"-"+cpu, one, file{name: "package/bin/" + b.program(), from: b.path, program: true}); err != nil {
			return err
		}
	}

	start, err := packed.ReadFile("files/npm/berth.cjs")
	if err != nil {
		return err
	}
	return r.packNpm(distribution, all, file{name: "package/bin/berth.cjs", text: start, program: true})
}

func (r *release) npmPackage(name string) npmPackage {
	return npmPackage{
		Name: name, Version: r.version.String(), Description: summary, License: "Apache-2.0",
		Repository: map[string]string{"type": "git", "url": "git+" + project + ".git"},
	}
}

func (r *release) packNpm(name string, about npmPackage, program file) error {
	description, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	readme, err := packed.ReadFile("files/npm/README.md")
	if err != nil {
		return err
	}
	return writeTar(filepath.Join(r.dist, "npm", name+"-"+r.version.String()+".tgz"), r.time, []file{
		{name: "package/package.json", text: append(description, '\n')},
		{name: "package/README.md", text: readme},
		{name: "package/LICENSE", from: filepath.Join(r.root, "LICENSE")},
		program,
	})
}
