import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { runClient } from '../../test/fixtures/cli-run.ts'
import { runCli } from './cli.ts'
import { type Command, type CommandNode, isGroup } from './command.ts'
import { COMMANDS } from './commands.ts'

type Placed = { readonly words: readonly string[]; readonly node: CommandNode }

function place(node: CommandNode, words: readonly string[]): Placed[] {
  const inner = isGroup(node) ? node.members.flatMap((member) => place(member, [...words, member.name])) : []
  return [{ words, node }, ...inner]
}

const ALL = place(COMMANDS, [])

for (const { words, node } of ALL) {
  const name = ['keywright', ...words].join(' ')
  test(`help: ${name} has the same at every door`, async () => {
    const doors = [
      [...words, '-h'],
      [...words, '-help'],
      [...words, '--help'],
      ['help', ...words],
      ['-h', ...words],
    ]
    const first = await runClient([...words, '-h'])
    assert.ok(first.stdout.startsWith(`Usage: ${name}`), first.stdout)
    for (const door of doors) assert.deepEqual(await runClient(door), { ...first, code: 0, stderr: '' })
    const names = isGroup(node)
      ? node.members.map((member) => member.name)
      : Object.keys(node.options).map((each) => `-${each}`)
    for (const each of names) assert.ok(first.stdout.includes(each), each)
    for (const line of first.stdout.split('\n')) assert.ok(line.length <= 120, line)
  })
}

for (const { words, node } of ALL.filter(({ node }) => !isGroup(node))) {
  test(`help: the examples of ${words.join(' ')} are commands of it, with options that it has`, async () => {
    for (const example of (node as Command).examples) {
      assert.ok(`${example} `.startsWith(`${words.join(' ')} `), example)
      const options = example
        .split(' ')
        .filter((word) => word.startsWith('-') && word !== '-' && !word.startsWith('-w'))
      const { code, stderr } = await runClient([...words, ...options, '-h'])
      assert.deepEqual([code, stderr], [0, ''], example)
    }
  })
}

for (const words of [[], ['operator'], ['transit'], ['-format=json']]) {
  test(`no command after "${words.join(' ')}": the help goes to standard error, exit code 1`, async () => {
    const { code, stdout, stderr } = await runClient(words)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Usage: keywright/)
  })
}

for (const argv of [['version'], ['-v'], ['-version'], ['--version']]) {
  test(`version: ${argv.join(' ')}`, async () => {
    const { code, stdout } = await runClient(argv)
    assert.deepEqual([code, stdout], [0, 'Keywright v1.2.3\n'])
  })
}

const REFUSED: readonly { argv: readonly string[]; stderr: string }[] = [
  {
    argv: ['raed', 'x'],
    stderr: 'keywright: there is no command raed, did you mean read?\n"keywright -h" shows how it is used.\n',
  },
  { argv: ['xyzzy'], stderr: 'keywright: there is no command xyzzy\n"keywright -h" shows how it is used.\n' },
  {
    argv: ['servre'],
    stderr: 'keywright: there is no command servre, did you mean server?\n"keywright -h" shows how it is used.\n',
  },
  { argv: ['help', 'server'], stderr: 'keywright: try `keywright server -h`\n"keywright -h" shows how it is used.\n' },
  {
    argv: ['operator', 'unsael'],
    stderr:
      'keywright operator: there is no command operator unsael, did you mean unseal?\n' +
      '"keywright operator -h" shows how it is used.\n',
  },
  {
    argv: ['-tokne=s.ecret', 'read', 'x'],
    stderr: 'keywright: unknown option -tokne, did you mean -token?\n"keywright -h" shows how it is used.\n',
  },
  {
    argv: ['read', 'x', '-formt=json'],
    stderr: 'keywright read: unknown option -formt, did you mean -format?\n"keywright read -h" shows how it is used.\n',
  },
  { argv: ['read'], stderr: 'keywright read: PATH is missing\n"keywright read -h" shows how it is used.\n' },
  {
    argv: ['list', 'a', 's.ecret'],
    stderr:
      'keywright list: there are 2 arguments, and at most 1 are expected\n' +
      '"keywright list -h" shows how it is used.\n',
  },
  {
    argv: ['status', 'x'],
    stderr:
      'keywright status: there are 1 arguments, and at most 0 are expected\n' +
      '"keywright status -h" shows how it is used.\n',
  },
  {
    argv: ['version', '-format=json'],
    stderr: 'keywright version: unknown option -format\n"keywright version -h" shows how it is used.\n',
  },
]

for (const { argv, stderr } of REFUSED) {
  test(`usage: ${argv.join(' ')}`, async () => {
    assert.deepEqual(await runClient(argv), { code: 1, stdout: '', stderr, bytes: Buffer.alloc(0) })
  })
}

test('usage: common options may stand before and between the words of a command', async () => {
  const argv = ['-address', 'localhost', 'operator', '-format=json', 'seal']
  const { code, stderr } = await runClient(argv)
  assert.equal(code, 1)
  assert.match(stderr, /^Error: The address of the server must begin with/)
})

test('output that nobody reads any more ends the client quietly', async () => {
  const broken = (): Writable =>
    new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('broken'), { code: 'EPIPE' })) })
  const stderr = new PassThrough()
  const io = {
    stdin: new PassThrough(),
    stdout: broken(),
    stderr,
    env: {},
    version: '1',
    sleep: async () => {},
    inspectSnapshot: async () => null,
    diagnose: async () => ({ subject: '', checks: [] }),
    verifyAudit: async () => ({ faults: [], unsigned: [], notes: [], entries: 0, chains: [] }),
  }
  assert.equal(await runCli(['version'], io), 1)
  assert.equal(stderr.read(), null)
  assert.equal(await runCli(['status', 'x'], { ...io, stderr: broken() }), 1)
})
