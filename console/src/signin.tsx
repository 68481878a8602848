// Signing in: a key is held against the server, and what it may do is found out.
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { open, Problem, type ControlsTypes } from './api'
import { keep, keys, session, type Keys } from './session'
import { Button, Failure } from './ui/bits'
import { Mark } from './ui/mark'

export const trying = signal(false)

type Said = ControlsTypes['schemas']['Session']

const unknown = new Problem(401, 'Not taken', 'The server does not know this key.')

// ask gives what the server says of a key; null if it knows no such question. A Problem where it does not know the key, or there is no server.
async function ask(key: string): Promise<Said | null> {
  try {
    return (await (await open('get', '/_berth/session', { key })).json()) as Said
  } catch (error) {
    if (error instanceof Problem && error.status === 401) throw unknown
    if (error instanceof Problem && error.status) return null
    throw error
  }
}

// signIn takes the keys, whichever field they stand in, and says who they are of. A Problem if the server takes none of them.
export async function signIn(given: Keys, remember: boolean): Promise<void> {
  let { key, controls } = { key: given.key.trim(), controls: given.controls.trim() }
  const said = await ask(key || controls)
  if (said?.may.controls && key && !controls) [key, controls] = ['', key]
  const hasControls = controls !== '' && (key === '' ? said?.may.controls === true : (await ask(controls))?.may.controls === true)
  if (controls && !hasControls) throw new Problem(401, 'Not taken', 'The server does not take this key for its test controls; it has them if it was started with --test-controls.')
  keep({ key, controls }, remember)
  session.value = said
    ? { name: said.key.name, user: said.key.user, version: said.version, runtime: said.runtime, may: { ...said.may, controls: hasControls }, testControls: hasControls, podAddress: said.podAddress, follows: true }
    : { name: 'API key', user: '', version: '', runtime: '', may: { read: true, write: true, invoke: true, graphql: true, hosts: true, controls: hasControls }, testControls: hasControls, podAddress: '', follows: false }
}

// resume signs in with the keys of this tab, if it has any.
export async function resume(): Promise<void> {
  if (!keys.value.key && !keys.value.controls) return
  trying.value = true
  await signIn(keys.value, true).catch(() => undefined)
  trying.value = false
}

export function SignIn() {
  const [key, setKey] = useState(keys.value.key)
  const [controls, setControls] = useState(keys.value.controls)
  const [remember, setRemember] = useState(true)
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  if (trying.value) return <div class="signin" role="status" aria-label="Signing in" />
  const submit = async (e: Event) => {
    e.preventDefault()
    setBusy(true)
    setError(null)
    await signIn({ key, controls }, remember).catch(setError)
    setBusy(false)
  }
  return (
    <main class="signin">
      <div>
        <span class="brand"><Mark />berth</span>
        <form class="card" onSubmit={e => void submit(e)}>
          <h1>Sign in with a key</h1>
          <div class="field">
            <label for="key">API key</label>
            <input id="key" type="password" autocomplete="off" spellcheck={false} value={key} onInput={e => setKey(e.currentTarget.value)} autofocus aria-describedby="key-says" />
            <p class="says" id="key-says">The server prints it at its first start. <code>berth keys create</code> makes another one.</p>
          </div>
          <div class="field">
            <label for="controls">Key of the test controls</label>
            <input id="controls" type="password" autocomplete="off" spellcheck={false} value={controls} onInput={e => setControls(e.currentTarget.value)} aria-describedby="controls-says" />
            <p class="says" id="controls-says">If the server has them: for its clock, faults and journal. May be left empty.</p>
          </div>
          <div class="field inline"><label for="remember">Keep me signed in while this tab is open</label><input id="remember" type="checkbox" checked={remember} onChange={e => setRemember(e.currentTarget.checked)} /></div>
          {error ? <Failure of={error} /> : null}
          <Button type="submit" kind="main" disabled={busy || (!key.trim() && !controls.trim())}>Sign in</Button>
        </form>
        <p class="faint">The key stays in this tab. <a href="/docs" target="_blank">Documents of the interfaces</a></p>
      </div>
    </main>
  )
}
