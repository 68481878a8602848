package kubetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// step is how long things take on a node, at least.
const step = 5 * time.Millisecond

// images are those of the registries, as nodes get them: the program of package play by any name, but for those of some.
type images struct {
	refused map[string]string // image: message
	present map[string]bool   // on every node
	wrong   map[string]bool   // whose name the node does not take
	logins  map[string]string // image: user:password
	blocked map[string]string // image: message, why its container cannot be made
}

func newImages() images {
	return images{refused: map[string]string{}, present: map[string]bool{}, wrong: map[string]bool{}, logins: map[string]string{}, blocked: map[string]string{}}
}

// Refuse has an image not be pulled, with a message; with an empty one, it can be again.
func (s *Server) Refuse(image, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if message == "" {
		delete(s.images.refused, image)
		return
	}
	s.images.refused[image] = message
}

// Misname has nodes not take the name of an image.
func (s *Server) Misname(image string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images.wrong[image] = true
}

// Block has nodes not make containers of an image.
func (s *Server) Block(image, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images.blocked[image] = message
}

// Private has an image be pulled with that login alone.
func (s *Server) Private(image, user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images.logins[image] = user + ":" + password
}

// container is what a kubelet has of the Pod that it runs.
type container struct {
	s               *Server
	name, uid, node string
}

// update changes the Pod, unless its node is silent.
func (c container) update(f func(object)) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !c.s.silent[c.node] && !c.s.ended {
		c.s.change(pods, c.name, c.uid, f)
	}
}

// get gives the Pod; nil if it is gone.
func (c container) get() object {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	o := c.s.stored[pods][c.name]
	if o == nil || uidOf(o) != c.uid {
		return nil
	}
	return clone(o)
}

// set sets the state of the container.
func set(o object, state object, ready bool) {
	spec := items(o, "spec", "containers")[0]
	status := object{
		"name": text(spec, "name"), "image": text(spec, "image"), "imageID": "", "state": state, "lastState": object{}, "ready": ready, "started": ready, "restartCount": 0.0,
	}
	put(o, []any{status}, "status", "containerStatuses")
}

func waiting(reason, message string) object {
	w := object{"reason": reason}
	if message != "" {
		w["message"] = message
	}
	return object{"waiting": w}
}

// idleStart is how long containers that run nothing take to come up.
const idleStart = 400 * time.Millisecond

// kubelet runs a Pod on a node until it is gone, or the node is silent.
func (s *Server) kubelet(name, uid, node string) {
	c := container{s, name, uid, node}
	s.mu.Lock()
	silent := s.silent[node]
	s.mu.Unlock()
	if silent {
		return
	}
	c.update(func(o object) {
		put(o, s.now(), "status", "startTime")
		put(o, "127.0.0.1", "status", "hostIP")
		put(o, "10.1.2.3", "status", "podIP")
		setCondition(o, object{"type": "Initialized", "status": "True", "lastTransitionTime": s.now()})
		set(o, waiting("ContainerCreating", ""), false)
	})

	s.mu.Lock()
	slow := s.idle
	s.mu.Unlock()
	if slow {
		s.pause(idleStart)
	}
	if run := c.prepare(); run != nil {
		c.run(run)
	}
	c.finish()
}

// prepare pulls the image and starts the container, and tries again what fails, until the Pod is to be deleted.
func (c container) prepare() *process {
	for tries := 0; ; tries++ {
		if !c.s.pause(step) {
			return nil
		}
		o := c.get()
		if o == nil || has(o, "metadata", "deletionTimestamp") {
			return nil
		}

		state := c.obstacle(o, tries)
		if state == nil {
			return c.start(o)
		}
		c.update(func(o object) { set(o, state, false) })
	}
}

// obstacle gives the state of a container that cannot be made now; nil if it can.
func (c container) obstacle(o object, tries int) object {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	spec := items(o, "spec", "containers")[0]
	image, i := text(spec, "image"), c.s.images
	if i.wrong[image] {
		return waiting("InvalidImageName", fmt.Sprintf("Failed to apply default image tag %q: couldn't parse image name", image))
	}

	refusal := i.refused[image]
	if login := i.logins[image]; login != "" && !c.knows(o, login) {
		refusal = "failed to pull and unpack image: failed to resolve reference: 401 Unauthorized"
	}
	policy := text(spec, "imagePullPolicy")
	switch present := i.present[image]; {
	case policy == "Never" && !present:
		return waiting("ErrImageNeverPull", fmt.Sprintf("Container image %q is not present with pull policy of Never", image))
	case refusal == "" || present && policy == "IfNotPresent":
	case tries%2 == 0:
		return waiting("ErrImagePull", "rpc error: code = NotFound desc = "+refusal)
	default:
		return waiting("ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: rpc error: code = NotFound desc = %s", image, refusal))
	}

	for _, from := range items(spec, "envFrom") {
		if secret := text(from, "secretRef", "name"); c.s.stored[secrets][secret] == nil {
			return waiting("CreateContainerConfigError", fmt.Sprintf("secret %q not found", secret))
		}
	}
	if message := i.blocked[image]; message != "" {
		return waiting("CreateContainerError", message)
	}
	return nil
}

// knows reports whether a Pod has the login. The caller has the lock.
func (c container) knows(o object, login string) bool {
	for _, ref := range items(o, "spec", "imagePullSecrets") {
		secret := c.s.stored[secrets][text(ref, "name")]
		raw, _ := base64.StdEncoding.DecodeString(text(secret, "data", ".dockerconfigjson"))
		var config struct {
			Auths map[string]struct{ Username, Password, Auth string }
		}
		if text(secret, "type") != "kubernetes.io/dockerconfigjson" || json.Unmarshal(raw, &config) != nil {
			continue
		}
		image := text(items(o, "spec", "containers")[0], "image")
		for at, a := range config.Auths {
			auth, _ := base64.StdEncoding.DecodeString(a.Auth)
			if strings.HasPrefix(image, at+"/") && a.Username+":"+a.Password == login && string(auth) == login {
				return true
			}
		}
	}
	return false
}

// start starts the program.
func (c container) start(o object) *process {
	c.s.mu.Lock()
	spec := items(o, "spec", "containers")[0]
	run := newProcess(c.s, c.environment(o, spec))
	run.steps = append(words(spec, "command"), words(spec, "args")...)
	run.idle = c.s.idle
	if len(words(spec, "command")) > 0 {
		run.program = run.steps[0]
		run.steps = run.steps[1:]
	}
	for i := range run.steps {
		run.steps[i] = expand(run.steps[i], run.env)
	}

	for _, m := range items(spec, "volumeMounts") {
		for _, v := range items(o, "spec", "volumes") {
			claim := c.s.stored[claims][text(v, "persistentVolumeClaim", "claimName")]
			if text(v, "name") != text(m, "name") || claim == nil {
				continue
			}
			if c.s.disks[uidOf(claim)] == nil {
				c.s.disks[uidOf(claim)] = newDisk()
			}
			run.mounts[text(m, "mountPath")] = c.s.disks[uidOf(claim)]
		}
	}
	if c.s.ended || c.s.silent[c.node] {
		run.signal(true)
	}
	c.s.images.present[text(spec, "image")] = true
	c.s.running[c.uid] = run
	c.s.mu.Unlock()

	begun := c.s.now()
	run.began = begun
	c.update(func(o object) {
		set(o, object{"running": object{"startedAt": begun}}, true)
		put(o, "Running", "status", "phase")
		setCondition(o, object{"type": "Ready", "status": "True", "lastTransitionTime": begun})
		setCondition(o, object{"type": "ContainersReady", "status": "True", "lastTransitionTime": begun})
	})
	return run
}

// environment is that of a container. The caller has the lock.
func (c container) environment(o, spec object) map[string]string {
	env := map[string]string{"PATH": "/", "HOSTNAME": nameOf(o)}
	for _, from := range items(spec, "envFrom") {
		data, _ := at(c.s.stored[secrets][text(from, "secretRef", "name")], "data").(object)
		for name, value := range data {
			raw, _ := base64.StdEncoding.DecodeString(value.(string))
			env[name] = string(raw)
		}
	}
	for _, v := range items(spec, "env") {
		value := expand(text(v, "value"), env)
		if field := text(v, "valueFrom", "fieldRef", "fieldPath"); field != "" {
			value = text(c.s.stored[pods][nameOf(o)], strings.Split(field, ".")...)
		}
		env[text(v, "name")] = value
	}
	return env
}

// expand puts variables into a text, as the cluster does: $(NAME), and $$ for a dollar.
func expand(from string, env map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(from); i++ {
		end := strings.IndexByte(from[i:], ')')
		switch {
		case strings.HasPrefix(from[i:], "$$"):
			b.WriteByte('$')
			i++
		case strings.HasPrefix(from[i:], "$(") && end > 0:
			if value, known := env[from[i+2:i+end]]; known {
				b.WriteString(value)
			} else {
				b.WriteString(from[i : i+end+1])
			}
			i += end
		default:
			b.WriteByte(from[i])
		}
	}
	return b.String()
}

// run waits until the program has ended, and ends it if the Pod is deleted.
func (c container) run(run *process) {
	done := make(chan int, 1)
	c.s.work.Go(func() { done <- run.play() })
	var kill <-chan time.Time
	stop, grace := func() {}, int64(-1)
	defer func() { stop() }()
	for {
		c.s.mu.Lock()
		changed := c.s.changed
		c.s.mu.Unlock()
		o := c.get()
		now := number(o, "metadata", "deletionGracePeriodSeconds")
		switch deleted := has(o, "metadata", "deletionTimestamp"); {
		case o == nil, deleted && now == 0:
			run.signal(true)
		case deleted && now != grace: // for the first time, or a shorter one
			stop()
			grace = now
			run.signal(false)
			kill, stop = c.s.clock.After(time.Duration(grace) * time.Second)
		}

		select {
		case code := <-done:
			c.exited(run, code)
			return
		case <-kill:
			run.signal(true)
		case <-changed:
		case <-c.s.done:
			run.signal(true)
		}
	}
}

// exited writes down how the container ended.
func (c container) exited(run *process, code int) {
	reason, phase := "Completed", "Succeeded"
	switch {
	case run.exhausted:
		reason, phase = "OOMKilled", "Failed"
	case code != 0:
		reason, phase = "Error", "Failed"
	}
	state := object{"exitCode": float64(code), "reason": reason, "startedAt": run.began, "finishedAt": c.s.now(), "containerID": "containerd://" + c.uid}
	if run.failed != "" {
		state["reason"], state["message"], state["startedAt"] = "StartError", run.failed, "1970-01-01T00:00:00Z"
	}
	c.update(func(o object) {
		set(o, object{"terminated": state}, false)
		put(o, phase, "status", "phase")
		if run.why != nil {
			put(o, "Failed", "status", "phase")
			maps.Copy(at(o, "status").(object), run.why)
		}
		setCondition(o, object{"type": "Ready", "status": "False", "reason": "PodCompleted", "lastTransitionTime": c.s.now()})
	})
}

// finish waits until the Pod is to be deleted, and lets the server delete it: the log of the container goes with it.
func (c container) finish() {
	for {
		c.s.mu.Lock()
		changed := c.s.changed
		o, silent := c.s.stored[pods][c.name], c.s.silent[c.node]
		gone := o == nil || uidOf(o) != c.uid
		if silent || gone || has(o, "metadata", "deletionTimestamp") {
			if !silent && !gone {
				if !isTerminal(o) { // it never came up
					c.s.change(pods, c.name, c.uid, func(o object) { put(o, "Failed", "status", "phase") })
				}
				_, _ = c.s.remove(pods, c.name, object{"gracePeriodSeconds": 0.0})
			}
			if !silent {
				delete(c.s.running, c.uid)
			}
			c.s.mu.Unlock()
			return
		}
		c.s.mu.Unlock()

		select {
		case <-changed:
		case <-c.s.done:
			return
		}
	}
}
