import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { collector } from '../../test/fixtures/cli-run.ts'
import { CliError } from './cli-error.ts'
import type { CliIo } from './io.ts'
import { askSecret } from './secret-prompt.ts'

type Terminal = { readonly io: CliIo; readonly modes: boolean[]; readonly shown: () => string }

function terminal(...typed: readonly string[]): Terminal {
  const modes: boolean[] = []
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (mode: boolean) => modes.push(mode) })
  const { stream, bytes } = collector()
  for (const part of typed) stdin.write(part)
  const io: CliIo = {
    stdin,
    stdout: stream,
    stderr: stream,
    env: {},
    version: '1',
    sleep: async () => {},
    inspectSnapshot: async () => null,
    diagnose: async () => ({ subject: '', checks: [] }),
    verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
  }
  return { io, modes, shown: () => bytes().toString() }
}

const ANSWERS: readonly { name: string; typed: readonly string[]; answer: string }[] = [
  { name: 'up to the return key', typed: ['abc\rd'], answer: 'abc' },
  { name: 'a line feed', typed: ['abc\n'], answer: 'abc' },
  { name: 'in pieces', typed: ['a', 'b', 'c', '\r'], answer: 'abc' },
  { name: 'a letter taken back', typed: ['abx\u007fc\r'], answer: 'abc' },
  { name: 'more taken back than there is', typed: ['x\u0008\u0008abc\r'], answer: 'abc' },
  { name: 'the line cleared', typed: ['wrong\u0015abc\r'], answer: 'abc' },
  { name: 'blanks around it', typed: [' abc \r'], answer: 'abc' },
]

for (const { name, typed, answer } of ANSWERS) {
  test(`secret prompt: ${name}`, async () => {
    const { io, modes, shown } = terminal(...typed)
    assert.equal(await askSecret(io, 'Unseal Key'), answer)
    assert.deepEqual(modes, [true, false])
    assert.equal(shown(), 'Unseal Key (will be hidden): \n')
  })
}

for (const key of ['\u0003', '\u0004']) {
  test(`secret prompt: ${JSON.stringify(key)} ends it, and the terminal shows what is typed again`, async () => {
    const { io, modes } = terminal(`abc${key}`)
    await assert.rejects(askSecret(io, 'Unseal Key'), new CliError('Nothing was entered'))
    assert.deepEqual(modes, [true, false])
  })
}

test('secret prompt: a terminal that cannot hide is not asked', async () => {
  const { io, shown } = terminal('abc\r')
  const stdin = new PassThrough()
  await assert.rejects(askSecret({ ...io, stdin }, 'Unseal Key'), /hand the Unseal Key in on standard input/)
  assert.equal(shown(), '')
})
