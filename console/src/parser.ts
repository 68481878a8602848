// Text of server-sent events, cut into messages.

export interface Message {
  id: string
  event: string
  data: string
}

// Parser cuts text that comes in pieces into messages.
export class Parser {
  private rest = ''
  private message: Message = { id: '', event: '', data: '' }
  private some = false
  private id = ''
  lastID = '' // of the last message that is whole

  push(text: string): Message[] {
    const found: Message[] = []
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/)
    this.rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        this.lastID = this.id
        if (this.some) found.push({ ...this.message, id: this.lastID, event: this.message.event || 'message' })
        this.message = { id: '', event: '', data: '' }
        this.some = false
        continue
      }
      const at = line.indexOf(':')
      const name = at < 0 ? line : line.slice(0, at)
      const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '')
      if (name === 'data') {
        this.message.data = this.some ? `${this.message.data}\n${value}` : value
        this.some = true
      } else if (name === 'event') this.message.event = value
      else if (name === 'id') this.id = value
    }
    return found
  }
}
