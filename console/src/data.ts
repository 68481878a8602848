// What pages show of the server: read when it is first asked for, kept, and read again when an event says that it changed.
import { signal, type Signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { send, type Problem } from './api'
import { listen, type Change, type Kind } from './live'
import { hasControls } from './session'

export interface Resource<T> {
  data: T | undefined
  error: Problem | Error | undefined
  reload: () => void
}

interface Entry {
  state: Signal<{ data: unknown; error: Error | undefined }>
  reading: boolean
  again: boolean
  at: number // when it was last begun to be read
}

const entries = new Map<string, Entry>()
const mostEntries = 200
const gap = 700 // milliseconds between two readings of the same thing: a busy server changes more often than anybody reads

export function forgetAll(): void {
  entries.clear()
  kept.clear()
  clockMode.value = 'running'
  offset.value = 0
  frozenAt.value = null
}

async function load(entry: Entry, read: () => Promise<unknown>): Promise<void> {
  if (entry.reading) {
    entry.again = true
    return
  }
  entry.reading = true
  entry.at = Date.now()
  try {
    entry.state.value = { data: await read(), error: undefined }
  } catch (error) {
    entry.state.value = { data: entry.state.value.data, error: error as Error }
  }
  entry.reading = false
  if (entry.again) {
    entry.again = false
    setTimeout(() => void load(entry, read), gap)
  }
}

// useResource reads something under a name, which is the same wherever the same is read. kinds are the changes after which it is read
// again; concerns picks those of them that it is about. Without a name nothing is read.
export function useResource<T>(name: string | null, read: () => Promise<T>, kinds: Kind[] = [], concerns?: (c: Change) => boolean): Resource<T> {
  const entry = useMemo(() => {
    const known = entries.get(name ?? '')
    if (known && name) return known
    const made: Entry = { state: signal({ data: undefined, error: undefined }), reading: false, again: false, at: 0 }
    if (name) {
      const oldest = entries.size >= mostEntries ? entries.keys().next().value : undefined
      if (oldest !== undefined) entries.delete(oldest) // who shows it keeps it
      entries.set(name, made)
    }
    return made
  }, [name])

  useEffect(() => {
    if (!name) return
    let timer = 0
    const reload = () => {
      if (timer) return
      timer = window.setTimeout(() => {
        timer = 0
        void load(entry, read)
      }, Math.max(60, gap - (Date.now() - entry.at)))
    }
    void load(entry, read)
    const silence = listen(changes => {
      if (changes.some(c => c.kind === 'reset' || (kinds.includes(c.kind) && (!concerns || concerns(c))))) reload()
    })
    return () => {
      silence()
      clearTimeout(timer)
    }
  }, [name])

  const { data, error } = entry.state.value
  return { data: data as T | undefined, error, reload: () => void load(entry, read) }
}

// now is the time of the server's clock: with test controls it may stand still, or be years ahead.
const offset = signal(0)
const frozenAt = signal<number | null>(null)
export const clockMode = signal<'running' | 'frozen' | 'auto'>('running')
export const now = (): number => frozenAt.value ?? Date.now() + offset.value

export async function readClock(): Promise<void> {
  if (!hasControls.value) return
  const clock = await send('get', '/_berth/clock').catch(() => null)
  if (clock) setClock(clock)
}

export function setClock(clock: { now: string; mode: 'running' | 'frozen' | 'auto' }): void {
  clockMode.value = clock.mode
  offset.value = Date.parse(clock.now) - Date.now()
  frozenAt.value = clock.mode === 'frozen' ? Date.parse(clock.now) : null
}

// useNow gives the time of the server's clock, again every second: one timer for all that show it.
export function useNow(): number {
  void seconds.value
  return now()
}
const seconds = signal(0)
setInterval(() => document.visibilityState === 'visible' && seconds.value++, 1000)

// useSamples keeps the last values of something that changes, for charts where the server has no history of it.
export function useSamples<T extends object>(name: string, value: T | undefined, most = 240): (T & { at: number })[] {
  const [samples, set] = useState<(T & { at: number })[]>(() => (kept.get(name) ?? []) as (T & { at: number })[])
  const text = JSON.stringify(value)
  useEffect(() => {
    if (!value) return
    const add = () => {
      const all = [...((kept.get(name) ?? []) as (T & { at: number })[]), { ...value, at: now() }].slice(-most)
      kept.set(name, all)
      set(all)
    }
    add()
    const timer = setInterval(add, 5000)
    return () => clearInterval(timer)
  }, [name, text])
  return samples
}
const kept = new Map<string, unknown[]>()
