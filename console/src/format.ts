// How values are written for people. Times are those of the server's clock; spans are in milliseconds.

// span writes milliseconds in two units at most, such as 1 h 5 min.
export function span(milliseconds: number): string {
  const ms = Math.max(0, milliseconds)
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return two(minutes, 'min', Math.floor(ms / 1000) % 60, 's')
  if (minutes < 24 * 60) return two(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  return two(Math.floor(minutes / 1440), 'd', Math.floor(minutes / 60) % 24, 'h')
}

const two = (a: number, unit: string, b: number, lesser: string): string => (b ? `${a} ${unit} ${b} ${lesser}` : `${a} ${unit}`)

// ago writes how long before now a time is, and how long after it if it is to come.
export function ago(at: string | number, now: number): string {
  const ms = now - (typeof at === 'number' ? at : Date.parse(at))
  if (Math.abs(ms) < 1000) return 'just now'
  return ms > 0 ? `${span(Math.floor(ms / 1000) * 1000)} ago` : `in ${span(-ms)}`
}

const two0 = (n: number): string => String(n).padStart(2, '0')

// stamp writes a time in the zone of who reads it, to the second.
export function stamp(at: string | number): string {
  const d = new Date(at)
  if (Number.isNaN(d.getTime())) return ''
  return `${d.getFullYear()}-${two0(d.getMonth() + 1)}-${two0(d.getDate())} ${two0(d.getHours())}:${two0(d.getMinutes())}:${two0(d.getSeconds())}`
}

// usd writes an amount with as many places as tell it from nothing.
export function usd(amount: number): string {
  if (amount === 0) return '$0.00'
  if (Math.abs(amount) >= 0.1) return `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
  if (Math.abs(amount) >= 0.0001) return `$${amount.toFixed(4).replace(/0{1,2}$/, '')}`
  return amount > 0 ? '< $0.0001' : '$0.00'
}

// count writes a number with its thousands apart; short cuts it to three digits and a unit.
export const count = (n: number): string => n.toLocaleString('en-US')
export const short = (n: number): string => (n < 10_000 ? count(n) : n.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 }))

// bytes writes a size in powers of 1024.
export function bytes(n: number): string {
  const units = ['B', 'KB', 'MB', 'GB']
  let at = 0
  while (n >= 1024 && at < units.length - 1) [n, at] = [n / 1024, at + 1]
  return `${at && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[at]}`
}

// words makes IN_PROGRESS, no_room or queueDelay read In progress, No room, Queue delay.
export function words(name: string): string {
  const spaced = name === name.toUpperCase() ? name.replace(/_/g, ' ').toLowerCase() : name.replace(/_/g, ' ').replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)
  const known = spaced.replace(/\b(gpu|cpu|id|ids|ssh|url|ttl|vcpu|vcpus|ip|gb)\b/gi, w => (w.toLowerCase() === 'vcpu' ? 'vCPU' : w.toLowerCase() === 'vcpus' ? 'vCPUs' : w.toLowerCase() === 'ids' ? 'IDs' : w.toUpperCase()))
  return known.startsWith('vCPU') ? known : known.charAt(0).toUpperCase() + known.slice(1)
}

// firstLine gives of the error of a job the line that says most: the message of a Python handler's error, which is JSON.
export function firstLine(error: string | undefined): string {
  const message = /"error_message":\s*"((?:[^"\\]|\\.)*)"/.exec(error ?? '')?.[1]
  return (message ? message.replace(/\\n.*/s, '').replace(/\\(.)/g, '$1') : error)?.split('\n')[0] ?? ''
}

const { rawJSON, isRawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown; isRawJSON?: (v: unknown) => boolean }

// isRaw reports whether a value is a number that exact has kept.
export const isRaw = (v: unknown): boolean => isRawJSON?.(v) ?? false

// exact reads JSON so that a number keeps its digits when it is written again, where the browser can do that: a seed may have 64 bits.
export const exact = (text: string): unknown => JSON.parse(text, ((_: string, v: unknown, of?: { source?: string }) =>
  rawJSON && typeof v === 'number' && of?.source && String(v) !== of.source ? rawJSON(of.source) : v) as (name: string, v: unknown) => unknown)

// pretty writes JSON with an indent; what is no JSON stays as it is.
export function pretty(text: string): string {
  try {
    return JSON.stringify(exact(text), null, 2)
  } catch {
    return text
  }
}
