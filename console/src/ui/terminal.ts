// The terminal, xterm.js. It writes its style sheets into elements of the page, which the Content-Security-Policy of the console
// forbids; what it would write there goes to constructed style sheets, which are scripts' own.
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'

// sheets gives a document whose style elements are empty, and fill a style sheet of their own.
function sheets(): { document: Document; drop: () => void } {
  const made: CSSStyleSheet[] = []
  const style = (): HTMLElement => {
    const sheet = new CSSStyleSheet()
    const element = document.createElement('span')
    element.hidden = true
    made.push(sheet)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    Object.defineProperty(element, 'textContent', { get: () => '', set: (text: string) => sheet.replaceSync(text) })
    return element
  }
  const proxy = new Proxy(document, {
    get(of, name) {
      if (name === 'createElement') return (tag: string, options?: ElementCreationOptions) => (tag === 'style' ? style() : of.createElement(tag, options))
      const value = Reflect.get(of, name, of) as unknown
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(of) : value
    },
  })
  return { document: proxy, drop: () => (document.adoptedStyleSheets = document.adoptedStyleSheets.filter(s => !made.includes(s))) }
}

export function openTerminal(box: HTMLElement): { terminal: Terminal; fit: () => void; close: () => void } {
  const own = sheets()
  const terminal = new Terminal({
    documentOverride: own.document, fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'), fontSize: 13, cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    theme: { background: '#0c1213', foreground: '#d5dedd', cursor: '#52c2c6', selectionBackground: '#2b4a4c' }, screenReaderMode: false, allowProposedApi: false,
  })
  const addon = new FitAddon()
  terminal.loadAddon(addon)
  terminal.open(box)
  return { terminal, fit: () => addon.fit(), close: () => { terminal.dispose(); own.drop() } }
}
