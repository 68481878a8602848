// A table of any number of rows, of which those are drawn that are seen. j and k move in it, Enter opens a row.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { go } from '../router'

export interface Column<T> {
  name: string
  width?: string // as a track of a grid; 1fr without it
  right?: boolean // numbers
  less?: boolean // not on a phone
  cell: (row: T) => ComponentChildren
  by?: (row: T) => string | number // what the rows are ordered by; without it they cannot be by this column
}

interface Props<T> {
  label: string
  columns: Column<T>[]
  rows: T[]
  id: (row: T) => string
  to?: (row: T) => string // the address of a row
  onEnd?: () => void // the last row is near: more is to be read
  tall?: boolean // it fills the page and scrolls in itself, as one of very many rows does
  onOpen?: (row: T) => void
}

const rowHeight = 38 // pixels, as in the style sheet
const many = 60 // rows that are drawn as they are
const pool = 128 // rows of a tall table that are drawn at most; those that come into sight take the place of those that went out of it
const spare = 8 // rows that are drawn above and below those that are seen

export function Table<T>(p: Props<T>) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ from: 0, to: 60 })
  const [at, setAt] = useState<string | null>(null)
  const [order, setOrder] = useState<{ name: string; down: boolean } | null>(null)

  const by = order && p.columns.find(c => c.name === order.name)?.by
  const rows = by ? [...p.rows].sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0) * (order.down ? -1 : 1)) : p.rows
  const here = useRef({ rows, at, p })
  here.current = { rows, at, p }

  const look = () => {
    const e = box.current
    if (!e) return
    const from = Math.max(0, Math.floor(e.scrollTop / rowHeight) - spare)
    const to = Math.ceil((e.scrollTop + e.clientHeight) / rowHeight) + spare
    setView(v => (v.from === from && v.to === to ? v : { from, to }))
    if (here.current.rows.length && to >= here.current.rows.length - 20) here.current.p.onEnd?.()
  }

  useEffect(() => {
    look()
    const watch = new ResizeObserver(look)
    if (box.current) watch.observe(box.current)
    return () => watch.disconnect()
  }, [p.rows.length])

  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as Element).tagName) || document.querySelector('dialog[open]')) return
      if (e.key !== 'j' && e.key !== 'k' && e.key !== 'Enter') return
      const { rows, at, p } = here.current
      if (document.querySelector('.table') !== box.current) return // the first one of the page
      const was = rows.findIndex(r => p.id(r) === at)
      if (e.key === 'Enter') {
        if (was >= 0 && (e.target === document.body || (e.target as Element).id === 'main')) p.onOpen ? p.onOpen(rows[was]!) : p.to && go(p.to(rows[was]!))
        return
      }
      const next = Math.min(rows.length - 1, Math.max(0, was + (e.key === 'j' ? 1 : -1)))
      if (!rows[next]) return
      setAt(p.id(rows[next]!))
      const e2 = box.current!
      const top = next * rowHeight
      if (top < e2.scrollTop) e2.scrollTop = top
      else if (top + rowHeight * 2 > e2.scrollTop + e2.clientHeight) e2.scrollTop = top + rowHeight * 2 - e2.clientHeight
      const rect = e2.querySelector(`[data-row="${CSS.escape(p.id(rows[next]!))}"]`)?.getBoundingClientRect()
      if (rect && (rect.bottom > innerHeight || rect.top < 60)) document.getElementById('main')?.scrollBy(0, rect.bottom > innerHeight ? rowHeight : -rowHeight)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])

  const tracks = p.columns.map(c => c.width ?? 'minmax(0, 1fr)').join(' ')
  const fewer = p.columns.filter(c => !c.less).map(c => (c.width ?? 'minmax(0, 1fr)').replace(/minmax\(\d+px/, 'minmax(70px')).join(' ')
  const tall = p.tall || rows.length > many
  const from = Math.min(view.from, Math.max(0, rows.length - 1))
  const to = Math.min(rows.length, view.to, tall ? from + pool : Infinity)
  const cells = (c: Column<T>) => `cell${c.right ? ' right' : ''}${c.less ? ' less' : ''}`
  const sort = (c: Column<T>) => setOrder(o => (o?.name !== c.name ? { name: c.name, down: false } : o.down ? null : { name: c.name, down: true }))

  return (
    <div class={tall ? 'table tall' : 'table'} role="table" aria-label={p.label} aria-rowcount={rows.length + 1} ref={box} onScroll={look} tabIndex={tall ? 0 : undefined} style={{ '--tracks': tracks, '--fewer': fewer }}>
      <div role="rowgroup" class="heads">
        <div role="row" class="row" aria-rowindex={1}>
          {p.columns.map(c => (
            <div key={c.name} role="columnheader" class={cells(c)} aria-sort={order?.name === c.name ? (order.down ? 'descending' : 'ascending') : undefined}>
              {c.by ? <button type="button" onClick={() => sort(c)}>{c.name}<span aria-hidden="true">{order?.name === c.name ? (order.down ? ' ↓' : ' ↑') : ''}</span></button> : c.name}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="rows" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(from, to).map((row, i) => {
          const id = p.id(row)
          return (
            <div key={tall ? (from + i) % pool : id} role="row" class="row" data-row={id} aria-rowindex={from + i + 2} aria-current={id === at ? 'true' : undefined} style={{ top: `${(from + i) * rowHeight}px` }}
              onClick={e => {
                if ((e.target as Element).closest('a, button, input, select, label') || getSelection()?.toString()) return
                if (p.onOpen) p.onOpen(row)
                else if (p.to) go(p.to(row))
              }}>
              {p.columns.map((c, n) => (
                <div key={c.name} role="cell" class={cells(c)}>
                  {n === 0 && p.to ? <a href={p.to(row)}>{c.cell(row)}</a> : n === 0 && p.onOpen ? <button type="button" class="link" onClick={() => p.onOpen!(row)}>{c.cell(row)}</button> : c.cell(row)}
                </div>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}

// Search filters what is shown; / puts the cursor there.
export function Search({ value, onInput, label }: { value: string; onInput: (v: string) => void; label: string }) {
  return <input class="search" type="search" value={value} placeholder={`${label} (/)`} aria-label={label} data-search onInput={e => onInput(e.currentTarget.value)} onKeyDown={e => e.key === 'Escape' && (onInput(''), e.currentTarget.blur())} />
}

// matches reports whether any of the texts has what was typed in it.
export const matches = (typed: string, ...texts: (string | null | undefined)[]): boolean => !typed || texts.some(t => t?.toLowerCase().includes(typed.toLowerCase()))
