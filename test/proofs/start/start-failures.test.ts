// What a server says that cannot start: one sentence on stderr, a failing exit code, and soon.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { STORE_FORMAT } from '../../../src/storage/sqlite/sqlite-schema.ts'
import { PROJECT, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

/** Within 2 s on an idle machine; more is left to one that runs other tests beside this. */
const MOST_MS = 2_000 * 3
const FREE_PORT = '-dev-listen-address=127.0.0.1:0'

const temporary = temporaryDirectory()
/** A store that a server made and left in good order; each case works on a copy. */
const SOUND = join(temporary.path, 'sound')

before(async () => {
  const server = await startServerProcess({ directory: SOUND })
  assert.equal(await server.stop(), 0)
})
after(() => temporary.cleanUp())

function start(args: readonly string[], prefix: readonly string[] = [], home = PROJECT) {
  const [command = '', ...rest] = [...prefix, join(home, 'bin/keywright'), 'server', ...args]
  const { VAULT_DEV_LISTEN_ADDRESS: _, ...env } = process.env
  return spawnSync(command, rest, { encoding: 'utf8', env, timeout: 180_000, killSignal: 'SIGKILL' })
}

function assertRefused(args: readonly string[], says: RegExp, prefix: readonly string[] = []): void {
  // The machine may stand still once; a start that is slow by itself is so each time.
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 4 && least >= MOST_MS; attempt++) {
    const startMs = performance.now()
    assertEnded(start(args, prefix), says)
    least = Math.min(least, performance.now() - startMs)
  }
  assert.ok(least < MOST_MS, `it took ${least} ms`)
}

function assertEnded({ status, signal, stdout, stderr }: ReturnType<typeof start>, says: RegExp): void {
  assert.equal(signal, null, `it did not end by itself: ${stdout}${stderr}`)
  assert.ok(status !== null && status > 0, `it ended with ${status}`)
  assert.equal(stdout, '')
  assert.match(stderr, /^keywright: [^\n]+\n$/, 'one line, and not a stack')
  assert.match(stderr, says)
}

const refusedStore = (directory: string, says: RegExp): void =>
  assertRefused(['-dev', FREE_PORT, '-data', directory], says)

function fresh(name: string): string {
  return join(temporary.path, name.replaceAll(/\W+/g, '-'))
}

test('an audit log in the data directory stops the start, by name, by way of a link and under diagnose', () => {
  const data = fresh('audited')
  const link = fresh('link to the data')
  mkdirSync(join(data, 'logs'), { recursive: true, mode: 0o700 })
  symlinkSync(join(data, 'logs'), link)
  const config = fresh('audit in the data.hcl')
  for (const file of [join(data, 'audit.log'), join(data, 'logs/audit.log'), join(link, 'audit.log')]) {
    writeFileSync(
      config,
      `storage "sqlite" { path = "${data}" }
       listener "tcp" { address = "127.0.0.1:0" tls_disable = true }
       audit "file" "log" { options { file_path = "${file}" } }`,
      { mode: 0o600 },
    )
    const says = /audit "file" "log": .*audit\.log lies in the data directory.*name a place outside it/
    assertRefused(['-config', config], says)
    const diagnosed = spawnSync(join(PROJECT, 'bin/keywright'), ['operator', 'diagnose', `-config=${config}`], {
      encoding: 'utf8',
      timeout: 180_000,
      killSignal: 'SIGKILL',
    })
    assert.match(diagnosed.stdout.replaceAll(/\s+/g, ' '), says)
    assert.equal(existsSync(file), false)
  }
})

const DAMAGED: readonly {
  readonly name: string
  readonly damage: (directory: string) => void
  readonly says: RegExp
}[] = [
  {
    name: 'whose first page is garbage',
    damage: (directory) => overwrite(databaseOf(directory), Buffer.alloc(4096, 0x5a)),
    says: /keywright\.db .*damaged/,
  },
  {
    name: 'that was cut short',
    damage: (directory) => truncateSync(databaseOf(directory), 5_000),
    says: /keywright\.db .*damaged/,
  },
  {
    name: 'that is empty',
    damage: (directory) => truncateSync(databaseOf(directory), 0),
    says: /keywright\.db is empty/,
  },
  {
    name: 'that is another program’s database',
    damage: (directory) => change(directory, 'PRAGMA application_id = 1'),
    says: /a database of another program/,
  },
  {
    name: 'of a newer format',
    damage: (directory) => change(directory, `PRAGMA user_version = ${STORE_FORMAT + 1}`),
    says: new RegExp(`store format ${STORE_FORMAT + 1}, this version of Keywright reads 1 to ${STORE_FORMAT}`),
  },
  {
    name: 'whose own row has a flipped bit',
    damage: (directory) => flip(directory, 'meta', 'chain', 'only = 1'),
    says: /keywright\.db is damaged: its log ends at/,
  },
  {
    name: 'whose last log record has a flipped bit',
    damage: (directory) => flip(directory, 'log', 'record', 'idx = (SELECT max(idx) FROM log)'),
    says: /log record \d+ cannot be read/,
  },
  {
    name: 'whose seal configuration has a flipped bit',
    damage: (directory) => flip(directory, 'data', 'value', "key = 'root/core/seal-config'"),
    says: /seal configuration .*is not well-formed JSON/,
  },
  {
    name: 'whose root key has a flipped bit',
    damage: (directory) => flip(directory, 'data', 'value', "key = 'root/core/root-key'"),
    says: /development-keys\.json does not open the store/,
  },
  {
    name: 'whose mount table has a flipped bit',
    damage: (directory) => flip(directory, 'data', 'value', "key LIKE 'root/core/mounts/%'"),
    says: /root\/core\/mounts\/\S+ is not what was written there/,
  },
  {
    name: 'that is gone, with its journal left',
    damage: (directory) => {
      writeFileSync(`${databaseOf(directory)}-wal`, '', { mode: 0o600 })
      rmSync(databaseOf(directory))
    },
    says: /keywright\.db is missing, and its journal is there/,
  },
  {
    name: 'that others may read',
    damage: (directory) => chmodSync(databaseOf(directory), 0o644),
    says: /mode must be 600/,
  },
  {
    name: 'in a directory that others may enter',
    damage: (directory) => chmodSync(directory, 0o755),
    says: /mode must be 700/,
  },
  {
    name: 'without its key file',
    damage: (directory) => rmSync(join(directory, 'development-keys.json')),
    says: /development-keys\.json is missing/,
  },
  {
    name: 'with a key file that is not JSON',
    damage: (directory) => writeFileSync(join(directory, 'development-keys.json'), '{'),
    says: /development-keys\.json is not well-formed JSON/,
  },
  {
    name: 'with a key file of other content',
    damage: (directory) => writeFileSync(join(directory, 'development-keys.json'), '{}'),
    says: /development-keys\.json lacks "unseal_key"/,
  },
  {
    name: 'with the key of another store',
    damage: (directory) => replaceUnsealKey(join(directory, 'development-keys.json')),
    says: /development-keys\.json does not open the store/,
  },
]

for (const { name, damage, says } of DAMAGED) {
  test(`server refuses a store ${name}`, () => {
    const directory = fresh(name)
    cpSync(SOUND, directory, { recursive: true })
    // What the journal holds would cover the damage.
    const database = new DatabaseSync(databaseOf(directory))
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    damage(directory)
    refusedStore(directory, says)
  })
}

function databaseOf(directory: string): string {
  return join(directory, 'keywright.db')
}

function overwrite(path: string, bytes: Buffer): void {
  const content = readFileSync(path)
  bytes.copy(content)
  writeFileSync(path, content)
}

function change(directory: string, statement: string): void {
  const database = new DatabaseSync(databaseOf(directory))
  database.exec(statement)
  database.close()
}

function flip(directory: string, table: string, column: string, where: string): void {
  const database = new DatabaseSync(databaseOf(directory))
  const row = database.prepare(`SELECT ${column} AS bytes FROM ${table} WHERE ${where}`).get()
  const bytes = Buffer.from(row?.bytes as Uint8Array)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(bytes)
  database.close()
}

function replaceUnsealKey(path: string): void {
  const keys = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...keys, unseal_key: Buffer.alloc(32, 1).toString('base64') }))
}

test('server refuses a data directory below a file, or that is one', () => {
  const file = join(temporary.path, 'file')
  writeFileSync(file, '')
  refusedStore(file, /data directory \S+file is not a directory/)
  refusedStore(join(file, 'data'), /data directory \S+ cannot be used: ENOTDIR/)
})

test('server refuses a data directory that the system does not make', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, () => {
  refusedStore('/proc/keywright/data', /data directory \S+ cannot be used: ENOENT/)
})

/** Root writes anywhere, unless it gives up the capability to. */
const WITHOUT_OVERRIDE =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override', '--inh-caps=-dac_override'] : []
const cannotGiveUp = (): string | false => {
  const [command, ...args] = [...WITHOUT_OVERRIDE, 'true']
  return spawnSync(command as string, args).status === 0 ? false : 'root cannot give up its right to write anywhere'
}

test('server refuses a data directory that it may not write', { skip: cannotGiveUp() }, () => {
  const directory = join(temporary.path, 'read-only')
  mkdirSync(directory, { mode: 0o500 })
  const args = ['-dev', FREE_PORT, '-data']
  assertRefused([...args, directory], /data directory \S+ cannot be used: EACCES/, WITHOUT_OVERRIDE)
  assertRefused(
    [...args, join(directory, 'below')],
    /\S+ is missing and cannot be created: create it/,
    WITHOUT_OVERRIDE,
  )
})

test('server refuses a data directory that another process uses', async (context) => {
  const directory = join(temporary.path, 'used')
  const server = await startServerProcess({ directory })
  context.after(() => server.stop())
  refusedStore(directory, /data directory \S+ is in use by another process/)
})

test('server refuses an address that is taken, and one that is not its own', async (context) => {
  const taken = await listeningServer()
  context.after(() => taken.close())
  const { port } = taken.address() as { port: number }
  const directory = join(temporary.path, 'never-served')
  const inUse = new RegExp(`127\\.0\\.0\\.1:${port} is in use by another program`)
  assertRefused(['-dev', `-dev-listen-address=127.0.0.1:${port}`, '-data', directory], inUse)
  // TEST-NET-3 of RFC 5737, which no machine has.
  const config = written('not-own.hcl', 'listener "tcp" {\n address = "203.0.113.1:8200"\n tls_disable = true\n}')
  assertRefused(['-config', config, '-data', directory], /203\.0\.113\.1:8200 does not belong to this machine/)
})

test('server names its data first where its address is taken too', async (context) => {
  const taken = await listeningServer()
  context.after(() => taken.close())
  const { port } = taken.address() as { port: number }
  const directory = fresh('damaged-and-taken')
  cpSync(SOUND, directory, { recursive: true })
  truncateSync(databaseOf(directory), 0)
  assertRefused(['-dev', `-dev-listen-address=127.0.0.1:${port}`, '-data', directory], /keywright\.db is empty/)
})

function listeningServer(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

function emptyDirectory(): string {
  return mkdtempSync(join(temporary.path, 'empty-'))
}

function written(name: string, text: string): string {
  const path = join(temporary.path, name)
  writeFileSync(path, text)
  return path
}

const WORDS: readonly { readonly name: string; readonly args: () => readonly string[]; readonly says: RegExp }[] = [
  { name: 'nothing to go by', args: () => [], says: /-config=FILE, or -dev/ },
  { name: 'an unknown flag', args: () => ['-dev', '-frobnicate'], says: /"-frobnicate".*see keywright server -help/ },
  { name: 'a misspelt flag', args: () => ['-dev', '-dat=x'], says: /"-dat=x".*did you mean -data\?/ },
  { name: 'a word too many', args: () => ['-dev', 'now'], says: /"now"/ },
  { name: 'a flag without its value', args: () => ['-config'], says: /-config needs a value/ },
  {
    name: 'an address without a port',
    args: () => ['-dev', '-dev-listen-address=127.0.0.1'],
    says: /not of the form 127\.0\.0\.1:8200/,
  },
  { name: 'a port that is none', args: () => ['-dev', '-dev-listen-address=127.0.0.1:99999'], says: /not of the form/ },
  {
    name: 'a development server for others',
    args: () => ['-dev', '-dev-listen-address=0.0.0.0:8200'],
    says: /development server listens on loopback only, not on 0\.0\.0\.0/,
  },
  {
    name: 'a development server whose cluster port is for others',
    args: () => ['-dev', '-config', written('open.hcl', 'listener "tcp" { cluster_address = "0.0.0.0:8201" }')],
    says: /development server listens on loopback only, not on 0\.0\.0\.0/,
  },
  {
    name: 'a root token with a blank',
    args: () => ['-dev', '-dev-root-token-id=a b'],
    says: /1 to 512 printable ASCII/,
  },
  {
    name: 'a file that is not there',
    args: () => ['-config', fresh('none.hcl')],
    says: /none-hcl cannot be read \(ENOENT\)/,
  },
  { name: 'a directory without files', args: () => ['-config', emptyDirectory()], says: /has no configuration/ },
  {
    name: 'a file that is not HCL',
    args: () => ['-config', written('cut.hcl', 'listener "tcp" {')],
    says: /cut\.hcl: line 1/,
  },
  {
    name: 'a misspelt key in the file',
    args: () => ['-config', written('key.hcl', 'storag "sqlite" {}')],
    says: /key\.hcl: line 1: unknown key "storag".*did you mean "storage"\?/,
  },
  {
    name: 'a listener that does not say that it speaks in clear',
    args: () => ['-config', written('plain.hcl', 'listener "tcp" { address = "0.0.0.0:8200" }')],
    says: /plain\.hcl: line 1: .*tls_disable = true/,
  },
  {
    name: 'a configuration without a listener',
    args: () => ['-config', written('nothing.hcl', 'storage "inmem" {}')],
    says: /has no listener/,
  },
]

for (const { name, args, says } of WORDS) {
  test(`server refuses ${name}`, () => {
    const directory = join(process.cwd(), 'data')
    const before = existsSync(directory)
    assertRefused(args(), says)
    assert.equal(existsSync(directory), before, 'what is refused makes no directory')
  })
}

test('a server of which a file is broken or missing says which of its threads failed, and why', () => {
  const copy = join(temporary.path, 'keywright')
  mkdirSync(copy)
  for (const name of ['src', 'bin', 'package.json']) cpSync(join(PROJECT, name), join(copy, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'))
  const assertFails = (says: RegExp): void => {
    const directory = join(temporary.path, 'broken')
    assertEnded(start(['-dev', FREE_PORT, '-data', directory], [], copy), says)
    rmSync(directory, { recursive: true, force: true })
  }
  for (const [thread, file] of [
    ['serving', 'process/serving.ts'],
    ['writing', 'process/writer.ts'],
    ['link', 'process/linking.ts'],
  ] as const) {
    const place = join(copy, 'src', file)
    const text = readFileSync(place)
    rmSync(place)
    assertFails(new RegExp(`${thread} thread failed: .*no such file.*/${file}`))
    writeFileSync(place, "throw new RangeError('out of order')")
    assertFails(new RegExp(`${thread} thread failed: out of order`))
    writeFileSync(place, text)
  }
})
