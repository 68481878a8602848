import { describe, expect, it } from 'vitest'
import { ago, bytes, firstLine, span, usd, words } from '../format'
import { Parser } from '../parser'

describe('spans', () => {
  it.each([[0, '0 ms'], [999, '999 ms'], [1000, '1.0 s'], [59_400, '59 s'], [60_000, '1 min'], [95_000, '1 min 35 s'], [3_600_000, '1 h'], [3_900_000, '1 h 5 min'], [90_000_000, '1 d 1 h'], [-5, '0 ms']])('%d is %s', (ms, text) => {
    expect(span(ms)).toBe(text)
  })
  it('tell past from future', () => {
    expect(ago(1_000_000, 1_005_400)).toBe('5.0 s ago')
    expect(ago(1_065_000, 1_000_000)).toBe('in 1 min 5 s')
    expect(ago('1970-01-01T00:16:40Z', 1_000_300)).toBe('just now')
  })
})

describe('amounts', () => {
  it.each([[0, '$0.00'], [0.08, '$0.08'], [0.0684, '$0.0684'], [0.3, '$0.30'], [1234.5, '$1,234.50'], [0.00001, '< $0.0001']])('%d is %s', (n, text) => {
    expect(usd(n)).toBe(text)
  })
  it('of bytes', () => expect([bytes(16), bytes(2048), bytes(5_000_000)]).toEqual(['16 B', '2.0 KB', '4.8 MB']))
})

describe('words', () => {
  it.each([['IN_PROGRESS', 'In progress'], ['queueDelay', 'Queue delay'], ['no_room', 'No room'], ['dataCenterIds', 'Data center IDs'], ['vcpuCount', 'vCPU count']])('%s reads %s', (name, text) => {
    expect(words(name)).toBe(text)
  })
  it('of an error that is JSON, cut off too', () => {
    expect(firstLine('{"error_type":"E","error_message":"no \\"x\\"\\nmore","error_tr')).toBe('no "x"')
    expect(firstLine('plain\nmore')).toBe('plain')
    expect(firstLine(undefined)).toBe('')
  })
})

describe('server-sent events', () => {
  const whole = ': here\nid: a-1\n\nid: a-2\nevent: pod\ndata: {"id":\ndata: 1}\n\nretry: 5\ndata:x\r\n\r\n'
  it('are the same however the text is cut', () => {
    const want = [{ id: 'a-2', event: 'pod', data: '{"id":\n1}' }, { id: 'a-2', event: 'message', data: 'x' }]
    for (let at = 0; at <= whole.length; at++) {
      const parser = new Parser()
      expect([...parser.push(whole.slice(0, at)), ...parser.push(whole.slice(at))]).toEqual(want)
    }
  })
  it('keep the id of a message without data, to go on from', () => {
    const parser = new Parser()
    expect(parser.push('id: k-7\n\n')).toEqual([])
    expect(parser.lastID).toBe('k-7')
  })
})
