// Where the page is: the path below /console, in the address of the browser.
import { computed, signal } from '@preact/signals'

export const base = '/console'

const place = signal(read())

function read(): { path: string; query: string } {
  return { path: location.pathname.startsWith(base) ? location.pathname.slice(base.length) || '/' : '/', query: location.search }
}

export const path = computed(() => place.value.path)
export const parts = computed(() => path.value.split('/').filter(Boolean).map(decoded))
export const search = computed(() => new URLSearchParams(place.value.query))

// decoded is a part of a path as it was before it was encoded; one that is not encoded as it should be stays as it is.
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

// href gives the address of a page; its parts are encoded.
export function href(...of: string[]): string {
  return [base, ...of.map(encodeURIComponent)].join('/')
}

// go leads to a page, whose address is one of href.
export function go(address: string, replace = false): void {
  if (address === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', address)
  place.value = read()
  if (!replace) document.getElementById('main')?.scrollTo(0, 0)
}

// ask sets parameters of the address, without an entry of the history; what is empty is taken away.
export function ask(changes: Record<string, string>): void {
  const all = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) value ? all.set(name, value) : all.delete(name)
  const text = all.toString()
  go(location.pathname + (text && `?${text}`), true)
}

// start follows the browser: its buttons, and links to pages of the console.
export function start(): void {
  addEventListener('popstate', () => (place.value = read()))
  addEventListener('click', event => {
    const link = (event.target as Element | null)?.closest?.('a')
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin || !(link.pathname === base || link.pathname.startsWith(base + '/'))) return
    event.preventDefault()
    go(link.pathname + link.search)
  })
}
