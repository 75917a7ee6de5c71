import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CLIENT_TESTS, clientPart, clientsPage, PAGE, partsOf } from './clients-page.ts'

const page = readFileSync(PAGE, 'utf8')

test('docs/clients.md holds nothing but what the runs make of it, a section for each client', () => {
  const parts = partsOf(page)
  assert.equal(clientsPage(parts), page)
  assert.equal(parts.length, CLIENT_TESTS.length)
})

test('each test of an existing client is one of those that make docs/clients.md', () => {
  const made = readdirSync(import.meta.dirname).filter((name) => {
    return (
      name.endsWith('.test.ts') && readFileSync(`${import.meta.dirname}/${name}`, 'utf8').endsWith('\nrun.close()\n')
    )
  })
  assert.deepEqual([...CLIENT_TESTS].filter((name) => name !== 'hvac.test.ts').sort(), made.sort())
})

test('the page names flows, calls and results, and counts the results', () => {
  const flows = [
    { title: 'tokens', calls: ['create', 'revoke'], result: 'runs' },
    { title: 'the PKI engine', calls: ['issue'], result: 'not offered: no such engine' },
  ]
  const part = clientPart({ name: 'some-client', version: '1.2.3', language: 'Python', flows })
  assert.equal(part.row, '| `some-client` | 1.2.3 | Python | 1 | 1 | 0 |')
  assert.match(part.section, /^\| tokens \| `create`, `revoke` \| runs \|$/m)
  assert.deepEqual(partsOf(clientsPage([part, part])), [part, part])
})
