import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, test } from 'node:test'
import { linkDigest } from '../crypto/primitives/digest.ts'
import { importSigningKey, newSigningKey, publicKeyText, signText } from '../crypto/signatures/text-signature.ts'
import { type EntryType, LineStream, MOST_UNSIGNED_LINES } from './line-stream.ts'
import { type AuditVerifyReport, type ServerChain, Verification } from './verify.ts'

const signingKey = importSigningKey(newSigningKey(randomBytes))
const publicKey = publicKeyText(signingKey)
const other = importSigningKey(newSigningKey(randomBytes))
let time = 0

function newStream(id: string, { prefix = '', isMidLine = false, key = signingKey } = {}): LineStream {
  const parts = {
    id: id.padEnd(16, '0'),
    prefix,
    time: () => new Date(time++).toISOString(),
    sign: (text: string) => signText(key, text),
  }
  return new LineStream(parts, isMidLine)
}

const START = (key = publicKey, found = '') =>
  `,"device":"file/","thread":"serving","public_key":"${key}","found":[${found}]`

/** Lines that are stored, all of them or only so many bytes. */
function store(stream: LineStream, bytes = stream.length): string {
  const text = stream.gathered.subarray(0, bytes).toString('latin1')
  stream.settle(bytes)
  return text
}

function entry(stream: LineStream, text: string, type: EntryType = 'request'): void {
  stream.append(type, `"request":{"path":"${text}"}`, ',"extra":1')
}

function verify(
  text: string,
  options: ConstructorParameters<typeof Verification>[0] = { publicKey },
): AuditVerifyReport {
  const verification = new Verification(options)
  const lines = text.split('\n')
  const rest = lines.pop() as string
  for (const [at, line] of lines.entries()) verification.take(Buffer.from(line, 'latin1'), `log:${at + 1}`)
  if (rest !== '') verification.take(Buffer.from(rest, 'latin1'), `log:${lines.length + 1}`)
  return verification.finish()
}

/** Two chains, as two threads write them into one file: both with their ends. */
function sampleLog(prefix = ''): string {
  const one = newStream('A', { prefix })
  const two = newStream('B', { prefix })
  let log = ''
  one.mark('start', START())
  log += store(one)
  two.mark('start', START())
  entry(two, 'b1')
  log += store(two)
  entry(one, 'a1')
  entry(one, 'a1', 'response')
  log += store(one)
  entry(two, 'b2', 'response')
  log += store(two)
  one.mark('checkpoint')
  entry(one, 'a2')
  log += store(one)
  two.mark('reopen')
  two.mark('end')
  log += store(two)
  one.mark('end')
  return log + store(one)
}

/** One chain with a line of each kind; short, since changing each of its characters costs its length squared. */
function everyKindOfLine(): string {
  const stream = newStream('A')
  stream.mark('start', START())
  entry(stream, 'a1')
  entry(stream, 'a1', 'response')
  stream.mark('checkpoint')
  stream.mark('reopen')
  stream.mark('end')
  return store(stream)
}

let log: string
let lines: string[]
before(() => {
  log = sampleLog()
  lines = log.slice(0, -1).split('\n')
})

const joined = (some: readonly string[]): string => some.map((line) => `${line}\n`).join('')

test('P-38: an untouched log has no fault, with a prefix or none', () => {
  for (const text of [log, sampleLog('audit: ')]) {
    const { faults, notes, chains, entries } = verify(text)
    assert.deepEqual([faults, notes], [[], []])
    assert.equal(entries, 5)
    assert.deepEqual(
      chains.map(({ state, entries: count, unsigned, device }) => [state, count, unsigned, device]),
      [
        ['complete', 3, 0, 'file/'],
        ['complete', 2, 0, 'file/'],
      ],
    )
  }
})

test('P-38: every line that is taken away is missed', () => {
  for (const [at] of lines.entries()) {
    const { faults } = verify(joined(lines.toSpliced(at, 1)))
    assert.notDeepEqual(faults, [], `line ${at + 1}`)
  }
})

test('P-38: every character that is changed is found', () => {
  const each = everyKindOfLine()
  assert.deepEqual(verify(each).faults, [])
  for (let at = 0; at < each.length; at++) {
    for (const character of [each[at] === 'x' ? 'y' : 'x', '\n']) {
      if (each[at] === character) continue
      const { faults } = verify(each.slice(0, at) + character + each.slice(at + 1))
      assert.notDeepEqual(faults, [], `character ${at}, ${JSON.stringify(each.slice(at - 20, at + 20))}`)
    }
  }
})

test('P-38: nothing can be put behind the signature of the last line, or into any other', () => {
  for (const [at, line] of lines.entries()) {
    for (const end of [',"entries":0}', ' }', '} ']) {
      const { faults } = verify(joined(lines.with(at, line.slice(0, -1) + end)))
      assert.notDeepEqual(faults, [], `line ${at + 1}`)
    }
  }
})

test('P-38: two lines that change places are found', () => {
  const chainOf = (line: string): string => /"stream":"(\w+)"/.exec(line)?.[1] ?? ''
  for (const [one] of lines.entries()) {
    for (const [two] of lines.entries()) {
      if (two <= one) continue
      const swapped = lines.with(one, lines[two] as string).with(two, lines[one] as string)
      // If no line passes another of its own chain, nothing has changed.
      const order = (some: readonly string[], chain: string) => some.filter((line) => chainOf(line) === chain)
      const isSame = ['A', 'B'].every((id) => {
        const chain = id.padEnd(16, '0')
        return order(lines, chain).join() === order(swapped, chain).join()
      })
      assert.equal(verify(joined(swapped)).faults.length === 0, isSame, `lines ${one + 1} and ${two + 1}`)
    }
  }
})

test('P-38: a line that is put in, or stands twice, is found', () => {
  const foreign = lines[4] as string
  const inserted = [
    ...lines,
    foreign.replace('"a1"', '"a9"'),
    foreign.replace(/"stream":"\w+"/, '"stream":"CCCCCCCCCCCCCCCC"'),
    foreign
      .replace(/"seq":\d+,"prev":"[^"]*"/, '"seq":0,"prev":""')
      .replace(/"stream":"\w+"/, '"stream":"CCCCCCCCCCCCCCCC"'),
    '{"type":"request"}',
    'anything',
    '{',
  ]
  for (const line of inserted) {
    for (let at = 0; at <= lines.length; at++) {
      assert.notDeepEqual(verify(joined(lines.toSpliced(at, 0, line))).faults, [], `${line} at ${at}`)
    }
  }
})

test('P-38: the faults name line and kind', () => {
  const changed = joined(lines.with(3, (lines[3] as string).replace('"a1"', '"a9"')))
  assert.deepEqual(verify(changed).faults, [
    'log:4: a line of chain A000000000000000 was changed: the one behind it names another',
  ])
  const unlinked = joined(
    lines.with(
      4,
      (lines[4] as string).replace(/(?<="prev":")./, (one) => (one === '_' ? '-' : '_')),
    ),
  )
  assert.deepEqual(verify(unlinked).faults, ['log:5: a line of chain A000000000000000 was changed'])
  assert.deepEqual(verify(joined(lines.toSpliced(3, 1))).faults, [
    'log:4: line 1 of chain A000000000000000 missing before it',
  ])
})

test('P-38: chains that somebody made anew are found by the key, and only noted without it', () => {
  const forger = newStream('A', { key: other })
  forger.mark('start', START(publicKeyText(other)))
  entry(forger, 'a1')
  forger.mark('end')
  const forged = store(forger)
  assert.equal(verify(forged).faults.length, 2)
  const { faults, notes } = verify(forged, {})
  assert.deepEqual(faults, [])
  assert.match(notes.join(), /no public key was given/)
})

test('P-38: a chain made anew between two signatures is found', () => {
  const one = newStream('A')
  one.mark('start', START())
  const start = store(one)
  entry(one, 'a1')
  entry(one, 'a2')
  store(one)
  one.mark('end')
  const end = store(one)
  // The forger has no key, but knows how links are made.
  const relinked = newStream('A', { key: other })
  relinked.mark('start', START())
  store(relinked)
  entry(relinked, 'a1')
  entry(relinked, 'a9')
  assert.notDeepEqual(verify(start + store(relinked) + end).faults, [])
})

test('a chain without an end is a fault, unless the files are a part', () => {
  const open = joined(lines.slice(0, -1))
  assert.match(verify(open).faults.join(), /log:8: chain A0+ has no end behind number 4: .* 1 of its last lines/)
  const part = verify(open, { publicKey, isPart: true })
  assert.deepEqual(part.faults, [])
  assert.deepEqual(
    part.chains.map(({ state }) => state),
    ['open', 'complete'],
  )
  const late = verify(joined(lines.slice(1)), { publicKey, isPart: true })
  assert.deepEqual(late.faults, [])
  assert.deepEqual(
    late.chains.map(({ state }) => state),
    ['complete', 'part'],
  )
})

test('what the server tells finds an end that was cut off, and one that was changed', () => {
  const one = newStream('A')
  one.mark('start', START())
  entry(one, 'a1')
  entry(one, 'the last of all')
  const running = store(one)
  const head: ServerChain = { stream: one.id, device: 'file/', seq: 2, hash: one.head.last, ended: false }
  const check = (text: string, server: readonly ServerChain[] = [head]) => verify(text, { publicKey, server })
  assert.deepEqual(check(running).faults, [])
  assert.equal(check(running).chains[0]?.state, 'running')
  const cut = check(joined(running.split('\n').slice(0, 2)))
  assert.match(cut.faults.join(), /the server wrote chain A0+ up to number 2, the log ends at 1/)
  assert.match(
    check(running.replace('the last of all', 'the last of one')).faults.join(),
    /log:3: the server wrote another line here/,
  )
  const gone: ServerChain = { ...head, stream: 'Z'.repeat(16) }
  assert.match(check(running, [head, gone]).faults.join(), /chain Z+ up to number 2, the log has nothing of it/)
  assert.deepEqual(check(running, [head, { ...gone, device: 'socket/' }]).faults, [])
})

test('a start vouches for the ends that it found', () => {
  const killed = newStream('A')
  killed.mark('start', START())
  entry(killed, 'a1')
  entry(killed, 'a2')
  const before = store(killed)
  const next = newStream('B')
  next.mark('start', START(publicKey, `{"stream":"${killed.id}","seq":2,"hash":"${killed.head.last}"}`))
  next.mark('end')
  const after = store(next)
  const part = { publicKey, isPart: true }
  assert.deepEqual(verify(before + after, part).faults, [])
  const cut = joined(before.split('\n').slice(0, 2))
  assert.match(verify(cut + after, part).faults.join(), /lines 2 to 2 of chain A0+ missing before it/)
  assert.match(verify(before.replace('a2', 'a9') + after, part).faults.join(), /a line of chain A0+ was changed/)
  assert.match(verify(after).faults.join(), /chain A0+ was in the log when this line was written/)
})

test('F-04: a write that was cut short leaves every later line readable, and is told', () => {
  const one = newStream('A')
  one.mark('start', START())
  let text = store(one)
  entry(one, 'a1')
  entry(one, 'a2')
  entry(one, 'a3')
  const whole = one.gathered.indexOf('\n') + 1
  // The first is stored, the second in part, the third not at all.
  text += store(one, whole + 40)
  assert.equal(one.head.seq, 2)
  entry(one, 'a4')
  text += store(one, 0)
  entry(one, 'a5')
  text += store(one)
  one.mark('end')
  text += store(one)
  const { faults, entries, chains } = verify(text)
  assert.deepEqual(faults, [])
  assert.equal(entries, 2)
  assert.equal(chains[0]?.state, 'complete')
  assert.match(text, /"event":"lost","entries":3,"torn":\[\{"bytes":40,"sha256":"[\w-]{43}"\}\]/)
  assert.equal(
    text.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}')).length,
    text.trim().split('\n').length - 1,
  )
  // A changed piece, or one cut from another line, is found.
  const at = text.indexOf('\n', text.indexOf('a1')) + 10
  assert.notDeepEqual(verify(text.slice(0, at) + text.slice(at + 1)).faults, [])
})

test('a short write of every length is told, and only what is whole counts', () => {
  const build = (bytes: number): string => {
    time = 0
    const one = newStream('A')
    one.mark('start', START())
    let text = store(one)
    entry(one, 'a1')
    entry(one, 'a2')
    text += store(one, Math.min(bytes, one.length))
    entry(one, 'a3')
    const again = one.length
    text += store(one, Math.min(bytes >> 1, again))
    entry(one, 'a4')
    one.mark('end')
    return text + store(one)
  }
  for (let bytes = 0; bytes < 600; bytes++) assert.deepEqual(verify(build(bytes)).faults, [], `${bytes} bytes`)
})

test('a line of another thread behind a piece without a newline is found and read', () => {
  const one = newStream('A')
  const two = newStream('B')
  one.mark('start', START())
  two.mark('start', START())
  let text = store(one) + store(two)
  for (const cut of [1, 5, 30, 100, 150]) {
    entry(one, 'a1')
    text += store(one, cut)
    entry(two, 'b1')
    text += store(two)
    entry(one, 'a2')
    text += store(one)
  }
  one.mark('end')
  two.mark('end')
  text += store(one) + store(two)
  const { faults, entries } = verify(text)
  assert.deepEqual(faults, [])
  assert.equal(entries, 10)
})

test('the piece that a killed server left behind is told from one that was put there', () => {
  const killed = newStream('A')
  killed.mark('start', START())
  const text = store(killed)
  entry(killed, 'a1')
  const line = store(killed)
  const next = newStream('B', { isMidLine: true })
  next.mark(
    'start',
    START(publicKey, `{"stream":"${killed.id}","seq":0,"hash":"${linkDigest(Buffer.from(text.trim()))}"}`),
  )
  next.mark('end')
  const after = store(next)
  const part = { publicKey, isPart: true }
  for (let cut = 1; cut < line.length - 1; cut++) {
    const { faults, notes } = verify(text + line.slice(0, cut) + after, part)
    assert.deepEqual(faults, [], `cut at ${cut}`)
    assert.match(notes.join(), /that was being written when the server ended/)
  }
  const foreign = line.replace('"seq":1', '"seq":7').slice(0, 150)
  assert.match(verify(text + foreign + after, part).faults.join(), /this is no line of an audit log/)
})

test('nothing at all is a fault, and a bad key is refused', () => {
  assert.deepEqual(verify('').faults, ['there is no line of an audit log'])
  assert.throws(() => new Verification({ publicKey: 'AAAA' }), /32 bytes/)
})

const part = { publicKey, isPart: true }

test('P-38: with a key, what no signature covers is told, and a longer tail than a server leaves is a fault', () => {
  const killed = newStream('A')
  killed.mark('start', START())
  entry(killed, 'a1')
  entry(killed, 'a2')
  const text = store(killed)
  const open = verify(text, part)
  assert.deepEqual(open.faults, [])
  assert.match(open.unsigned.join(), /log:3: 2 lines at the end of chain A0+, from number 1 on, are covered by no sig/)
  assert.deepEqual(verify(text, { isPart: true }).unsigned, [])
  assert.deepEqual(verify(log).unsigned, [])

  // Links can be made without the key: of a new chain, and after the end of one whose server was killed.
  const forged = (lines: number): string => {
    const stream = newStream('Z', { key: other })
    stream.mark('start', START())
    store(stream)
    let made = ''
    for (let at = 0; at < lines; at++) {
      entry(stream, `z${at}`)
      made += store(stream)
    }
    return made
  }
  const few = verify(log + forged(3), part)
  assert.deepEqual(few.faults, [])
  assert.match(few.unsigned.join(), /3 lines at the end of chain Z0+, from number 1 on/)
})

test('a stream signs before more lines wait for it than a check allows, also where writes fail', () => {
  const one = newStream('A')
  one.mark('start', START())
  let text = store(one)
  for (let at = 0; at < 2.5 * MOST_UNSIGNED_LINES; at++) {
    entry(one, 'a')
    if (at % 7 === 0) text += at % 3 === 0 ? store(one) : store(one, one.length >> 1)
  }
  text += store(one)
  const { faults, unsigned } = verify(text, part)
  assert.deepEqual(faults, [])
  const left = Number(/(\d+) lines at the end/.exec(unsigned.join())?.[1])
  assert.ok(left > 0 && left <= MOST_UNSIGNED_LINES, `${left} lines`)
  assert.ok(text.split('"event":"checkpoint"').length >= 2)
  const longer = newStream('B')
  longer.mark('start', START())
  const start = store(longer)
  // Lines as a program without the key would have written them.
  let prev = longer.head.last
  const lines: string[] = []
  for (let seq = 1; seq <= MOST_UNSIGNED_LINES + 1; seq++) {
    const chain = `{"stream":"${longer.id}","seq":${seq},"prev":"${prev}"}`
    const line = `{"time":"2026-11-22T10:00:00.000Z","chain":${chain},"type":"request","request":{}}`
    prev = linkDigest(Buffer.from(line))
    lines.push(line)
  }
  assert.deepEqual(verify(start + joined(lines.slice(0, -1)), part).faults, [])
  assert.match(verify(start + joined(lines), part).faults.join(), /the last 1001 lines of chain B0+ have no signature/)
})

test('a start that is signed covers the end that it found', () => {
  const killed = newStream('A')
  killed.mark('start', START())
  entry(killed, 'a1')
  const before = store(killed)
  const found = `{"stream":"${killed.id}","seq":1,"hash":"${killed.head.last}"}`
  for (const key of [signingKey, other]) {
    const next = newStream('B', { key })
    next.mark('start', START(publicKey, found))
    next.mark('end')
    const { unsigned } = verify(before + store(next), part)
    assert.equal(
      unsigned.some((one) => one.includes('chain A0')),
      key === other,
    )
  }
})

test('P-38: text in front of a line is what the start of its chain says, or is found', () => {
  const withPrefix = (prefix: string, declared: string | undefined): string => {
    const one = newStream('A', { prefix })
    one.mark('start', (declared === undefined ? '' : `,"prefix":"${declared}"`) + START())
    entry(one, 'a1')
    one.mark('end')
    return store(one)
  }
  for (const prefix of ['', 'audit: ']) {
    const text = withPrefix(prefix, prefix)
    assert.deepEqual([verify(text).faults, verify(text).unsigned], [[], []])
    const [start = '', line = '', end = ''] = text.split('\n')
    for (const changed of [`denied ${line}`, `${prefix}x${line.slice(prefix.length)}`, line.slice(prefix.length)]) {
      if (changed === line) continue
      assert.match(verify(joined([start, changed, end])).faults.join(), /log:2: text in front of a line of chain A0/)
    }
  }
  // A syslog server puts its own in front, which the device cannot know.
  assert.deepEqual(verify(withPrefix('<134>1 host ', undefined)).faults, [])
  assert.match(verify(withPrefix('<134>1 host ', undefined)).unsigned.join(), /text in front of the lines of chain A0/)
})

test('a log that a restore divides is checked with the keys of both sides', () => {
  const one = newStream('A')
  one.mark('start', START())
  one.mark('end')
  const two = newStream('B', { key: other })
  const otherKey = publicKeyText(other)
  two.mark('start', `,"restored":{"at":"2026-11-22T10:00:00.000Z","before":"${publicKey}"}${START(otherKey)}`)
  two.mark('end')
  const text = store(one) + store(two)
  const { faults, notes } = verify(text, { publicKey: `${publicKey},${otherKey}` })
  assert.deepEqual(faults, [])
  assert.match(notes.join(), /chain B0+ is of a state that was restored at 2026-11-22T10:00:00.000Z, before which /)
  assert.ok(notes.join().includes(publicKey))
  assert.match(verify(text).faults.join(), /the signature of chain B0+ does not hold here/)
})
