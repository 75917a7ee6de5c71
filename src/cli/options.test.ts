import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from './cli-error.ts'
import { type OptionTable, parseOptions } from './options.ts'

const TABLE = {
  force: { kind: 'flag', short: 'f', about: 'Do it', env: ['OWN_FORCE', 'OTHER_FORCE'] },
  address: { kind: 'text', value: 'URL', about: 'Where', env: ['OWN_ADDR', 'OTHER_ADDR'], default: 'http://default' },
  format: {
    kind: 'text',
    value: 'table|json',
    oneOf: ['table', 'json'],
    about: 'How',
    default: 'table',
    env: ['FORMAT'],
  },
  field: { kind: 'text', value: 'NAME', about: 'Which' },
  policy: { kind: 'texts', value: 'NAME', about: 'Whose' },
  renewable: { kind: 'flag', default: true, about: 'Whether' },
  'key-shares': { kind: 'number', short: 'n', value: 'COUNT', about: 'How many', default: 5 },
  namespace: {
    kind: 'text',
    alias: 'ns',
    value: 'PATH',
    about: 'In',
    env: ['OWN_NS', 'OTHER_NS'],
    emptyEnv: ['OWN_NS'],
  },
} as const satisfies OptionTable

const DEFAULTS = {
  force: false,
  address: 'http://default',
  format: 'table',
  field: undefined,
  policy: [],
  renewable: true,
  'key-shares': 5,
  namespace: undefined,
}

const CASES: readonly {
  name: string
  words: readonly string[]
  env?: Record<string, string>
  options?: object
  args?: readonly string[]
}[] = [
  { name: 'nothing gives the defaults', words: [] },
  { name: 'one dash and =', words: ['-address=http://a'], options: { address: 'http://a' } },
  { name: 'two dashes and =', words: ['--address=http://a'], options: { address: 'http://a' } },
  {
    name: 'the value as the next word',
    words: ['-address', 'http://a', 'x'],
    options: { address: 'http://a' },
    args: ['x'],
  },
  { name: 'two dashes and the next word', words: ['--address', 'http://a'], options: { address: 'http://a' } },
  { name: 'a value that looks like an option', words: ['-field', '-x'], options: { field: '-x' } },
  { name: 'a value with = in it', words: ['-field=a=b'], options: { field: 'a=b' } },
  { name: 'an empty value', words: ['-field='], options: { field: '' } },
  { name: 'a flag takes no word', words: ['-force', 'x'], options: { force: true }, args: ['x'] },
  { name: 'a flag with a value', words: ['-force=true'], options: { force: true } },
  { name: 'a flag that is off', words: ['-force=false'], env: { OWN_FORCE: '1' }, options: { force: false } },
  { name: 'a short flag', words: ['-f'], options: { force: true } },
  { name: 'a short option with a value', words: ['-n', '3'], options: { 'key-shares': 3 } },
  { name: 'texts are collected', words: ['-policy=a', '-policy', 'b'], options: { policy: ['a', 'b'] } },
  { name: 'a flag that is on by itself', words: ['-renewable=false'], options: { renewable: false } },
  { name: 'a number', words: ['-key-shares=7'], options: { 'key-shares': 7 } },
  { name: 'the last one counts', words: ['-field=a', '-field=b'], options: { field: 'b' } },
  {
    name: 'options between and behind arguments',
    words: ['a', '-f', 'b', '-field=c'],
    options: { force: true, field: 'c' },
    args: ['a', 'b'],
  },
  { name: 'a single dash is an argument', words: ['a', '-'], args: ['a', '-'] },
  {
    name: 'nothing behind -- is an option',
    words: ['-f', '--', '-field=c', '-h'],
    options: { force: true },
    args: ['-field=c', '-h'],
  },
  { name: 'name=value is an argument', words: ['a', 'k=-v'], args: ['a', 'k=-v'] },
  {
    name: 'our own variable comes first',
    words: [],
    env: { OTHER_ADDR: 'http://b', OWN_ADDR: 'http://a' },
    options: { address: 'http://a' },
  },
  { name: 'the other variable', words: [], env: { OTHER_ADDR: 'http://b' }, options: { address: 'http://b' } },
  {
    name: 'an empty variable is none',
    words: [],
    env: { OWN_ADDR: '', OTHER_ADDR: 'http://b' },
    options: { address: 'http://b' },
  },
  {
    name: 'an option beats the variables',
    words: ['-address=http://c'],
    env: { OWN_ADDR: 'http://a' },
    options: { address: 'http://c' },
  },
  { name: 'an alias', words: ['--ns', 'a'], options: { namespace: 'a' } },
  {
    name: 'an alias beats the name, wherever it stands',
    words: ['-ns=a', '-namespace=b'],
    options: { namespace: 'a' },
  },
  { name: 'the last alias counts', words: ['-ns=a', '-ns=b'], options: { namespace: 'b' } },
  {
    name: 'a variable that counts while it is empty',
    words: [],
    env: { OWN_NS: '', OTHER_NS: 'b' },
    options: { namespace: '' },
  },
  { name: 'a variable of a flag', words: [], env: { OTHER_FORCE: 'True' }, options: { force: true } },
  { name: 'a variable with one of several values', words: [], env: { FORMAT: 'json' }, options: { format: 'json' } },
]

for (const { name, words, env = {}, options = {}, args = [] } of CASES) {
  test(`options: ${name}`, () => {
    assert.deepEqual(parseOptions(TABLE, words, env), { kind: 'call', options: { ...DEFAULTS, ...options }, args })
  })
}

for (const word of ['-h', '--h', '-help', '--help']) {
  test(`options: ${word} asks for help, wherever it stands`, () => {
    assert.deepEqual(parseOptions(TABLE, ['a', '-field', 'x', word, 'b'], {}), { kind: 'help' })
  })
}

const REFUSED: readonly { words: readonly string[]; env?: Record<string, string>; message: string }[] = [
  { words: ['-adress=http://a'], message: 'unknown option -adress, did you mean -address?' },
  { words: ['--feild', 'x'], message: 'unknown option -feild, did you mean -field?' },
  { words: ['-helo'], message: 'unknown option -helo, did you mean -help?' },
  { words: ['-wrap-ttl=60'], message: 'unknown option -wrap-ttl' },
  { words: ['-constructor'], message: 'unknown option -constructor' },
  { words: ['-address'], message: '-address needs a value: -address=URL' },
  { words: ['-ns'], message: '-namespace needs a value: -namespace=PATH' },
  { words: ['-n'], message: '-key-shares needs a value: -key-shares=COUNT' },
  { words: ['-format=yaml'], message: '-format must be table or json, not "yaml"' },
  { words: [], env: { FORMAT: 'yaml' }, message: 'FORMAT must be table or json, not "yaml"' },
  { words: ['-key-shares=-1'], message: '-key-shares must be a whole number, not "-1"' },
  { words: ['-key-shares=1e3'], message: '-key-shares must be a whole number, not "1e3"' },
  { words: ['-key-shares='], message: '-key-shares must be a whole number, not ""' },
  { words: ['-force=maybe'], message: '-force must be true or false, not "maybe"' },
]

for (const { words, env = {}, message } of REFUSED) {
  test(`options: ${[...words, ...Object.values(env)].join(' ')} is refused`, () => {
    assert.throws(
      () => parseOptions(TABLE, words, env),
      (error) => error instanceof UsageError && error.message === message && error.exitCode === 1,
    )
  })
}

test('options: a message about an unknown option does not repeat its value', () => {
  assert.throws(() => parseOptions(TABLE, ['-tokne=hvs.secret'], {}), { message: 'unknown option -tokne' })
})
