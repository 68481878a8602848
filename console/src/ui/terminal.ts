// The terminal, xterm.js. It writes style sheets into elements of the page, and styles into attributes, which the Content-Security-Policy
// of the console forbids: what it would write there goes to constructed style sheets and to properties, which are scripts' own. It has
// no option for that, so the page makes its elements for it in another way as long as a terminal is open.
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'

// permitted has the page make elements that write no styles into the document; drop ends it.
function permitted(): { drop: () => void } {
  const made: CSSStyleSheet[] = []
  const create = document.createElement.bind(document) as (tag: string, options?: ElementCreationOptions) => HTMLElement
  const sheet = (): HTMLElement => {
    const own = new CSSStyleSheet()
    const element = create('span')
    element.hidden = true
    made.push(own)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, own]
    Object.defineProperty(element, 'textContent', { get: () => '', set: (text: string) => own.replaceSync(text) })
    return element
  }
  const styled = (element: HTMLElement): HTMLElement => {
    const set = element.setAttribute.bind(element)
    element.setAttribute = (name, value) => (name === 'style' ? void (element.style.cssText = value) : set(name, value))
    return element
  }
  document.createElement = ((tag: string, options?: ElementCreationOptions) => (tag === 'style' ? sheet() : styled(create(tag, options)))) as typeof document.createElement
  return {
    drop: () => {
      delete (document as { createElement?: unknown }).createElement // that of the prototype again
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter(s => !made.includes(s))
    },
  }
}

export function openTerminal(box: HTMLElement): { terminal: Terminal; fit: () => void; close: () => void } {
  const own = permitted()
  const terminal = new Terminal({
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'), fontSize: 13, cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    theme: { background: '#0c1213', foreground: '#d5dedd', cursor: '#52c2c6', selectionBackground: '#2b4a4c' },
  })
  const addon = new FitAddon()
  terminal.loadAddon(addon)
  terminal.open(box)
  return { terminal, fit: () => addon.fit(), close: () => { terminal.dispose(); own.drop() } }
}
