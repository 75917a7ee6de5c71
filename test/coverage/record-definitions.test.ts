// Every definition of a stored record: what it encodes it decodes to the same, and a stored JSON that was changed
// anywhere is refused by the name of the record and the member, or is a whole record.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { JsonValue } from '../../src/lib/json.ts'
import type { Kind, Members } from '../../src/lib/member-kinds.ts'
import { StorageCorrupt } from '../../src/storage/errors.ts'
import { readTree } from '../../tools/tree.ts'
import { DEFINITIONS, EXAMPLES } from '../fixtures/record-definitions.ts'
import { changedJson, valuesOf } from '../fixtures/record-values.ts'
import { testSeed } from '../fixtures/seed.ts'
import { PROJECT } from '../fixtures/server-process.ts'

const RUNS = 150

test('every definition of the program is among those that are tested', () => {
  const sources = [...readTree(PROJECT)].filter(
    ([path]) => path.startsWith('src/') && !path.endsWith('.test.ts') && path !== 'src/storage/stored-record.ts',
  )
  const found = sources.flatMap(([, text]) =>
    [...text.matchAll(/= storedRecord\(\s*'([^']+)'/g)].map(([, what]) => what),
  )
  const calls = sources.flatMap(([, text]) => [...text.matchAll(/\bstoredRecord\(/g)])
  assert.equal(calls.length, found.length, 'the name of a record is written out, in the definition itself')
  assert.deepEqual(found.sort(), DEFINITIONS.map(({ what }) => what).sort())
})

/** What a record of this kind may have besides its members, and nothing that is not of its kind. */
function assertWhole(kind: Kind<unknown>, value: unknown): void {
  assert.deepEqual(kind.read(JSON.parse(JSON.stringify(value)) as JsonValue), value)
  const { form } = kind
  if (form.is !== 'group') return
  for (const [name, { optional, otherwise }] of Object.entries(form.members as Members))
    assert.ok(optional === true || otherwise !== undefined || Object.hasOwn(value as object, name), name)
}

for (const definition of DEFINITIONS) {
  const { what, kind } = definition
  test(`${what.toLowerCase()} is decoded as it was encoded`, (t) => {
    const property = fc.property(valuesOf(kind, EXAMPLES), (record) => {
      const bytes = definition.encode(record as object)
      assert.deepEqual(definition.decode(bytes), record)
    })
    fc.assert(property, { seed: testSeed(t), numRuns: RUNS })
  })

  test(`${what.toLowerCase()} that was changed in the store is refused by name, or whole`, (t) => {
    const changed = valuesOf(kind, EXAMPLES).chain((record) =>
      changedJson(JSON.parse(definition.encode(record as object).toString()) as JsonValue),
    )
    const property = fc.property(changed, (value) => {
      let decoded: unknown
      try {
        decoded = definition.decode(Buffer.from(JSON.stringify(value)))
      } catch (cause) {
        assert.ok(cause instanceof StorageCorrupt, String(cause))
        assert.match(
          cause.message,
          /^[\w /-]+ (?:has an unknown format|lacks "[\w.[\]*]+"|has a "[\w.[\]*]+" that cannot be)$/,
        )
        assert.ok(cause.message.startsWith(what))
        return
      }
      assertWhole(kind, decoded)
    })
    fc.assert(property, { seed: testSeed(t), numRuns: RUNS })
  })
}
