// The small parts that pages are made of.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../api'
import { ago, stamp, words } from '../format'
import { useNow } from '../data'
import { Icon } from './icons'

// tones of statuses: the colour of the dot. The word stands beside it always.
const tones: Record<string, string> = {
  RUNNING: 'good', COMPLETED: 'good', ready: 'good', HIGH: 'good', writable: 'good', running: 'good', resting: 'quiet',
  PROVISIONING: 'busy', STARTING: 'busy', INITIALIZING: 'busy', IN_PROGRESS: 'busy', BUILDING: 'busy', in_progress: 'busy', starting: 'busy', scaling: 'busy', busy: 'busy', auto: 'busy',
  IN_QUEUE: 'wait', THROTTLED: 'wait', PENDING: 'wait', MEDIUM: 'wait', LOW: 'wait', frozen: 'wait', no_room: 'wait', no_workers: 'wait', low_priority: 'wait',
  ERROR: 'bad', FAILED: 'bad', UNHEALTHY: 'bad', TIMED_OUT: 'bad', NONE: 'bad', failed: 'bad', crash_loop: 'bad', never_room: 'bad', unhealthy: 'bad', host_lost: 'bad',
}

export function Status({ of, children }: { of: string; children?: ComponentChildren }) {
  return (
    <span class={`status ${tones[of] ?? 'quiet'}`}>
      <i aria-hidden="true" />
      {children ?? words(of)}
    </span>
  )
}

export function Button(p: { children: ComponentChildren; icon?: string; kind?: 'main' | 'plain' | 'danger' | 'bare'; onClick?: () => unknown; type?: 'button' | 'submit'; disabled?: boolean; title?: string; label?: string; pressed?: boolean; small?: boolean }) {
  const [busy, setBusy] = useState(false)
  const alive = useRef(true)
  useEffect(() => () => void (alive.current = false), [])
  const press = async () => {
    if (!p.onClick || busy) return
    const result = p.onClick()
    if (!(result instanceof Promise)) return
    setBusy(true)
    await result.catch(failed).finally(() => alive.current && setBusy(false))
  }
  return (
    <button type={p.type ?? 'button'} class={`button ${p.kind ?? 'plain'}${p.small ? ' small' : ''}`} onClick={() => void press()} disabled={p.disabled || busy} title={p.title} aria-label={p.label} aria-pressed={p.pressed} aria-busy={busy}>
      {p.icon && <Icon name={p.icon} />}
      {p.children}
    </button>
  )
}

export function LinkButton({ to, icon, kind, children }: { to: string; icon?: string; kind?: string; children: ComponentChildren }) {
  return (
    <a class={`button ${kind ?? 'plain'}`} href={to}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}

// Time shows a time as so long ago, and in full to who points at it.
export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow()
  if (!at) return <span class="faint">–</span>
  return <time dateTime={at} title={stamp(at)}>{ago(at, now)}</time>
}

export function ID({ of }: { of: string }) {
  return <code class="id" title={of}>{of.length > 24 ? `${of.slice(0, 8)}…${of.slice(-12)}` : of}</code>
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text).then(() => say('Copied'), () => say('The browser does not allow copying', 'bad'))
}

export function Copy({ text, label }: { text: string; label?: string }) {
  return <Button kind="bare" small icon="copy" label={label ?? `Copy ${text}`} onClick={() => copy(text)}>{label && <span>{label}</span>}</Button>
}

// Command is a line for the shell.
export function Command({ line }: { line: string }) {
  return <div class="command"><code tabIndex={0} role="textbox" aria-readonly="true" aria-label="Command">{line}</code><Copy text={line} label="Copy" /></div>
}

export function Page(p: { title: ComponentChildren; from?: { to: string; title: string }; status?: ComponentChildren; actions?: ComponentChildren; children: ComponentChildren; name?: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const text = p.name ?? (typeof p.title === 'string' ? p.title : '')
  useEffect(() => {
    if (text) document.title = `${text} · berth`
  }, [text])
  return (
    <div class="page">
      <header class="head">
        <div class="titles">
          {p.from && <nav aria-label="Above"><a href={p.from.to}>{p.from.title}</a> <span aria-hidden="true">/</span></nav>}
          <h1 ref={heading} tabIndex={-1}>{p.title}</h1>
          {p.status}
        </div>
        {p.actions && <div class="actions">{p.actions}</div>}
      </header>
      {p.children}
    </div>
  )
}

export function Card({ title, actions, children, flush, id }: { title?: string; actions?: ComponentChildren; children: ComponentChildren; flush?: boolean; id?: string }) {
  return (
    <section class={flush ? 'card flush' : 'card'} id={id} aria-label={title}>
      {(title || actions) && <header><h2>{title}</h2>{actions && <div class="actions">{actions}</div>}</header>}
      {children}
    </section>
  )
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return <dl class="facts">{of.filter(([, value]) => value !== undefined && value !== null && value !== '').map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
}

export function Empty({ title, children, line, icon }: { title: string; children?: ComponentChildren; line?: string; icon?: string }) {
  return (
    <div class="empty">
      {icon && <Icon name={icon} />}
      <p class="strong">{title}</p>
      {children}
      {line && <Command line={line} />}
    </div>
  )
}

// Loading shows the shape of what comes; the style sheet holds it back for a moment, so that what is fast does not flicker.
export function Loading({ rows = 6 }: { rows?: number }) {
  return <div class="loading" role="status" aria-label="Loading">{Array.from({ length: rows }, (_, i) => <span key={i} />)}</div>
}

export function Failure({ of, retry }: { of: unknown; retry?: () => void }) {
  const p = of instanceof Problem ? of : new Problem(0, 'Something went wrong here', of instanceof Error ? of.message : String(of))
  const says = p.status === 403 ? 'Your key may not see this' : p.status === 404 ? 'There is no such thing' : p.title
  return (
    <div class={`failure ${p.status === 403 ? 'denied' : ''}`} role="alert">
      <Icon name={p.status === 403 ? 'lock' : 'faults'} />
      <div>
        <p class="strong">{says}{p.status ? <span class="faint"> {p.status}</span> : null}</p>
        <p>{p.detail}</p>
        {p.errors.length > 0 && <ul>{p.errors.map(line => <li key={line}>{line}</li>)}</ul>}
      </div>
      {retry && <Button small icon="restart" onClick={retry}>Try again</Button>}
    </div>
  )
}

// Shown gives what a resource has, or the face of what it lacks.
export function Shown<T>({ of, rows, children }: { of: { data: T | undefined; error: unknown; reload: () => void }; rows?: number; children: (data: T) => ComponentChildren }) {
  if (of.data === undefined) return of.error ? <Failure of={of.error} retry={of.reload} /> : <Loading rows={rows ?? 6} />
  return <>{of.error && !(of.error instanceof Problem && of.error.status === 0) ? <Failure of={of.error} retry={of.reload} /> : null}{children(of.data)}</>
}

interface Toast { id: number; text: string; tone: string }
const toasts = signal<Toast[]>([])
let toastID = 0

// say shows a line for a few seconds.
export function say(text: string, tone: 'good' | 'bad' = 'good'): void {
  const id = ++toastID
  toasts.value = [...toasts.value.slice(-3), { id, text, tone }]
  setTimeout(() => (toasts.value = toasts.value.filter(t => t.id !== id)), tone === 'bad' ? 8000 : 3000)
}

// failed says what went wrong with something that was asked for.
export function failed(error: unknown): void {
  if (error instanceof Problem) say(error.errors[0] ?? (error.detail || error.title), 'bad')
  else say(error instanceof Error ? error.message : String(error), 'bad')
}

export function Toasts() {
  return <div class="toasts" role="status" aria-live="polite">{toasts.value.map(t => <p key={t.id} class={t.tone}>{t.text}</p>)}</div>
}

// Dialog is open as long as it is there. Escape and a press beside it close it.
export function Dialog({ title, onClose, children, wide }: { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean }) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const was = document.activeElement as HTMLElement | null
    box.current?.showModal()
    return () => was?.focus?.()
  }, [])
  return (
    <dialog ref={box} class={wide ? 'wide' : ''} aria-label={title} onCancel={e => { e.preventDefault(); onClose() }} onMouseDown={e => e.target === box.current && onClose()}>
      <div class="dialog">
        <header><h2>{title}</h2><Button kind="bare" icon="close" label="Close" onClick={onClose}>{null}</Button></header>
        {children}
      </div>
    </dialog>
  )
}

interface Question { title: string; text: string; yes: string; done: (yes: boolean) => void }
const question = signal<Question | null>(null)

// sure asks before what cannot be taken back.
export function sure(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise(done => (question.value = { title, text, yes, done: answer => { question.value = null; done(answer) } }))
}

export function Questions() {
  const q = question.value
  if (!q) return null
  return (
    <Dialog title={q.title} onClose={() => q.done(false)}>
      <p>{q.text}</p>
      <footer class="actions"><Button onClick={() => q.done(false)}>Cancel</Button><Button kind="danger" onClick={() => q.done(true)}>{q.yes}</Button></footer>
    </Dialog>
  )
}

export function Tabs({ of, at, onPick, label }: { of: [string, string][]; at: string; onPick: (name: string) => void; label: string }) {
  const move = (e: KeyboardEvent) => {
    const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0
    if (!step) return
    const next = of[(of.findIndex(([name]) => name === at) + step + of.length) % of.length]!
    onPick(next[0])
    ;(e.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab="${next[0]}"]`)?.focus()
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {of.map(([name, title]) => (
        <button key={name} type="button" role="tab" data-tab={name} aria-selected={name === at} tabIndex={name === at ? 0 : -1} onClick={() => onPick(name)}>{title}</button>
      ))}
    </div>
  )
}

export function Choice<T extends string>({ label, of, at, onPick }: { label: string; of: [T, string][]; at: T; onPick: (v: T) => void }) {
  return <label class="choice"><span>{label}</span><select value={at} onChange={e => onPick(e.currentTarget.value as T)}>{of.map(([v, t]) => <option key={v} value={v}>{t}</option>)}</select></label>
}

// Text shows a text that may be long, such as JSON: folded where it has many lines.
export function Text({ children, label, lines = 24 }: { children: string; label: string; lines?: number }) {
  const [open, setOpen] = useState(false)
  const all = children.split('\n')
  const folded = !open && all.length > lines + 4
  return (
    <div class="text">
      <pre tabIndex={0} aria-label={label}>{folded ? all.slice(0, lines).join('\n') : children}</pre>
      <div class="corner"><Copy text={children} /></div>
      {all.length > lines + 4 && <Button kind="bare" small onClick={() => setOpen(!open)}>{open ? 'Show less' : `Show all ${all.length} lines`}</Button>}
    </div>
  )
}
