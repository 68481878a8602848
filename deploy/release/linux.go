package main

import (
	"embed"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packed are the files that stand in packages as they are, and the templates of others.
//
//go:embed all:files
var packed embed.FS

// writeLinuxPackages writes the packages of Debian and of RPM, of each program for Linux: with the unit, which has systemd make the user
// and the directory of the data, the configuration, the manual, and completion for four shells.
func (r *release) writeLinuxPackages() error {
	linux := []build{}
	for _, b := range r.builds {
		if b.os == "linux" {
			linux = append(linux, b)
		}
	}
	if len(linux) == 0 {
		return nil
	}

	if err := os.CopyFS(r.work, packed); err != nil {
		return err
	}
	for _, b := range linux {
		if err := r.writeLinuxPackage(b, deb.Default, "deb", "/usr/share/zsh/vendor-completions/_berth"); err != nil {
			return err
		}
		if err := r.writeLinuxPackage(b, rpm.DefaultRPM, "rpm", "/usr/share/zsh/site-functions/_berth"); err != nil {
			return err
		}
	}
	return nil
}

// completions are the names by which shells look for what completes a command, in the archives; in the packages some have others.
var completions = map[string]string{"bash": "berth.bash", "zsh": "_berth", "fish": "berth.fish", "powershell": "berth.ps1"}

// writeCompletions has the program write its completions, which are the same on every system.
func (r *release) writeCompletions() error {
	program, err := r.host()
	if err != nil {
		return err
	}
	for _, shell := range slices.Sorted(maps.Keys(completions)) {
		script, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return err
		}
		if err := r.extra("completions/"+completions[shell], script); err != nil {
			return err
		}
	}
	return nil
}

// extra keeps a text that is in every archive by that name.
func (r *release) extra(name string, text []byte) error {
	path := filepath.Join(r.work, filepath.FromSlash(name))
	r.extras = append(r.extras, file{name: name, from: path})
	return create(path, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// writeLinuxPackage writes one package. Zsh is where shells of that name look for completions on the systems of the format.
func (r *release) writeLinuxPackage(b build, packager nfpm.Packager, format, zsh string) error {
	ours := filepath.Join(r.work, "files", "linux")
	put := func(to, from, kind string, mode os.FileMode) *files.Content {
		return &files.Content{Source: from, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time}}
	}

	extra := func(name string) string { return filepath.Join(r.work, "completions", name) }

	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "berth", Arch: b.arch, Platform: "linux", Version: "v" + r.version.String(), Release: "1", Section: "net", Priority: "optional",
		Maintainer: "berth <" + project + "/issues>", Description: summary + "\nPods, endpoints and jobs over the public wire contract, in one program with one file of data.",
		Vendor: "berth", Homepage: project, License: "Apache-2.0", MTime: r.time, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: files.Contents{
				put("/usr/bin/berth", b.path, "", 0o755),
				put("/usr/lib/systemd/system/berth.service", filepath.Join(r.root, "deploy", "berth.service"), "", 0o644),
				put("/etc/default/berth", filepath.Join(ours, "default"), "config|noreplace", 0o644),
				put("/etc/berth/config.yaml", filepath.Join(ours, "config.yaml"), "config|noreplace", 0o644),
				put("/usr/share/bash-completion/completions/berth", extra("berth.bash"), "", 0o644),
				put(zsh, extra("_berth"), "", 0o644),
				put("/usr/share/fish/vendor_completions.d/berth.fish", extra("berth.fish"), "", 0o644),
				put("/usr/share/doc/berth/berth.ps1", extra("berth.ps1"), "", 0o644),
				put("/usr/share/doc/berth/copyright", filepath.Join(r.root, "LICENSE"), "", 0o644),
				put("/usr/share/doc/berth/CHANGELOG.md", filepath.Join(r.root, "CHANGELOG.md"), "", 0o644),
			},
			Recommends: []string{"ca-certificates"},
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(ours, "postinstall.sh"), PreRemove: filepath.Join(ours, "preremove.sh"), PostRemove: filepath.Join(ours, "postremove.sh"),
			},
			RPM: nfpm.RPM{BuildHost: "berth", Summary: summary},
		},
	})
	for _, one := range r.extras {
		if page, is := strings.CutPrefix(one.name, "man/"); is {
			info.Contents = append(info.Contents, put("/usr/share/man/man1/"+page, one.from, "", 0o644))
		}
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}

	return create(filepath.Join(r.dist, packager.ConventionalFileName(info)), func(w io.Writer) error { return packager.Package(info, w) })
}
