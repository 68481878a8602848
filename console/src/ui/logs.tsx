// Lines of a log as they are written, read from a stream of server-sent events.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../api'
import { read } from '../stream'
import { Button, Choice, Empty, Failure, Loading } from './bits'
import { matches, Search } from './table'

interface Line { n: number; id: string; source: string; text: string }
const most = 5000 // lines that are kept

export function Logs({ address, label, ended }: { address: string; label: string; ended?: boolean }) {
  const [lines, setLines] = useState<Line[] | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [typed, setTyped] = useState('')
  const [source, setSource] = useState<'all' | 'container' | 'system'>('all')
  const [follows, setFollows] = useState(true)
  const [round, setRound] = useState(0)
  const box = useRef<HTMLDivElement>(null)

  useEffect(() => {
    const stop = new AbortController()
    let all: Line[] = []
    let count = 0
    let frame = 0
    let lastID = ''
    setLines(null)
    setError(null)
    const show = () => {
      frame = 0
      setLines([...all])
    }
    const run = async () => {
      for (let tries = 0; !stop.signal.aborted; tries++) {
        try {
          await read(address, stop.signal, messages => {
            all = [...all, ...messages.map(m => ({ n: count++, ...lineOf(m) }))].slice(-most)
            tries = 0
            frame ||= requestAnimationFrame(show)
          }, lastID ? { 'Last-Event-ID': lastID } : {}, () => { setError(null); frame ||= requestAnimationFrame(show) }, id => (lastID = id))
          if (ended) return
        } catch (e) {
          if (stop.signal.aborted) return
          setError(e)
          if (e instanceof Problem && e.status >= 400 && e.status < 500 && e.status !== 429) return
        }
        await new Promise(done => setTimeout(done, Math.min(10_000, 1000 * 2 ** tries)))
      }
    }
    void run()
    return () => {
      stop.abort()
      cancelAnimationFrame(frame)
    }
  }, [address, round])

  useEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines, follows, source, typed])

  const shown = (lines ?? []).filter(l => (source === 'all' || l.source === source) && matches(typed, l.text))
  return (
    <div class="logs">
      <div class="bar">
        <Search value={typed} onInput={setTyped} label="Filter lines" />
        <Choice label="Source" of={[['all', 'All'], ['container', 'Container'], ['system', 'System']]} at={source} onPick={setSource} />
        <Button small pressed={follows} icon={follows ? 'down' : 'pause'} onClick={() => setFollows(!follows)}>Follow</Button>
        <span class="faint num">{shown.length} lines</span>
      </div>
      {error ? <Failure of={error} retry={() => setRound(round + 1)} /> : null}
      {lines === null && !error ? <Loading rows={5} /> : null}
      {lines && !shown.length && !error ? <Empty title={typed || source !== 'all' ? 'No line matches' : 'Nothing was written yet'} /> : null}
      {shown.length > 0 && (
        <div class="lines" ref={box} tabIndex={0} role="log" aria-label={label} aria-live="off" onScroll={e => {
          const b = e.currentTarget
          const atEnd = b.scrollHeight - b.scrollTop - b.clientHeight < 24
          if (follows !== atEnd) setFollows(atEnd)
        }}>
          {shown.map(l => <div key={l.n} class={l.source}><time>{clock(l.id)}</time><span>{l.text}</span></div>)}
        </div>
      )}
    </div>
  )
}

const clock = (id: string): string => /T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(id)?.[1] ?? ''

function lineOf(m: { id: string; event: string; data: string }): Omit<Line, 'n'> {
  try {
    const of = JSON.parse(m.data) as { source: string; line: string; ts: string }
    return { id: of.ts, source: of.source, text: of.line }
  } catch {
    // a line as it is
  }
  return { id: m.id, source: m.event, text: m.data }
}
