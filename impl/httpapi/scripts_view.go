package httpapi

import (
	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/script"
)

// scriptOf reads a script.
func scriptOf(r controls.Script) script.Script {
	s := script.Script{Concurrency: value(r.Concurrency), Seed: value(r.Seed)}
	for _, a := range r.Answers {
		s.Answers = append(s.Answers, scriptAnswerOf(a))
	}
	if start := r.ColdStart; start != nil {
		s.ColdStart = &script.ColdStart{Pull: value(start.Pull), Init: value(start.Init), Load: value(start.Load), Warm: value(start.Warm)}
		if f := start.FlashBoot; f != nil {
			s.ColdStart.FlashBoot = &script.FlashBoot{Chance: f.Chance, Warm: f.Warm}
		}
	}
	return s
}

func scriptAnswerOf(r controls.ScriptAnswer) script.Answer {
	a := script.Answer{Times: value(r.Times), Progress: stepsOf(r.Progress), Chunks: stepsOf(r.Chunks), Output: r.Output, Error: r.Error}
	for _, m := range r.Match {
		a.Match = append(a.Match, script.Value{Pointer: m.Pointer, Equals: m.Equals})
	}
	if d := r.Delay; d != nil {
		a.Delay = &script.Delay{Fixed: d.Fixed}
		if u := d.Uniform; u != nil {
			a.Delay.Uniform = &script.Uniform{Least: u.Least, Most: u.Most}
		}
		if n := d.Normal; n != nil {
			a.Delay.Normal = &script.Normal{Mean: n.Mean, Deviation: n.Deviation}
		}
		if e := d.Exponential; e != nil {
			a.Delay.Exponential = &script.Exponential{Mean: e.Mean}
		}
	}

	if r.Crash != nil {
		a.Crash = &script.Crash{ExitCode: r.Crash.ExitCode, After: value(r.Crash.After)}
	}
	if r.RefreshWorker != nil {
		a.Refresh = &script.Refresh{Output: r.RefreshWorker.Output}
	}
	return a
}

func stepsOf(list []controls.ScriptStep) (steps []script.Step) {
	for _, s := range list {
		steps = append(steps, script.Step{After: value(s.After), Value: s.Value})
	}
	return steps
}

// scriptView gives a script.
func scriptView(s *script.Script) controls.Script {
	v := controls.Script{Concurrency: ifSet(s.Concurrency), Seed: ifSet(s.Seed)}
	for _, a := range s.Answers {
		v.Answers = append(v.Answers, scriptAnswerView(a))
	}
	if start := s.ColdStart; start != nil {
		v.ColdStart = &controls.ColdStart{Pull: ifSet(start.Pull), Init: ifSet(start.Init), Load: ifSet(start.Load), Warm: ifSet(start.Warm)}
		if f := start.FlashBoot; f != nil {
			v.ColdStart.FlashBoot = &controls.ScriptedFlashBoot{Chance: f.Chance, Warm: f.Warm}
		}
	}
	return v
}

func scriptAnswerView(a script.Answer) controls.ScriptAnswer {
	v := controls.ScriptAnswer{Times: ifSet(a.Times), Progress: stepViews(a.Progress), Chunks: stepViews(a.Chunks), Output: a.Output, Error: a.Error}
	for _, m := range a.Match {
		v.Match = append(v.Match, controls.BodyExpectation{Pointer: m.Pointer, Equals: m.Equals})
	}
	if d := a.Delay; d != nil {
		v.Delay = &controls.ScriptDelay{Fixed: d.Fixed}
		if u := d.Uniform; u != nil {
			v.Delay.Uniform = &controls.UniformDelay{Least: u.Least, Most: u.Most}
		}
		if n := d.Normal; n != nil {
			v.Delay.Normal = &controls.NormalDelay{Mean: n.Mean, Deviation: n.Deviation}
		}
		if e := d.Exponential; e != nil {
			v.Delay.Exponential = &controls.ExponentialDelay{Mean: e.Mean}
		}
	}

	if a.Crash != nil {
		v.Crash = &controls.ScriptCrash{ExitCode: a.Crash.ExitCode, After: ifSet(a.Crash.After)}
	}
	if a.Refresh != nil {
		v.RefreshWorker = &controls.ScriptRefresh{Output: a.Refresh.Output}
	}
	return v
}

func stepViews(steps []script.Step) (list []controls.ScriptStep) {
	for _, s := range steps {
		list = append(list, controls.ScriptStep{After: ifSet(s.After), Value: s.Value})
	}
	return list
}
