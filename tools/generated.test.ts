import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { staleOutputs } from './generated.ts'

const FRESH = `process.exitCode = process.argv[2] === '--check' ? 0 : 2`
const STALE = `console.log('out.md is stale'); process.exitCode = 1`
const LOST = 'out.md has lost make.ts, which writes it'
const MISSING = 'out.md is missing: run node make.ts'
const FAILED = ['out.md is stale', 'make.ts --check failed: run node make.ts']

const CASES = [
  { name: 'fresh outputs', files: { 'make.ts': FRESH, 'out.md': '' }, stale: [] },
  { name: 'no script and no output', files: {}, stale: [] },
  { name: 'an output without its script', files: { 'out.md': '' }, stale: [LOST] },
  { name: 'a script without its output', files: { 'make.ts': FRESH }, stale: [MISSING] },
  { name: 'a stale output', files: { 'make.ts': STALE, 'out.md': '' }, stale: FAILED },
]

for (const { name, files, stale } of CASES) {
  test(`generated files: ${name}`, (context) => {
    const root = mkdtempSync(join(tmpdir(), 'generated-'))
    context.after(() => rmSync(root, { recursive: true }))
    for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
    assert.deepEqual(staleOutputs(root, [{ script: 'make.ts', outputs: ['out.md'] }]), stale)
  })
}
