import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { tidy } from './tidy.ts'
import { RULES } from './tidy-rules.ts'
import type { Finding } from './tree.ts'

type Snippet = { readonly path: string; readonly text: string }

/** One row a rule, in the order of RULES: what it refuses, and what stands next to that and is allowed. */
const CASES: readonly { name: string; refused: readonly Snippet[]; allowed: readonly Snippet[] }[] = [
  {
    name: 'Z-01 cryptography outside its room',
    refused: [
      { path: 'src/core/a.ts', text: `import { createHash } from 'node:crypto'` },
      { path: 'src/core/a.ts', text: `import { verify } from 'node:crypto'` },
      { path: 'src/core/a.ts', text: `import crypto from 'node:crypto'` },
      { path: 'src/core/a.ts', text: `export const a = node.createCipheriv` },
      { path: 'src/core/a.ts', text: `await crypto.subtle.digest('a', b)` },
    ],
    allowed: [
      { path: 'src/crypto/a.ts', text: `import { createHash, sign } from 'node:crypto'` },
      { path: 'src/core/a.ts', text: `import { timingSafeEqual } from 'node:crypto'\nverify(a)` },
      { path: 'src/core/a.ts', text: `import type { Hash } from 'node:crypto'` },
      { path: 'src/core/a.test.ts', text: `import { createHash } from 'node:crypto'` },
    ],
  },
  {
    name: 'Z-02 the time',
    refused: [
      { path: 'src/core/a.ts', text: 'export const a = Date.now()' },
      { path: 'src/core/a.ts', text: 'export const a = new Date()' },
      { path: 'src/core/a.ts', text: 'export const a = new Date' },
      { path: 'src/core/a.ts', text: 'export const a = performance.now()' },
      { path: 'src/core/a.ts', text: 'export const a = process.hrtime.bigint()' },
    ],
    allowed: [
      { path: 'src/lib/world.ts', text: 'export const a = Date.now()' },
      { path: 'src/cli/a.ts', text: 'export const a = Date.now()' },
      { path: 'src/core/a.ts', text: `export const a = [new Date(b), new Date('2026-01-01'), Date.parse(c)]` },
      { path: 'test/a.ts', text: 'export const a = Date.now()' },
      { path: 'bench/a.ts', text: 'export const a = performance.now()' },
    ],
  },
  {
    name: 'Z-02 Math.random',
    refused: [{ path: 'src/lib/world.ts', text: 'export const a = Math.random()' }],
    allowed: [{ path: 'src/lib/world.ts', text: `export const a = Math.round(b) // Math.random\nc('Math.random')` }],
  },
  {
    name: 'Z-02 randomness outside the world',
    refused: [
      { path: 'src/main.ts', text: `import { randomBytes } from 'node:crypto'` },
      { path: 'src/core/a.ts', text: 'export const a = crypto.randomUUID()' },
      { path: 'src/core/a.ts', text: 'globalThis.crypto.getRandomValues(a)' },
    ],
    allowed: [
      { path: 'src/lib/world.ts', text: `import { randomBytes, randomUUID } from 'node:crypto'` },
      { path: 'src/crypto/a.ts', text: `import { randomFillSync } from 'node:crypto'` },
      { path: 'src/core/a.ts', text: 'export const a = world.random.uuid()' },
    ],
  },
  {
    name: 'Z-04 the URL parser on requests',
    refused: [
      { path: 'src/http/a.ts', text: 'export const a = new URL(b)' },
      { path: 'src/api/a.ts', text: 'export const a = URL.parse(b)' },
    ],
    allowed: [
      { path: 'src/lib/a.ts', text: 'export const a = new URL(b)' },
      { path: 'src/http/a.ts', text: 'export const a = new URLSearchParams(b)' },
    ],
  },
  {
    name: 'Z-04 url.parse',
    refused: [
      { path: 'src/lib/a.ts', text: `import { parse } from 'node:url'` },
      { path: 'src/lib/a.ts', text: 'export const a = url.parse(b)' },
    ],
    allowed: [{ path: 'src/lib/a.ts', text: `import { fileURLToPath } from 'node:url'` }],
  },
  {
    name: 'Z-04 decoding twice',
    refused: [{ path: 'src/http/a.ts', text: 'a = decodeURIComponent(b)\nc = decodeURIComponent(a)' }],
    allowed: [{ path: 'src/http/a.ts', text: 'a = decodeURIComponent(b)\n// decodeURIComponent once' }],
  },
  {
    name: 'Z-05 an expression that is built',
    refused: [
      { path: 'src/lib/a.ts', text: 'export const a = new RegExp(b)' },
      { path: 'src/lib/a.ts', text: `export const a = RegExp('b')` },
    ],
    allowed: [{ path: 'src/lib/a.ts', text: 'export const a = /b+/.test(c) && d instanceof RegExp' }],
  },
  {
    name: 'Z-05 a repeated repetition',
    refused: [
      { path: 'src/lib/a.ts', text: 'export const a = /^(b+)*$/' },
      { path: 'src/lib/a.ts', text: 'export const a = /(?:(b|c*)d){2,}/' },
    ],
    allowed: [{ path: 'src/lib/a.ts', text: 'export const a = [/^(b+)c*$/, /([+*])+/, /(\\+)+/, /(b+){3}/]' }],
  },
  {
    name: 'Z-06 JSON.parse',
    refused: [{ path: 'src/core/a.ts', text: 'export const a = JSON.parse(b)' }],
    allowed: [
      { path: 'src/lib/json.ts', text: 'export const a = JSON.parse(b)' },
      { path: 'src/core/a.ts', text: 'export const a = JSON.stringify(b)' },
    ],
  },
  {
    name: 'stored JSON that is read without a definition',
    refused: [{ path: 'src/core/a.ts', text: 'const entry = parseStoredJson(bytes)' }],
    allowed: [
      { path: 'src/storage/stored-record.ts', text: 'const value = parseStoredJson(bytes)' },
      { path: 'src/core/a.ts', text: 'const entry = MOUNT_ENTRY.decode(bytes)' },
    ],
  },
  {
    name: 'stored JSON that is written without a definition',
    refused: [{ path: 'src/core/a.ts', text: 'tx.put(key, Buffer.from(JSON.stringify(entry)))' }],
    allowed: [
      { path: 'src/storage/stored-record.ts', text: 'const bytes = Buffer.from(JSON.stringify(value))' },
      { path: 'src/core/a.ts', text: 'tx.put(key, MOUNT_ENTRY.encode(entry))' },
      { path: 'src/core/a.test.ts', text: 'view.plant(key, Buffer.from(JSON.stringify(entry)))' },
    ],
  },
  {
    name: 'Z-08 console',
    refused: [{ path: 'src/core/a.ts', text: `console.error('a')` }],
    allowed: [
      { path: 'src/cli/a.ts', text: `console.log('a')` },
      { path: 'src/core/a.ts', text: 'a.console.log(b)' },
      { path: 'tools/a.ts', text: `console.log('a')` },
    ],
  },
  {
    name: 'Z-09 files',
    refused: [
      { path: 'src/core/a.ts', text: `import { readFileSync } from 'node:fs'` },
      { path: 'src/lib/a.ts', text: `import fs from 'node:fs/promises'` },
    ],
    allowed: [
      { path: 'src/storage/a.ts', text: `import { openSync } from 'node:fs'` },
      { path: 'src/config/files.ts', text: `import { readFileSync } from 'node:fs'` },
      { path: 'src/core/a.ts', text: `import type { Stats } from 'node:fs'` },
    ],
  },
  {
    name: 'Z-10 timers',
    refused: [
      { path: 'src/core/a.ts', text: 'setTimeout(a, 1)' },
      { path: 'src/core/a.ts', text: 'globalThis.setInterval(a, 1)' },
      { path: 'src/core/a.ts', text: `import { setTimeout as sleep } from 'node:timers/promises'` },
      { path: 'src/core/a.ts', text: 'export const a = AbortSignal.timeout(1)' },
    ],
    allowed: [
      { path: 'src/lib/world.ts', text: 'setTimeout(a, 1)' },
      { path: 'src/http/a.ts', text: 'socket.setTimeout(1)' },
    ],
  },
  {
    name: 'Z-10 setImmediate',
    refused: [
      { path: 'src/core/a.ts', text: 'setImmediate(a)' },
      { path: 'src/core/a.ts', text: `import { setImmediate as nextLoop } from 'node:timers/promises'` },
      { path: 'src/storage/a.ts', text: 'globalThis.setImmediate(a)' },
      { path: 'src/threads/a.ts', text: 'setImmediate(a)' },
    ],
    allowed: [
      { path: 'src/lib/world.ts', text: 'setImmediate(a)' },
      { path: 'src/core/a.ts', text: 'await world.ticks.next() // in place of setImmediate' },
    ],
  },
  {
    name: 'Z-11 memory that was not cleared',
    refused: [{ path: 'src/crypto/a.ts', text: 'export const a = Buffer.allocUnsafe(1)' }],
    allowed: [{ path: 'src/crypto/a.ts', text: 'export const a = Buffer.alloc(1)' }],
  },
  {
    name: 'Z-11 the memory behind a Buffer',
    refused: [{ path: 'src/crypto/a.ts', text: 'export const a = new Uint8Array(b.buffer)' }],
    allowed: [
      { path: 'src/crypto/a.ts', text: 'this.buffer = a.buffered' },
      { path: 'src/crypto/a.ts', text: 'export const a = Buffer.from(b.buffer, b.byteOffset, b.byteLength)' },
    ],
  },
  {
    name: 'Z-12 text that becomes code',
    refused: [
      { path: 'src/lib/a.ts', text: `eval('a')` },
      { path: 'src/lib/a.ts', text: `export const a = new Function('b')` },
      { path: 'src/lib/a.ts', text: `import vm from 'node:vm'` },
    ],
    allowed: [{ path: 'src/lib/a.ts', text: 'retrieval(a)\nexport type B = Function' }],
  },
  {
    name: 'Z-12 loading later',
    refused: [
      { path: 'src/lib/a.ts', text: `await import('./b.ts')` },
      { path: 'src/lib/a.ts', text: `import { createRequire } from 'node:module'` },
    ],
    allowed: [
      { path: 'src/main.ts', text: `await import('./cli/b.ts')` },
      { path: 'src/lib/a.ts', text: 'export const a = import.meta.url' },
    ],
  },
  {
    name: 'Z-12 other programs',
    refused: [{ path: 'src/main.ts', text: `import { spawn } from 'node:child_process'` }],
    allowed: [{ path: 'test/proofs/clients/a.test.ts', text: `import { spawn } from 'node:child_process'` }],
  },
  {
    name: 'Z-14 outbound connections',
    refused: [
      { path: 'src/engines/a/b.ts', text: 'await fetch(a)' },
      { path: 'src/engines/a/b.ts', text: `import { request } from 'node:https'` },
      { path: 'src/engines/a/b.ts', text: 'https.get(a)' },
      { path: 'src/http/a.ts', text: `import { request } from '../lib/node-http.ts'` },
      { path: 'src/a.ts', text: `import { request } from './lib/node-http.ts'` },
      { path: 'src/engines/a/b.ts', text: `import { request as ask } from '../../lib/node-http.ts'` },
      { path: 'src/lib/a.ts', text: `import * as http from './node-http.ts'` },
    ],
    allowed: [
      { path: 'src/lib/outbound.ts', text: 'await fetch(a)' },
      { path: 'src/http/a.ts', text: `import http, { createServer } from 'node:http'\ncache.fetch(a)` },
      { path: 'src/http/a.ts', text: `import { createServer } from '../lib/node-http.ts'` },
    ],
  },
  {
    name: 'a kind of storage outside its room',
    refused: [
      { path: 'src/process/a.ts', text: `import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts'` },
      { path: 'src/config/a.ts', text: `const isInMemory = storage.type === 'inmem'` },
      { path: 'src/offline/a.ts', text: '// As SQLite has it.' },
      { path: 'src/hardening/a.ts', text: `const database = join(directory, 'keywright.db')` },
    ],
    allowed: [
      { path: 'src/storage/drivers.ts', text: `import { SQLITE_DRIVER } from './sqlite/sqlite-driver.ts'` },
      { path: 'src/process/a.ts', text: `import { storeLocation } from '../storage/drivers.ts'\nstartInMemory(a)` },
      { path: 'src/config/a.test.ts', text: `parseConfig('storage "sqlite" {}')` },
    ],
  },
  {
    name: 'an enum',
    refused: [{ path: 'tools/a.ts', text: 'export const enum A { B }' }],
    allowed: [{ path: 'tools/a.ts', text: `export const a = { enum: { b: 'enum A {' } }` }],
  },
  {
    name: 'a namespace',
    refused: [{ path: 'src/lib/a.ts', text: 'export namespace A {}' }],
    allowed: [{ path: 'src/lib/a.ts', text: 'export const a = { namespace: {} }' }],
  },
  {
    name: 'a parameter property',
    refused: [
      { path: 'src/lib/a.ts', text: 'class A { constructor(private readonly b: string) {} }' },
      { path: 'src/lib/a.ts', text: 'class A { constructor(a: number,\n readonly b: string) {} }' },
    ],
    allowed: [
      { path: 'src/lib/a.ts', text: 'class A { constructor(a: readonly string[], b: Map<C, readonly D[]>) {} }' },
    ],
  },
  {
    name: 'refusals whose code says nothing',
    refused: [
      { path: 'src/core/a.ts', text: `throw fail('bad_request', ['no'])` },
      { path: 'src/core/a.ts', text: `// Wire text.\nthrow fail('bad_request', ['no'])` },
      { path: 'src/core/a.ts', text: `// bad_request: a reason\n\nthrow fail('bad_request', ['no'])` },
    ],
    allowed: [
      { path: 'src/core/a.ts', text: `// bad_request: a reason\nthrow fail('bad_request', ['no'])` },
      { path: 'src/core/a.ts', text: `throw fail('bad_request', ['no']) // Wire text. bad_request: a reason` },
      { path: 'src/core/a.ts', text: `throw fail('out_of_range', ['no']) // Once a bad_request.` },
      { path: 'src/core/a.test.ts', text: `assert.equal(code, 'bad_request')` },
    ],
  },
  {
    name: 'tests that do not run',
    refused: [
      { path: 'src/lib/a.test.ts', text: `suite.only('a', b)` },
      { path: 'test/a.test.ts', text: `t.skip('a')` },
      { path: 'test/a.test.ts', text: `test('a', { timeout: 1, skip: 'later' }, b)` },
      { path: 'test/a.test.ts', text: `test('a', { timeout: 1, todo: true }, b)` },
    ],
    allowed: [
      { path: 'test/a.test.ts', text: `test('a', { skip: missing('wrk') }, b)` },
      { path: 'src/lib/a.ts', text: 'reader.skip(4)' },
    ],
  },
  {
    name: 'hooks of fixtures',
    refused: [{ path: 'test/fixtures/a.ts', text: 'afterEach(() => close())' }],
    allowed: [
      { path: 'test/fixtures/a.ts', text: 'function hooks() {\n  afterEach(() => close())\n}' },
      { path: 'test/a.test.ts', text: 'afterEach(() => close())' },
    ],
  },
  {
    name: 'clocks in exact tests',
    refused: [
      { path: 'src/lib/a.test.ts', text: 'const a = Date.now()' },
      { path: 'src/lib/a.test.ts', text: 'const a = new Date()' },
      { path: 'src/lib/a.test.ts', text: 'const a = new Date' },
      { path: 'test/cloud/a.test.ts', text: 'const a = performance.now() - b' },
      { path: 'emulator/a.test.ts', text: 'await new Promise((resolve) => setTimeout(resolve, 20))' },
      { path: 'tools/a.test.ts', text: `import { setTimeout as sleep } from 'node:timers/promises'` },
      { path: 'src/lib/a.test.ts', text: `import { monitorEventLoopDelay } from 'node:perf_hooks'` },
      { path: 'src/lib/a.test.ts', text: 'Atomics.wait(a, 0, 0, 20)' },
      { path: 'src/lib/a.test.ts', text: 'const a = new A(realWorld().timers)' },
      { path: 'src/lib/a.test.ts', text: 'const { random, timers } = realWorld()' },
      { path: 'src/lib/a.test.ts', text: `import { tookMs } from '../../test/fixtures/measured.ts'` },
    ],
    allowed: [
      { path: 'test/proofs/cost/a.test.ts', text: `import { tookMs } from '../../fixtures/measured.ts'\nDate.now()` },
      { path: 'test/fixtures/a.ts', text: 'setTimeout(a, 1)' },
      { path: 'src/lib/a.test.ts', text: `const a = [new Date(b), new Date('2026-01-01'), Date.UTC(2026, 0, 1)]` },
      { path: 'src/lib/a.test.ts', text: 'const { random, clock } = realWorld()\nconst a = { timers: time.timers }' },
      { path: 'src/lib/a.test.ts', text: `import { setImmediate as nextLoop } from 'node:timers/promises'` },
    ],
  },
  {
    name: 'what the machine has left in exact tests',
    refused: [
      { path: 'src/lib/a.test.ts', text: 'const a = process.memoryUsage().arrayBuffers' },
      { path: 'src/lib/a.test.ts', text: 'const a = process.threadCpuUsage()' },
      { path: 'test/coverage/a.test.ts', text: `import { loadavg } from 'node:os'` },
      { path: 'src/lib/a.test.ts', text: 'const a = new WeakRef(b)' },
      { path: 'src/lib/a.test.ts', text: `import { collectGarbage } from './collect-garbage.ts'` },
    ],
    allowed: [
      { path: 'test/proofs/memory/a.test.ts', text: 'const a = process.memoryUsage()' },
      { path: 'src/lib/a.test.ts', text: 'const a = b.buffer.detached // process.memoryUsage()' },
      { path: 'src/lib/a.test.ts', text: 'globalThis.gc = () => void collections++' },
    ],
  },
  {
    name: 'processes beside exact tests',
    refused: [
      { path: 'src/lib/a.test.ts', text: `import { spawn } from 'node:child_process'` },
      { path: 'test/wire/a.test.ts', text: `import { startServerProcess } from '../fixtures/server-process.ts'` },
      { path: 'test/coverage/a.test.ts', text: `import { startServer } from '../../src/server.ts'` },
      { path: 'src/a.test.ts', text: `import { startServer } from './server.ts'` },
      { path: 'test/model/a.test.ts', text: `import { trace } from '../fixtures/strace.ts'` },
      { path: 'test/model/a.test.ts', text: `import { Ledger } from '../proofs/torture/ledger.ts'` },
    ],
    allowed: [
      { path: 'test/proofs/start/a.test.ts', text: `import { spawn } from 'node:child_process'` },
      { path: 'src/lib/a.test.ts', text: `import { execFileSync, spawnSync } from 'node:child_process'` },
      {
        path: 'test/wire/a.test.ts',
        text: `import { PROJECT, temporaryDirectory } from '../fixtures/server-process.ts'`,
      },
      { path: 'src/auth/a.test.ts', text: `import { MemoryView } from '../../test/fixtures/memory-view.ts'` },
      { path: 'src/http/a.test.ts', text: `import type { Server } from '../server.ts'` },
    ],
  },
  {
    name: 'words that the glossary retired',
    refused: [
      { path: 'src/core/a.ts', text: 'export type MemoryHouse = 1' },
      { path: 'src/core/a.test.ts', text: 'const house = 1' },
      { path: 'src/core/a.ts', text: 'export class ReloadDesk {}' },
      { path: 'src/core/a.ts', text: 'export type ShownFlight = 1' },
      { path: 'src/core/a.ts', text: 'export type ListenPlace = 1' },
      { path: 'src/core/a.ts', text: 'const loginTurns = 1' },
      { path: 'src/core/a.ts', text: 'const STOP_PATIENCE = 1' },
    ],
    allowed: [
      { path: 'src/core/a.ts', text: '// The house has a desk.' },
      { path: 'src/core/a.ts', text: `export const a = ['house']` },
      { path: 'src/core/a.ts', text: 'export type InFlightRequest = 1\nexport const place = returns' },
    ],
  },
  {
    name: 'FIXME',
    refused: [{ path: 'examples/a.ts', text: '/* FIXME */' }],
    allowed: [{ path: 'examples/a.ts', text: `a('FIXME')` }],
  },
  {
    name: 'TODO without an issue',
    refused: [{ path: 'bench/a.ts', text: '// TODO: later' }],
    allowed: [{ path: 'bench/a.ts', text: '// TODO(#12): later' }],
  },
]

function check({ path, text }: Snippet): readonly Finding[] {
  return tidy(new Map([[path, text]]))
}

for (const [index, { name, refused, allowed }] of CASES.entries()) {
  const rule = RULES[index]
  test(`tidy refuses ${name}`, () => {
    assert.ok(rule !== undefined)
    for (const snippet of refused) {
      const [finding, ...more] = check(snippet)
      assert.equal(finding?.message, `${rule.id}: ${rule.message}`, snippet.text)
      assert.deepEqual(more, [], snippet.text)
    }
  })
  test(`tidy allows what is next to ${name}`, () => {
    for (const snippet of allowed) assert.deepEqual(check(snippet), [], snippet.text)
  })
}

test('tidy has a case for every rule', () => {
  assert.equal(CASES.length, RULES.length)
  for (const { name, refused, allowed } of CASES) assert.ok(refused.length > 0 && allowed.length > 0, name)
})

test('tidy gives every exception a reason', () => {
  for (const { except } of RULES) for (const [place, reason] of Object.entries(except)) assert.ok(reason !== '', place)
})

test('tidy names the line', () => {
  assert.equal(check({ path: 'src/core/a.ts', text: '\n\nexport const a = Date.now()' })[0]?.line, 3)
})

test('tidy refuses a line of 121 columns and allows 120, whatever the characters', () => {
  assert.deepEqual(check({ path: 'src/lib/a.ts', text: `// ${'\u{1F511}'.repeat(117)}` }), [])
  assert.deepEqual(check({ path: 'src/lib/a.ts', text: `\n// ${'a'.repeat(118)}` }), [
    { path: 'src/lib/a.ts', line: 2, message: '121 columns, at most 120' },
  ])
})

test('biome decides what needs types: floating promises, any, non-null assertions', () => {
  const { rules } = JSON.parse(readFileSync(new URL('../biome.json', import.meta.url), 'utf8')).linter
  assert.equal(rules.nursery.noFloatingPromises, 'error')
  assert.equal(rules.suspicious.noExplicitAny, 'error')
  assert.equal(rules.style.noNonNullAssertion, 'error')
})
