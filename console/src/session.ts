// Who uses the console: the keys, which are in the memory of the tab and, if that is asked for, in its session storage, and what they may do.
import { computed, signal } from '@preact/signals'

export interface Keys {
  key: string // of the account; empty: none
  controls: string // of the test controls; empty: none
}

// Session is what /_berth/session says of the key.
export interface Session {
  name: string
  user: string
  version: string
  runtime: string
  may: { read: boolean; write: boolean; invoke: boolean; graphql: boolean; hosts: boolean; controls: boolean }
  testControls: boolean
  podAddress: string // where HTTP ports of pods are, of {podId} and {port}; empty: nobody says
  follows: boolean // the server tells of changes, and keeps histories
}

const stored = 'berth-keys'

// fromFragment takes keys from the address, #key=…&controls=…, and takes them away there before anything can be sent to it.
function fromFragment(): Keys | null {
  const fragment = new URLSearchParams(location.hash.slice(1))
  if (!fragment.has('key') && !fragment.has('controls')) return null
  history.replaceState(null, '', location.pathname + location.search)
  return { key: fragment.get('key') ?? '', controls: fragment.get('controls') ?? '' }
}

function fromStorage(): Keys | null {
  try {
    return JSON.parse(sessionStorage.getItem(stored) ?? 'null') as Keys | null
  } catch {
    return null
  }
}

export const keys = signal<Keys>(fromFragment() ?? fromStorage() ?? { key: '', controls: '' })
export const session = signal<Session | null>(null)
export const signedIn = computed(() => session.value !== null)
export const hasControls = computed(() => keys.value.controls !== '' && session.value?.testControls === true)

// keep holds the keys for this tab: over a reload if they are remembered, else as long as the page is there.
export function keep(k: Keys, remember: boolean): void {
  keys.value = k
  if (remember) sessionStorage.setItem(stored, JSON.stringify(k))
  else sessionStorage.removeItem(stored)
}

export function forget(): void {
  sessionStorage.removeItem(stored)
  sessionStorage.removeItem('berth-graphql') // a document may have a secret
  keys.value = { key: '', controls: '' }
  session.value = null
}
