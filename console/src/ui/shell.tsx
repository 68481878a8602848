// A shell in a pod. The terminal is loaded when the first one is opened.
import { useEffect, useRef, useState } from 'preact/hooks'
import { keyFor } from '../api'
import { Button, Empty } from './bits'

const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 }

const base64url = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')

export function Shell({ pod }: { pod: string }) {
  const box = useRef<HTMLDivElement>(null)
  const [ended, setEnded] = useState<string | null>(null)
  const [round, setRound] = useState(0)
  useEffect(() => {
    let gone = false
    let end = () => {}
    setEnded(null)
    void import('./terminal').then(({ openTerminal }) => {
      if (gone || !box.current) return
      const { terminal, fit, close } = openTerminal(box.current)
      fit()
      const path = `/_berth/pods/${encodeURIComponent(pod)}/exec`
      const query = new URLSearchParams({ tty: 'true', stdin: 'true', width: String(terminal.cols), height: String(terminal.rows) })
      const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}?${query}`, ['berth.exec.v1', `berth.key.${base64url(keyFor(path))}`])
      socket.binaryType = 'arraybuffer'
      const frame = (channel: number, data: Uint8Array) => {
        if (socket.readyState !== WebSocket.OPEN) return
        const all = new Uint8Array(data.length + 1)
        all[0] = channel
        all.set(data, 1)
        socket.send(all)
      }
      const encoder = new TextEncoder()
      let opened = false
      let said = ''
      socket.onopen = () => {
        opened = true
        terminal.focus()
      }
      socket.onmessage = (e: MessageEvent<ArrayBuffer>) => {
        const data = new Uint8Array(e.data)
        if (data[0] === channels.stdout || data[0] === channels.stderr) terminal.write(data.subarray(1))
        else if (data[0] === channels.status) {
          const status = JSON.parse(new TextDecoder().decode(data.subarray(1))) as { exitCode?: number; error?: string }
          said = status.error ?? `The shell ended with ${status.exitCode ?? 0}.`
        }
      }
      socket.onclose = () => gone || setEnded(said || (opened ? 'The connection was closed.' : 'This server, or what the pod runs on, has no shell to give.'))
      terminal.onData((text: string) => frame(channels.stdin, encoder.encode(text)))
      terminal.onBinary((text: string) => frame(channels.stdin, Uint8Array.from(text, c => c.charCodeAt(0))))
      terminal.onResize(({ cols, rows }: { cols: number; rows: number }) => frame(channels.resize, encoder.encode(JSON.stringify({ width: cols, height: rows }))))
      const watch = new ResizeObserver(fit)
      watch.observe(box.current)
      end = () => {
        watch.disconnect()
        socket.close()
        close()
      }
    }).catch(() => gone || setEnded('The terminal cannot be loaded: reload the page, berth may have been replaced.'))
    return () => {
      gone = true
      end()
    }
  }, [pod, round])
  return (
    <div class="stack">
      {ended !== null && <div class="note bar" role="status"><span>{ended}</span><Button small icon="restart" onClick={() => setRound(round + 1)}>Open another</Button></div>}
      <div class="term" ref={box} aria-label={`Shell in ${pod}`} role="group" />
      {ended !== null && <Empty title="From a shell of your own" line={`berth pods exec ${pod} -it -- sh`} />}
    </div>
  )
}
