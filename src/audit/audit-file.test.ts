import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DeviceError, type FileRule, isRemoteFile, openAuditFile } from './audit-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'keywright-test-'))
after(() => rmSync(directory, { recursive: true }))

let count = 0
const fresh = (): string => join(directory, `file-${++count}`)
const PREV = 'p'.repeat(43)
const CHAIN = `{"stream":"${'A'.repeat(16)}","seq":7,"prev":"${PREV}"}`
const LINE = `{"time":"2026-01-01T00:00:00.000Z","chain":${CHAIN},"type":"request","request":{}}\n`
const RULES: readonly FileRule[] = ['new-or-ours', 'empty-or-ours', 'any']

async function open(path: string, rule: FileRule, mode = 0o600) {
  const file = await openAuditFile(path, mode, rule)
  await file.handle.close()
  return file
}

const refused = (path: string, rule: FileRule, why: RegExp) =>
  assert.rejects(open(path, rule), (cause) => cause instanceof DeviceError && why.test(cause.message))

test('a new file is made with its mode, whatever the umask', async () => {
  const before = process.umask(0o077)
  try {
    for (const mode of [0o600, 0o640, 0o660]) {
      const path = fresh()
      await open(path, 'new-or-ours', mode)
      assert.equal(statSync(path).mode & 0o7777, mode)
    }
  } finally {
    process.umask(before)
  }
})

test('a file of ours gets the mode, and is told apart by how it ends', async () => {
  for (const [text, isMidLine] of [
    [LINE, false],
    [`${LINE}{"time":"2026`, true],
    [`keywright: ${LINE}`, false],
  ] as const) {
    const path = fresh()
    writeFileSync(path, text, { mode: 0o666 })
    const file = await open(path, 'new-or-ours')
    assert.equal(file.isMidLine, isMidLine)
    assert.equal(statSync(path).mode & 0o7777, 0o600)
    assert.deepEqual(
      file.found.map(({ stream, seq }) => [stream, seq]),
      [['A'.repeat(16), 7]],
    )
    assert.equal(readFileSync(path, 'latin1'), text)
  }
})

test('the chains that end in a long file are found, by their last lines', async () => {
  const path = fresh()
  const lineOf = (stream: string, seq: number) =>
    LINE.replace('A'.repeat(16), stream.padEnd(16, '0')).replace('"seq":7', `"seq":${seq}`)
  const many = Array.from({ length: 3_000 }, (_, seq) => lineOf('A', seq) + lineOf('B', seq))
  writeFileSync(path, `${lineOf('old', 0)}${many.join('')}${lineOf('A', 3_000)}`)
  const { found } = await open(path, 'any')
  assert.deepEqual(
    found.map(({ stream, seq }) => [stream.replace(/0+$/, ''), seq]),
    [
      ['B', 2_999],
      ['A', 3_000],
    ],
  )
})

test('U-07: a request never opens another file than a new one or a log of ours', async () => {
  const path = fresh()
  for (const text of ['root:x:0:0\n', '{"time":"now"}\n', `${'x'.repeat(300)}${LINE}`, '\0'.repeat(600)]) {
    writeFileSync(path, text)
    await refused(path, 'new-or-ours', /exists and is no audit log/)
    await refused(path, 'empty-or-ours', /exists and is no audit log/)
    assert.equal(readFileSync(path, 'latin1'), text)
    await open(path, 'any')
  }
  writeFileSync(path, '')
  await refused(path, 'new-or-ours', /exists and is empty/)
  await open(path, 'empty-or-ours')
})

test('F-07, U-07: pipes, links, directories and devices are refused at once, whoever names them', async () => {
  const pipe = fresh()
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0)
  const target = fresh()
  writeFileSync(target, LINE)
  const link = fresh()
  symlinkSync(target, link)
  const dangling = fresh()
  symlinkSync(join(directory, 'nothing'), dangling)
  const folder = fresh()
  mkdirSync(folder)
  for (const rule of RULES) {
    await refused(pipe, rule, /is no regular file/)
    await refused(link, rule, /symbolic link/)
    await refused(dangling, rule, /symbolic link/)
    await refused(folder, rule, /is a directory/)
    await refused('/dev/full', rule, /is no regular file/)
    await refused(join(directory, 'no', 'such', 'folder'), rule, /directory does not exist/)
  }
})

test('a file system of this machine is not taken for one behind a network', async () => {
  assert.equal(await isRemoteFile(join(directory, 'x')), false)
  await assert.rejects(isRemoteFile(join(directory, 'no', 'x')), /directory does not exist/)
})
