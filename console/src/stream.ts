// Server-sent events read over fetch, which sends the key in a header; EventSource could not.
import { open } from './api'
import { Parser, type Message } from './parser'

// read calls each with the messages of a stream as they come, those of one piece at once, and seen with where the stream stands, until it ends. A Problem if it cannot be opened.
export async function read(address: string, signal: AbortSignal, each: (messages: Message[]) => void, headers: Record<string, string> = {}, opened?: () => void, seen?: (id: string) => void): Promise<void> {
  const answer = await open('get', address, { signal, headers: { Accept: 'text/event-stream', ...headers } })
  opened?.()
  const parser = new Parser()
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const messages = parser.push(value)
    if (messages.length) each(messages)
    if (parser.lastID) seen?.(parser.lastID)
  }
}
