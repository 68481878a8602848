package main

import (
	"embed"
	"io"
	"os"
	"os/exec"
	"path/filepath"

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
// and the directory of the data, the configuration, and completion for three shells.
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

	completions, err := r.writeCompletions()
	if err != nil {
		return err
	}
	if err := os.CopyFS(r.work, packed); err != nil {
		return err
	}
	for _, b := range linux {
		if err := r.writeLinuxPackage(b, deb.Default, "deb", "/usr/share/zsh/vendor-completions/_berth", completions); err != nil {
			return err
		}
		if err := r.writeLinuxPackage(b, rpm.DefaultRPM, "rpm", "/usr/share/zsh/site-functions/_berth", completions); err != nil {
			return err
		}
	}
	return nil
}

// writeCompletions has the program write its completions, which are the same on every system, and gives their directory.
func (r *release) writeCompletions() (string, error) {
	program, err := r.host()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(r.work, "completions")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := exec.Command(program, "completion", shell).Output()
		if err != nil {
			return "", err
		}
		if err := create(filepath.Join(folder, shell), func(w io.Writer) error { _, err := w.Write(script); return err }); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// writeLinuxPackage writes one package. Zsh is where shells of that name look for completions on the systems of the format.
func (r *release) writeLinuxPackage(b build, packager nfpm.Packager, format, zsh, completions string) error {
	ours := filepath.Join(r.work, "files", "linux")
	put := func(to, from, kind string, mode os.FileMode) *files.Content {
		return &files.Content{Source: from, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.time}}
	}

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
				put("/usr/share/bash-completion/completions/berth", filepath.Join(completions, "bash"), "", 0o644),
				put(zsh, filepath.Join(completions, "zsh"), "", 0o644),
				put("/usr/share/fish/vendor_completions.d/berth.fish", filepath.Join(completions, "fish"), "", 0o644),
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
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}

	return create(filepath.Join(r.dist, packager.ConventionalFileName(info)), func(w io.Writer) error { return packager.Package(info, w) })
}
