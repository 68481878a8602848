// What changes on the server: its stream of changes, or where there is none a look at what is shown every few seconds.
import { signal } from '@preact/signals'
import { Problem, reachable } from './api'
import { session } from './session'
import { read } from './stream'

export type Kind =
  | 'pod' | 'endpoint' | 'job' | 'worker' | 'volume' | 'template' | 'registry' | 'secret' | 'cluster' | 'key' | 'webhook' | 'host' | 'clock' | 'fault' | 'journal' | 'reset'

export interface Change {
  kind: Kind
  id: string
  change: 'created' | 'changed' | 'deleted'
  status?: string
  endpointId?: string
}

// how says how the page learns of changes: by events, by asking every few seconds, or not at all while the server is away.
export const how = signal<'events' | 'asking' | 'away' | 'off'>('off')
export const retryAt = signal(0) // when the next try is, while it is away

type Listener = (changes: Change[]) => void
const listeners = new Set<Listener>()
const everything: Change = { kind: 'reset', id: '', change: 'changed' }

// listen calls with what changed, and with a reset where everything is to be read again.
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function tell(changes: Change[]): void {
  for (const listener of [...listeners]) listener(changes)
}

const askEvery = 4000 // milliseconds, where there is no stream
let stop: AbortController | null = null
let wake: (() => void) | null = null

// retry tries at once, if it waits for the next try.
export function retry(): void {
  wake?.()
}

// follow keeps up with the server until the page is left or signs out.
export async function follow(): Promise<void> {
  stop?.abort()
  const mine = (stop = new AbortController())
  let lastID = ''
  let failures = 0
  while (!mine.signal.aborted) {
    const was = how.value
    if (!session.value?.follows) {
      how.value = reachable.value ? 'asking' : 'away'
      const wait = reachable.value ? askEvery : Math.min(15_000, 500 * 2 ** ++failures)
      retryAt.value = Date.now() + wait
      await pause(wait, mine.signal)
      if (document.visibilityState === 'visible' || !reachable.value) tell([everything])
      if (reachable.value) failures = 0
      continue
    }
    try {
      const opened = () => {
        how.value = 'events'
        failures = 0
        if (was === 'away' && !lastID) tell([everything])
      }
      await read('/_berth/events', mine.signal, messages => {
        tell(messages.map(m => (m.event === 'reset' ? everything : (JSON.parse(m.data) as Change))))
      }, lastID ? { 'Last-Event-ID': lastID } : {}, opened, id => (lastID = id))
      await pause(500, mine.signal)
    } catch (error) {
      if (mine.signal.aborted) return
      if (error instanceof Problem && error.status === 401) return tell([everything])
      if (error instanceof Problem && [403, 404, 405, 422].includes(error.status)) {
        how.value = 'asking'
        if (was === 'away') tell([everything])
        failures = 0
        await pause(askEvery, mine.signal)
        if (document.visibilityState === 'visible') tell([everything])
        continue
      }
      failures++
      const wait = Math.min(15_000, 500 * 2 ** failures) * (0.8 + Math.random() * 0.4)
      if (error instanceof Problem && error.status === 0) how.value = 'away'
      retryAt.value = Date.now() + wait
      await pause(wait, mine.signal)
    }
  }
}

export function unfollow(): void {
  stop?.abort()
  how.value = 'off'
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(done => {
    const end = () => {
      clearTimeout(timer)
      wake = null
      done()
    }
    const timer = setTimeout(end, milliseconds)
    wake = end
    signal.addEventListener('abort', end, { once: true })
  })
}
