// The palette finds pages, things and actions by what is typed: Ctrl-K opens it.
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { send } from '../api'
import { forget } from '../session'
import { unfollow } from '../live'
import { sections } from '../places'
import { go, href } from '../router'
import { nextTheme } from '../theme'
import { Dialog } from './bits'
import { Icon } from './icons'
import { matches } from './table'

export const paletteOpen = signal(false)
export const helpOpen = signal(false)

interface Item { text: string; note: string; icon: string; run: () => void }

function fixed(): Item[] {
  const pages = sections().flatMap(s => s.places.map(p => ({ text: p.title, note: 'Page', icon: p.icon, run: () => go(href(...(p.path ? [p.path] : []))) })))
  return [
    ...pages,
    { text: 'Create a pod', note: 'Action', icon: 'plus', run: () => go(href('pods', 'new')) },
    { text: 'Create an endpoint', note: 'Action', icon: 'plus', run: () => go(href('endpoints', 'new')) },
    { text: 'Run a job', note: 'Action', icon: 'play', run: () => go(href('jobs', 'new')) },
    { text: 'Change between light and dark', note: 'Action', icon: 'sun', run: nextTheme },
    { text: 'Keys of the keyboard', note: 'Action', icon: 'help', run: () => (helpOpen.value = true) },
    { text: 'Sign out', note: 'Action', icon: 'leave', run: () => { unfollow(); forget() } },
  ]
}

export function Palette() {
  const [typed, setTyped] = useState('')
  const [things, setThings] = useState<Item[]>([])
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)

  useEffect(() => {
    const found = <T,>(p: Promise<T>, make: (v: T) => Item[]) => p.then(v => setThings(t => [...t, ...make(v)])).catch(() => undefined)
    void found(send('get', '/v2/pods', { query: { limit: 200 } }), v => v.pods.map(p => ({ text: p.name, note: `Pod ${p.id}`, icon: 'pods', run: () => go(href('pods', p.id)) })))
    void found(send('get', '/v2/serverless', { query: { limit: 200 } }), v => v.endpoints.map(e => ({ text: e.name, note: `Endpoint ${e.id}`, icon: 'endpoints', run: () => go(href('endpoints', e.id)) })))
  }, [])

  const words = typed.trim().split(/\s+/)
  const items = [...fixed(), ...things].filter(i => words.every(w => matches(w, i.text, i.note))).slice(0, 50)
  if (/^[0-9a-f-]{12,}(-u\d|-e\d)?$|^(sync-)/.test(typed.trim())) items.push({ text: `Job ${typed.trim()}`, note: 'Job', icon: 'jobs', run: () => go(href('jobs', typed.trim())) })
  const close = () => (paletteOpen.value = false)
  const pick = (i: Item | undefined) => {
    if (!i) return
    close()
    i.run()
  }
  const press = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0
    if (step) {
      e.preventDefault()
      const next = Math.min(items.length - 1, Math.max(0, at + step))
      setAt(next)
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' })
    } else if (e.key === 'Enter') {
      e.preventDefault()
      pick(items[at])
    }
  }
  return (
    <Dialog title="Go to" onClose={close} >
      <div class="palette">
        <input autofocus type="text" placeholder="A page, a pod, an endpoint, the id of a job" aria-label="Find" role="combobox" aria-expanded="true" aria-controls="found" aria-activedescendant={items[at] ? `found-${at}` : undefined} value={typed} onInput={e => { setTyped(e.currentTarget.value); setAt(0) }} onKeyDown={press} />
        <ul id="found" role="listbox" aria-label="Found" ref={list}>
          {items.map((i, n) => (
            <li key={`${i.note} ${i.text}`} id={`found-${n}`} role="option" aria-selected={n === at} onPointerMove={() => setAt(n)} onClick={() => pick(i)}><Icon name={i.icon} /><span>{i.text}</span><span>{i.note}</span></li>
          ))}
          {!items.length && <li role="option" aria-selected="false" aria-disabled="true"><span>Nothing is called that</span></li>}
        </ul>
      </div>
    </Dialog>
  )
}

export function Help() {
  return (
    <Dialog title="Keys of the keyboard" onClose={() => (helpOpen.value = false)}>
      <dl class="shortcuts">
        <dt><kbd>Ctrl</kbd> <kbd>K</kbd></dt><dd>Go to a page, a pod or an endpoint</dd>
        <dt><kbd>/</kbd></dt><dd>Search in what is shown</dd>
        <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next and previous row of a table; <kbd>Enter</kbd> opens it</dd>
        <dt><kbd>n</kbd></dt><dd>Create one more of what is listed</dd>
        <dt><kbd>Esc</kbd></dt><dd>Close, or leave a field</dd>
        <dt><kbd>?</kbd></dt><dd>This list</dd>
        {sections().flatMap(s => s.places).filter(p => p.letter).map(p => <><dt><kbd>g</kbd> <kbd>{p.letter}</kbd></dt><dd>{p.title}</dd></>)}
      </dl>
    </Dialog>
  )
}
