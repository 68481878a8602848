// Forms made from the schemas of the documents: what an operation takes is what its form asks for.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { fieldErrors } from '../api'
import { exact, isRaw, words } from '../format'
import spec from '../spec/forms.json'
import { Button, Failure } from './bits'

export interface Schema {
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: (string | number)[]
  const?: string
  default?: unknown
  minimum?: number
  maximum?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  writeOnly?: boolean
  additionalProperties?: boolean | Schema
  oneOf?: Schema[]
}

export const schemaOf = (name: keyof typeof spec.schemas): Schema => spec.schemas[name] as unknown as Schema
export const operations: string[] = spec.operations

export type Choices = { value: string | number; text: string; disabled?: boolean }[]
type Value = Record<string, unknown>

interface Settings {
  choices: Record<string, Choices | undefined> // of fields, by pointer
  hidden: string[]
  first: string[] // fields of the top that are seen at once; the others are below "More"
  errors: Record<string, string>
  long: string[]
  labels: Record<string, string>
}

interface FormProps {
  schema: Schema
  value: Value
  onChange: (v: Value) => void
  onSubmit: (v: Value) => Promise<unknown>
  onCancel?: () => void
  submit: string
  choices?: Settings['choices']
  hidden?: string[]
  first?: string[]
  long?: string[] // texts of several lines
  labels?: Record<string, string>
  aside?: ComponentChildren
  before?: ComponentChildren
}

export function Form(p: FormProps) {
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const errors = fieldErrors(error)
  const settings: Settings = { choices: p.choices ?? {}, hidden: p.hidden ?? [], first: p.first ?? p.schema.required ?? [], errors, long: p.long ?? [], labels: p.labels ?? {} }
  const shown = useRef(new Set<string>())
  shown.current = new Set()

  const submit = async (e: Event) => {
    e.preventDefault()
    if (busy) return
    const broken = form.current?.querySelector<HTMLElement>('[data-broken]')
    if (broken) { // what was valid last is not what is seen
      for (const details of form.current!.querySelectorAll('details')) if (details.contains(broken)) details.open = true
      broken.focus()
      return
    }
    setBusy(true)
    setError(null)
    await p.onSubmit(clean(p.value, p.schema) as Value).catch(setError)
    setBusy(false)
  }
  useEffect(() => {
    if (!error) return
    for (const details of form.current?.querySelectorAll('details') ?? []) if (details.querySelector('[aria-invalid=true]')) details.open = true
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [error])
  const placed = (pointer: string) => form.current?.querySelector(`[data-pointer="${CSS.escape(pointer)}"]`)
  const unplaced = error && Object.keys(errors).some(pointer => !pointer || !placed(pointer))

  const names = Object.keys(p.schema.properties ?? {}).filter(n => !settings.hidden.includes('/' + n))
  const first = names.filter(n => settings.first.includes(n)).sort((a, b) => settings.first.indexOf(a) - settings.first.indexOf(b))
  const more = names.filter(n => !settings.first.includes(n))
  const field = (n: string) => (
    <Field key={n} name={n} pointer={'/' + n} schema={p.schema.properties![n]!} value={p.value[n]} required={p.schema.required?.includes(n) ?? false} settings={settings} onChange={v => p.onChange(put(p.value, n, v))} />
  )
  return (
    <form ref={form} class="form" onSubmit={e => void submit(e)} noValidate>
      <div class="fields">
        {p.before}
        {first.map(field)}
        {more.length > 0 && first.length > 0 ? <details><summary>More settings</summary><div class="fields">{more.map(field)}</div></details> : more.map(field)}
        {unplaced ? <Failure of={error} /> : null}
      </div>
      {p.aside}
      <footer class="actions">
        {p.onCancel && <Button onClick={p.onCancel}>Cancel</Button>}
        <Button type="submit" kind="main" disabled={busy}>{p.submit}</Button>
      </footer>
    </form>
  )
}

const put = (of: Value, name: string, v: unknown): Value => {
  const made = { ...of }
  if (v === undefined) delete made[name]
  else made[name] = v
  return made
}

const kind = (s: Schema): string => (Array.isArray(s.type) ? s.type.find(t => t !== 'null') ?? 'string' : s.type ?? (s.properties ? 'object' : s.oneOf ? 'oneOf' : 'any'))

interface FieldProps { name: string; pointer: string; schema: Schema; value: unknown; required: boolean; settings: Settings; onChange: (v: unknown) => void }

function Field(p: FieldProps) {
  const id = useId()
  const { schema: s, pointer, settings } = p
  if (settings.hidden.includes(pointer)) return null
  const error = settings.errors[pointer]
  const label = settings.labels[pointer] ?? words(p.name)
  const says = s.description
  const common = { id, 'data-pointer': pointer, 'aria-invalid': error ? ('true' as const) : undefined, 'aria-describedby': `${id}-says`, 'aria-required': p.required || undefined, disabled: undefined }
  const k = kind(s)

  const wrapped = (control: ComponentChildren, inline = false) => (
    <div class={`field${inline ? ' inline' : ''}${error ? ' wrong' : ''}`}>
      <label for={id}>{label}{p.required && <span class="needed" aria-hidden="true"> *</span>}</label>
      {control}
      <p class="says" id={`${id}-says`}>{error ? <strong>{error}</strong> : says}</p>
    </div>
  )

  if (k === 'object' && s.properties) return <Group {...p} label={label} />
  if (s.oneOf) return <OneOf {...p} label={label} />
  if (k === 'array' && s.items && kind(s.items) === 'object') return <Several {...p} label={label} />

  const choices: Choices | undefined = settings.choices[pointer] ?? settings.choices[pointer.replace(/\/\d+(?=\/|$)/g, '/*')] ?? s.enum?.map(v => ({ value: v, text: typeof v === 'number' ? String(v) : words(v) }))
  if (choices && k !== 'array') {
    return wrapped(
      <select {...common} value={p.value === undefined || p.value === null ? '' : String(p.value)} onChange={e => {
        const picked = choices.find(c => String(c.value) === e.currentTarget.value)
        p.onChange(picked?.value)
      }}>
        {!(p.required && p.value !== undefined) && <option value="">{s.default === undefined ? (p.required ? 'Choose…' : '–') : `${words(String(s.default))} (default)`}</option>}
        {choices.map(c => <option key={c.value} value={String(c.value)} disabled={c.disabled}>{c.text}</option>)}
      </select>)
  }
  if (choices) {
    const all = new Set((p.value ?? []) as (string | number)[])
    return (
      <fieldset class={`field checks${error ? ' wrong' : ''}`} data-pointer={pointer} aria-describedby={`${id}-says`}>
        <legend>{label}{p.required && <span class="needed" aria-hidden="true"> *</span>}</legend>
        <div class="boxes">
          {choices.map(c => (
            <label key={c.value}><input type="checkbox" checked={all.has(c.value)} aria-invalid={error ? 'true' : undefined} onChange={e => {
              e.currentTarget.checked ? all.add(c.value) : all.delete(c.value)
              p.onChange(all.size ? [...all] : undefined)
            }} />{c.text}</label>
          ))}
        </div>
        <p class="says" id={`${id}-says`}>{error ? <strong>{error}</strong> : says}</p>
      </fieldset>
    )
  }
  switch (k) {
    case 'boolean':
      return wrapped(<input {...common} type="checkbox" checked={(p.value ?? s.default ?? false) as boolean} onChange={e => p.onChange(e.currentTarget.checked)} />, true)
    case 'integer':
    case 'number':
      return wrapped(<input {...common} type="number" step={k === 'integer' ? 1 : 'any'} min={s.minimum} max={s.maximum} placeholder={s.default === undefined ? '' : String(s.default)} value={p.value === undefined ? '' : String(p.value)}
        onInput={e => p.onChange(e.currentTarget.value === '' ? undefined : Number(e.currentTarget.value))} />)
    case 'array':
      return <Lines {...p} label={label} error={error} shown={wrapped} common={common} to={lines => (lines.length ? lines : undefined)} from={v => ((v ?? []) as string[]).map(String)} hint="One a line" nested={child(settings.errors, pointer)} />
    case 'object':
      if (s.additionalProperties !== true) {
        return <Pairs {...p} label={label} error={error} shown={wrapped} common={common} nested={child(settings.errors, pointer)} />
      }
      return <JSONField {...p} shown={wrapped} common={common} />
    case 'any':
      return <JSONField {...p} shown={wrapped} common={common} />
    default: {
      const text = { ...common, value: (p.value ?? '') as string, placeholder: s.default === undefined ? '' : String(s.default), spellcheck: false, autocomplete: 'off', onInput: (e: Event) => p.onChange((e.currentTarget as HTMLInputElement).value || undefined) }
      return wrapped(settings.long.includes(pointer) ? <textarea {...text} rows={4} /> : s.writeOnly ? <input {...text} type="password" autocomplete="new-password" /> : <input {...text} type="text" />)
    }
  }
}

// child gives the first failure below a field that has no fields of its own.
function child(errors: Record<string, string>, pointer: string): string | undefined {
  const at = Object.keys(errors).find(e => e.startsWith(pointer + '/'))
  return at && `${at.slice(pointer.length + 1)}: ${errors[at]}`
}

function Lines(p: FieldProps & { label: string; error: string | undefined; nested: string | undefined; hint: string; code?: boolean; shown: (c: ComponentChildren) => ComponentChildren; common: object; to: (lines: string[]) => unknown; from: (v: unknown) => string[] }) {
  const [text, setText] = useState(() => p.from(p.value).join('\n'))
  const sent = useRef(JSON.stringify(p.value))
  useEffect(() => {
    if (JSON.stringify(p.value) !== sent.current) setText(p.from(p.value).join('\n'))
    sent.current = JSON.stringify(p.value)
  }, [p.value])
  return (
    <>
      {p.shown(<textarea {...p.common} rows={Math.min(6, Math.max(2, text.split('\n').length))} value={text} placeholder={p.hint} spellcheck={false} aria-invalid={p.error || p.nested ? 'true' : undefined} onInput={e => {
        setText(e.currentTarget.value)
        const v = p.to(e.currentTarget.value.split('\n').filter(l => l.trim() !== ''))
        sent.current = JSON.stringify(v)
        p.onChange(v)
      }} />)}
      {p.nested && <p class="says below"><strong>{p.nested}</strong></p>}
    </>
  )
}

// Pairs is a map of texts, a line each; one with line breaks in it is written as JSON.
function Pairs(p: FieldProps & { label: string; error: string | undefined; nested: string | undefined; shown: (c: ComponentChildren) => ComponentChildren; common: object }) {
  const [broken] = useState(() => Object.values((p.value ?? {}) as Record<string, string>).some(v => /[\r\n]/.test(v)))
  if (broken) return <JSONField {...p} />
  return <Lines {...p} hint="NAME=value, one a line" code
    to={lines => (lines.length ? Object.fromEntries(lines.map(l => (l.includes('=') ? [l.slice(0, l.indexOf('=')).trim(), l.slice(l.indexOf('=') + 1)] : [l.trim(), '']))) : undefined)}
    from={v => Object.entries((v ?? {}) as Record<string, string>).map(([a, b]) => `${a}=${b}`)} />
}

function JSONField(p: FieldProps & { shown: (c: ComponentChildren) => ComponentChildren; common: object }) {
  const [text, setText] = useState(() => (p.value === undefined ? '' : JSON.stringify(p.value, null, 2)))
  const [wrong, setWrong] = useState('')
  return (
    <>
      {p.shown(<textarea {...p.common} class="code" rows={Math.min(14, Math.max(3, text.split('\n').length))} value={text} placeholder="JSON" spellcheck={false} aria-invalid={wrong ? 'true' : undefined} data-broken={wrong ? '' : undefined} onInput={e => {
        const typed = e.currentTarget.value
        setText(typed)
        try {
          p.onChange(typed.trim() ? exact(typed) : undefined)
          setWrong('')
        } catch {
          setWrong('This is no JSON yet')
        }
      }} />)}
      {wrong && <p class="says below"><strong>{wrong}</strong></p>}
    </>
  )
}

function Group(p: FieldProps & { label: string }) {
  const value = p.value as Value | undefined
  const on = value !== undefined
  const error = p.settings.errors[p.pointer]
  return (
    <fieldset class={`group${error ? ' wrong' : ''}`} data-pointer={p.pointer}>
      <legend>
        {p.required ? p.label : <label><input type="checkbox" checked={on} onChange={e => p.onChange(e.currentTarget.checked ? initial(p.schema) : undefined)} />{p.label}</label>}
      </legend>
      {p.schema.description && <p class="says">{error ? <strong>{error}</strong> : p.schema.description}</p>}
      {(on || p.required) && (
        <div class="fields">
          {Object.entries(p.schema.properties ?? {}).map(([n, s]) => (
            <Field key={n} name={n} pointer={`${p.pointer}/${n}`} schema={s} value={value?.[n]} required={p.schema.required?.includes(n) ?? false} settings={p.settings} onChange={v => p.onChange(put(value ?? {}, n, v))} />
          ))}
        </div>
      )}
    </fieldset>
  )
}

function OneOf(p: FieldProps & { label: string }) {
  const id = useId()
  const forms = p.schema.oneOf ?? []
  const tag = Object.entries(forms[0]?.properties ?? {}).find(([, s]) => s.const)?.[0] ?? 'type'
  const value = (p.value ?? {}) as Value
  const at = forms.find(f => f.properties?.[tag]?.const === value[tag])
  return (
    <fieldset class="group" data-pointer={p.pointer}>
      <legend>{p.label}</legend>
      <div class="fields">
        <div class="field">
          <label for={id}>{words(tag)}</label>
          <select id={id} value={String(value[tag] ?? '')} onChange={e => p.onChange(e.currentTarget.value ? { [tag]: e.currentTarget.value } : undefined)}>
            {!value[tag] && <option value="">Choose…</option>}
            {forms.map(f => <option key={f.properties?.[tag]?.const} value={f.properties?.[tag]?.const}>{words(f.properties?.[tag]?.const ?? '')}</option>)}
          </select>
          <p class="says">{p.settings.errors[p.pointer] ? <strong>{p.settings.errors[p.pointer]}</strong> : p.schema.description}</p>
        </div>
        {Object.entries(at?.properties ?? {}).filter(([n]) => n !== tag).map(([n, s]) => (
          <Field key={n} name={n} pointer={`${p.pointer}/${n}`} schema={s} value={value[n]} required={at?.required?.includes(n) ?? false} settings={p.settings} onChange={v => p.onChange(put(value, n, v))} />
        ))}
      </div>
    </fieldset>
  )
}

function Several(p: FieldProps & { label: string }) {
  const rows = (p.value ?? []) as Value[]
  const items = p.schema.items!
  const set = (next: Value[]) => p.onChange(next.length ? next : undefined)
  const full = rows.length >= (p.schema.maxItems ?? 100)
  return (
    <fieldset class="group" data-pointer={p.pointer}>
      <legend>{p.label}</legend>
      {p.schema.description && <p class="says">{p.settings.errors[p.pointer] ? <strong>{p.settings.errors[p.pointer]}</strong> : p.schema.description}</p>}
      {rows.map((row, i) => (
        <div class="fields several" key={i}>
          {Object.entries(items.properties ?? {}).map(([n, s]) => (
            <Field key={n} name={n} pointer={`${p.pointer}/${i}/${n}`} schema={s} value={row[n]} required={items.required?.includes(n) ?? false} settings={p.settings} onChange={v => set(rows.map((r, at) => (at === i ? put(r, n, v) : r)))} />
          ))}
          <Button small icon="trash" label={`Remove ${p.label} ${i + 1}`} onClick={() => set(rows.filter((_, at) => at !== i))}>Remove</Button>
        </div>
      ))}
      {!full && <Button small icon="plus" onClick={() => set([...rows, initial(items)])}>Add</Button>}
    </fieldset>
  )
}

// initial has of a schema what must be there and is known: constants.
function initial(s: Schema): Value {
  return Object.fromEntries(Object.entries(s.properties ?? {}).filter(([, of]) => of.const !== undefined).map(([n, of]) => [n, of.const]))
}

// emptied gives what a form had and has no more, as a PATCH takes it away.
export function emptied(before: Value, sent: Value): Value {
  const full = (v: unknown) => (typeof v === 'string' ? v !== '' : typeof v === 'object' && v !== null && Object.keys(v).length > 0)
  const gone = Object.entries(before).filter(([n, v]) => sent[n] === undefined && full(v))
  return Object.fromEntries(gone.map(([n, v]) => [n, n === 'registry' ? null : typeof v === 'string' ? '' : Array.isArray(v) ? [] : {}]))
}

// clean leaves out what was left empty.
function clean(v: unknown, s: Schema): unknown {
  if (v === null || typeof v !== 'object' || Array.isArray(v) || isRaw(v)) return v
  const made: Value = {}
  for (const [n, of] of Object.entries(v as Value)) {
    const below = s.properties?.[n]
    const one = below ? clean(of, below) : of
    if (one === undefined || (below && one === '')) continue // a value of a map may be empty
    made[n] = one
  }
  return made
}
