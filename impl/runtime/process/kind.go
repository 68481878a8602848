package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/setting"
)

// The settings.
const (
	inheritSetting = "process-env"
	acceptSetting  = "process-accept"
)

// The folders in the data directory.
const (
	workersDir = "process" // of the workers of endpoints
	podsDir    = "pods"
)

func init() {
	runtime.Register(runtime.Kind{
		Name: "process", Summary: "a process of this machine; its image is the name of a declared endpoint, and means its command",
		Folders: []string{workersDir, podsDir},
		Settings: []setting.Setting{
			{
				Name: inheritSetting, Kind: setting.List, Option: "ProcessEnv", Check: func(name string) error {
					if name == "" || strings.ContainsAny(name, "= \t\n") {
						return errors.New("it must be the name of a variable, such as HF_TOKEN, without a value")
					}
					return nil
				},
				Help: "NAME: a variable of this environment that processes get besides PATH, HOME, LANG, PYTHON* and what else every program needs; repeatable",
			},
			{
				Name: acceptSetting, Kind: setting.List, Option: "ProcessAccept", Check: func(word string) error {
					_, err := readRules([]string{word})
					return err
				},
				Help: "what pods and endpoints made over an API may set of processes: args, env for every variable, or env:NAME for one, and commands for those that run beside them; repeatable; nothing without it, since it lets who has a key run programs",
			},
		},
		Open: open, OpenLocal: openLocal, End: end, Doctor: doctor,
	})
}

// openLocal makes the runtime of the workers of declared endpoints.
func openLocal(c runtime.Config) (runtime.Runtime, error) {
	config, err := configOf(c, workersDir)
	if err != nil {
		return nil, err
	}
	config.Output = c.Output
	return made(New(config))
}

// open makes the runtime of pods. Workers of all endpoints are together on the local one.
func open(_ context.Context, c runtime.Config) (runtime.Opened, error) {
	config, err := configOf(c, podsDir)
	if err != nil {
		return runtime.Opened{}, err
	}
	pods, err := made(New(config))
	return runtime.Opened{Pods: pods, Workers: c.Local, Check: config.check}, err
}

// end kills what is left of pods that were processes: New does.
func end(c runtime.Config) error {
	dir := filepath.Join(c.Data, podsDir)
	if _, err := os.Stat(dir); err != nil {
		return nil // there never were any
	}
	r, err := New(Config{Dir: dir})
	if err != nil {
		return err
	}
	return r.Close()
}

func doctor(context.Context, setting.Values) runtime.Report {
	if err := Supported(); err != nil {
		return runtime.Report{Detail: err.Error()}
	}
	return runtime.Report{Available: true, Detail: "processes of this machine", Warnings: []string{"limits nothing, mounts nothing"}}
}

// configOf reads the settings of a runtime whose folder is in the data directory.
func configOf(c runtime.Config, folder string) (Config, error) {
	here, err := os.Getwd() // a command may name files relative to where berth was started
	if err != nil {
		return Config{}, err
	}
	rules, err := readRules(c.Values.List(acceptSetting))
	return Config{
		Dir: filepath.Join(c.Data, folder), WorkDir: here, Commands: c.Commands, Inherit: c.Values.List(inheritSetting), Rules: rules,
	}, err
}

// readRules reads what pods and endpoints may set of processes: args, commands beside them, env for every variable, or env:NAME for one.
func readRules(accept []string) (r compute.ProcessRules, err error) {
	for _, word := range accept {
		name, one := strings.CutPrefix(word, "env:")
		switch {
		case word == "args":
			r.Args = true
		case word == "commands":
			r.Commands = true
		case word == "env":
			r.AnyEnv = true
		case one && name != "":
			r.Env = append(r.Env, name)
		default:
			return r, errors.New("it must be args, commands, env or env:NAME")
		}
	}

	return r, nil
}

// check refuses what has no command, and what who has no more than a key must not give to one.
func (c Config) check(image, args string, env map[string]string) error {
	if _, is := c.Commands[image]; !is {
		names := slices.Sorted(maps.Keys(c.Commands))
		return compute.Errorf(compute.Rejected, "image: this server runs processes of its own machine, and %q is none of its commands (%s)", image, strings.Join(names, ", "))
	}
	if err := c.Rules.Check(args, env); err != nil {
		return &compute.Error{Code: compute.Rejected, Detail: err.Error()}
	}
	return nil
}

// made gives nil where nothing was made.
func made(r *Runtime, err error) (runtime.Runtime, error) {
	if err != nil {
		return nil, fmt.Errorf("runtime of processes: %w", err)
	}
	return r, nil
}
