// Charts, drawn as SVG: lines over time, in steps where a value holds until the next one, areas, and bars of several parts.
import { useId, useRef, useState } from 'preact/hooks'
import { short, stamp } from '../format'

export interface Series {
  name: string
  tone: string // a class of the style sheet
  values: number[]
}

interface Props {
  label: string
  at: number[] // times, in milliseconds
  series: Series[]
  until?: number
  write?: (n: number) => string
  steps?: boolean
  height?: number
  most?: number // the highest that a value can be; without it, the highest there is
}

// nice gives a round number from n upwards.
export function nice(n: number): number {
  if (n <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(n))
  return ([1, 2, 2.5, 5, 10].find(step => step * power >= n) ?? 10) * power
}

const width = 600

export function Lines(p: Props) {
  const [here, setHere] = useState<number | null>(null)
  const box = useRef<SVGSVGElement>(null)
  const id = useId()
  const write = p.write ?? short
  const height = p.height ?? 120
  const from = p.at[0] ?? 0
  const until = Math.max(p.until ?? 0, p.at[p.at.length - 1] ?? 0, from + 1)
  const most = p.most ?? nice(Math.max(1, ...p.series.flatMap(s => s.values)))
  const x = (t: number) => ((t - from) / (until - from)) * width
  const y = (v: number) => height - 2 - (v / most) * (height - 8)

  const line = (values: number[]) => {
    let d = ''
    values.forEach((v, i) => {
      const px = x(p.at[i]!).toFixed(1)
      d += i === 0 ? `M${px} ${y(v).toFixed(1)}` : p.steps ? `H${px}V${y(v).toFixed(1)}` : `L${px} ${y(v).toFixed(1)}`
    })
    return d && `${d}H${width}`
  }
  const point = (e: PointerEvent) => {
    const rect = box.current!.getBoundingClientRect()
    const t = from + ((e.clientX - rect.left) / rect.width) * (until - from)
    let at = p.at.findIndex(one => one > t)
    if (at < 0) at = p.at.length
    setHere(Math.max(0, at - 1))
  }
  const last = p.at.length - 1
  const shown = here ?? last
  return (
    <figure class="chart" aria-label={p.label}>
      <figcaption>
        <span class="strong">{p.label}</span>
        <span class="legend">{p.series.map(s => <span key={s.name}><i class={s.tone} aria-hidden="true" />{s.name} <b>{write(s.values[shown] ?? 0)}</b></span>)}</span>
      </figcaption>
      <div class="plot">
        <svg ref={box} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-labelledby={id} onPointerMove={point} onPointerLeave={() => setHere(null)} height={height}>
          <title id={id}>{`${p.label}: ${p.series.map(s => `${s.name} ${write(s.values[last] ?? 0)}`).join(', ')}`}</title>
          <path class="grid" d={`M0 ${y(0)}H${width}M0 ${y(most / 2)}H${width}M0 ${y(most)}H${width}`} />
          {p.series.map(s => {
            const d = line(s.values)
            return d && <g key={s.name} class={s.tone}><path class="area" d={`${d}V${y(0)}H${x(from)}Z`} /><path class="line" d={d} /></g>
          })}
          {here !== null && p.at[here] !== undefined && <path class="here" d={`M${x(p.at[here]!)} 0V${height}`} />}
        </svg>
        <span class="high faint">{write(most)}</span>
      </div>
      <p class="axis faint"><span>{from ? stamp(from) : ''}</span><span>{here !== null && p.at[here] ? stamp(p.at[here]!) : ''}</span><span>{from ? 'now' : ''}</span></p>
    </figure>
  )
}

// Spark is a line without words, beside a figure that says its last value.
export function Spark({ values, tone }: { values: number[]; tone: string }) {
  if (values.length < 2) return <svg class="spark" aria-hidden="true" />
  const most = Math.max(1, ...values)
  const d = values.map((v, i) => `${i ? 'L' : 'M'}${((i / (values.length - 1)) * 100).toFixed(1)} ${(29 - (v / most) * 26).toFixed(1)}`).join('')
  return <svg class={`spark ${tone}`} viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true"><path class="area" d={`${d}V30H0Z`} /><path class="line" d={d} /></svg>
}

export interface Bar { label: string; parts: number[] }

// Bars has a bar for each time, of parts one over the other.
export function Bars({ label, names, tones, bars, write }: { label: string; names: string[]; tones: string[]; bars: Bar[]; write: (n: number) => string }) {
  const [here, setHere] = useState<number | null>(null)
  const id = useId()
  const height = 180
  const most = nice(Math.max(0.0001, ...bars.map(b => b.parts.reduce((a, n) => a + n, 0))))
  const step = width / Math.max(1, bars.length)
  const shown = here === null ? null : bars[here]
  const sum = (i: number) => bars.reduce((a, b) => a + (b.parts[i] ?? 0), 0)
  return (
    <figure class="chart" aria-label={label}>
      <figcaption>
        <span class="strong">{label}{shown ? ` · ${shown.label}` : ''}</span>
        <span class="legend">{names.map((n, i) => <span key={n}><i class={tones[i]} aria-hidden="true" />{n} <b>{write(shown ? (shown.parts[i] ?? 0) : sum(i))}</b></span>)}</span>
      </figcaption>
      <div class="plot">
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-labelledby={id} height={height} onPointerLeave={() => setHere(null)}>
          <title id={id}>{`${label}: ${names.map((n, i) => `${n} ${write(sum(i))}`).join(', ')}`}</title>
          <path class="grid" d={`M0 ${height - 1}H${width}M0 ${height / 2}H${width}M0 4H${width}`} />
          {bars.map((b, n) => {
            let top = height - 1
            return (
              <g key={b.label} onPointerEnter={() => setHere(n)}>
                <rect x={n * step} y={0} width={step} height={height} class={here === n ? 'under seen' : 'under'} />
                {b.parts.map((v, i) => {
                  const h = (v / most) * (height - 5)
                  top -= h
                  return h > 0 ? <rect key={i} class={`bar ${tones[i]}`} x={n * step + step * 0.14} width={step * 0.72} y={top} height={h} rx={Math.min(1.5, h / 2)} /> : null
                })}
              </g>
            )
          })}
        </svg>
        <span class="high faint">{write(most)}</span>
      </div>
      <p class="axis faint"><span>{bars[0]?.label}</span><span>{bars[bars.length - 1]?.label}</span></p>
    </figure>
  )
}

// Meter shows a share of a whole, with its figures.
export function Meter({ label, used, of, write }: { label: string; used: number; of: number; write?: (n: number) => string }) {
  const share = of > 0 ? Math.min(1, Math.max(0, used / of)) : 0
  const w = write ?? short
  return (
    <div class="meter">
      <span>{label}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="under" width="100" height="6" /><rect class={share > 0.9 ? 'bad' : share > 0.7 ? 'wait' : 'accent'} width={share * 100} height="6" /></svg>
      <span class="num">{w(used)} <span class="faint">of {w(of)}</span></span>
    </div>
  )
}
