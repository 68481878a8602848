// Requests to the server, typed by the documents in spec/.
import { signal } from '@preact/signals'
import type { paths as Controls } from './spec/controls'
import type { paths as Queue } from './spec/queue'
import type { paths as Rest } from './spec/rest'
import { keys } from './session'

export type { components as RestTypes } from './spec/rest'
export type { components as QueueTypes } from './spec/queue'
export type { components as ControlsTypes } from './spec/controls'

type All = Rest & Queue & Controls
export type Path = keyof All
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type BodyOf<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never
type AnswerOf<O> = O extends { responses: infer R } ? { [S in keyof R]: S extends 200 | 201 | 202 ? (R[S] extends { content: { 'application/json': infer B } } ? B : unknown) : never }[keyof R] : never
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? Q : never

export interface Options<O> {
  path?: Record<string, string | number>
  query?: QueryOf<O>
  body?: BodyOf<O>
  signal?: AbortSignal
  headers?: Record<string, string>
}

// Problem is a failure that the server explained, or that kept the request from it: then its status is 0.
export class Problem extends Error {
  constructor(readonly status: number, readonly title: string, readonly detail: string, readonly errors: string[] = [], readonly retryAfter = 0) {
    super(detail || title)
  }
}

// reachable says whether the last request came to a server; tries counts those that did not since then.
export const reachable = signal(true)

// ofControls are the paths below /_berth/ that take the key of the test controls; the others take the account's.
const ofControls = /^\/_berth\/(clock|reset|keys|quotas|faults|endpoints\/[^/]+\/script|states|journal|costs|webhooks|fleet|interrupt|storage|events)/

// keyFor gives the key to send to a path: with one key alone it is that one.
export function keyFor(path: string): string {
  const { key, controls } = keys.value
  return ofControls.test(path) || (/^\/_berth\/(hosts|users)/.test(path) && controls) ? controls || key : key || controls
}

export function fill(path: string, values: Record<string, string | number> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '').split('/').map(encodeURIComponent).join('/'))
}

function query(of: unknown): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries((of ?? {}) as Record<string, unknown>)) {
    if (value !== undefined && value !== '' && value !== null) search.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = search.toString()
  return text && `?${text}`
}

// open sends a request and gives its answer, whose status is a success. A Problem for every other.
export async function open(method: string, address: string, init: { body?: unknown; signal?: AbortSignal; headers?: Record<string, string>; key?: string } = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...init.headers }
  const key = init.key ?? keyFor(address)
  if (key) headers.Authorization = `Bearer ${key}`
  if (init.body !== undefined) headers['Content-Type'] = 'application/json'
  let answer: Response
  try {
    answer = await fetch(address, {
      method: method.toUpperCase(), headers, body: init.body === undefined ? null : JSON.stringify(init.body), signal: init.signal ?? null, credentials: 'omit', cache: 'no-store',
    })
  } catch (error) {
    if (init.signal?.aborted) throw error
    reachable.value = false
    throw new Problem(0, 'No connection', 'The server does not answer.')
  }
  reachable.value = true
  if (answer.ok) return answer
  const body = (await answer.json().catch(() => ({}))) as { title?: string; detail?: string; errors?: string[] }
  throw new Problem(answer.status, body.title ?? answer.statusText, body.detail ?? '', body.errors ?? [], Number(answer.headers.get('Retry-After') ?? 0))
}

// send calls an operation of the documents.
export async function send<P extends Path, M extends Method & keyof All[P]>(method: M, path: P, o: Options<All[P][M]> = {}): Promise<AnswerOf<All[P][M]>> {
  const answer = await open(method, fill(path as string, o.path) + query(o.query), o)
  const text = await answer.text()
  return (text ? JSON.parse(text) : undefined) as AnswerOf<All[P][M]>
}

// pages reads the pages of a list one after the other, most at most.
export async function pages<T>(read: (cursor?: string) => Promise<{ rows: T[]; next: string | null }>, most = 10): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < most; page++) {
    const { rows, next } = await read(cursor)
    all.push(...rows)
    if (!next) break
    cursor = next
  }
  return all
}

// fieldErrors gives each line of a problem to the field that it begins with, as a JSON Pointer; what is of none is under ''.
export function fieldErrors(problem: unknown): Record<string, string> {
  if (!(problem instanceof Problem)) return {}
  const found: Record<string, string> = {}
  for (const line of problem.errors.length ? problem.errors : [problem.detail]) {
    const pointer = /^(\/\S*?): (.*)$/s.exec(line)
    const dotted = /^([a-z]\w*(?:\.\w+|\[\d+\])*): (.*)$/s.exec(line)
    if (pointer) found[pointer[1]!] = pointer[2]!
    else if (dotted) found['/' + dotted[1]!.replace(/\[(\d+)\]/g, '.$1').replace(/\./g, '/')] = dotted[2]!
    else found[''] = found[''] ? `${found['']}\n${line}` : line
  }
  return found
}
