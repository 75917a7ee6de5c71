import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FAMILY_MODES,
  FAMILY_OPERATIONS,
  type FamilyMode,
  type FamilyOperation,
  type FamilyParts,
  refusalOfOperation,
} from './family-operations.ts'
import { REPLICATION_FAMILIES } from './peer-name.ts'

const parts = (dr: FamilyMode, performance: FamilyMode, fenced: '' | 'dr' | 'performance' = ''): FamilyParts => ({
  dr: { mode: dr, isFenced: fenced === 'dr' },
  performance: { mode: performance, isFenced: fenced === 'performance' },
})

/** Modes of dr and performance, by their first letters; a bootstrapping cluster has a b. */
const MODES: Readonly<Record<string, FamilyMode>> = {
  '-': 'disabled',
  b: 'bootstrapping',
  p: 'primary',
  s: 'secondary',
}
const ALL = FAMILY_MODES.flatMap((dr) => FAMILY_MODES.map((performance) => [dr, performance] as const))

/** Every state in which each operation is allowed, `dr performance`; in all others it is not. Written by hand. */
const ALLOWED: Readonly<Record<string, string>> = {
  'dr primary/enable': '-- -p -s',
  'dr primary/demote': 'p- pb pp ps',
  'dr primary/disable': 'p- pb pp ps',
  'dr primary/secondary-token': 'p- pb pp ps',
  'dr primary/revoke-secondary': 'p- pb pp ps',
  'dr primary/rotate-authority': 'p- pb pp ps',
  'dr primary/paths-filter': 'p- pb pp ps',
  'dr primary/dynamic-filter': 'p- pb pp ps',
  'dr secondary/dynamic-filter': 's- sb sp ss',
  'dr secondary/generate-public-key': '-- -b -p -s s- sb sp ss',
  'dr secondary/enable': '--',
  'dr secondary/promote': 's- sb sp ss',
  'dr secondary/disable': 's- sb sp ss b- bb bp bs',
  'dr secondary/update-primary': 's- sb sp ss',
  'performance primary/enable': '-- p-',
  'performance primary/demote': '-p pp',
  'performance primary/disable': '-p pp',
  'performance primary/secondary-token': '-p pp',
  'performance primary/revoke-secondary': '-p pp',
  'performance primary/rotate-authority': '-p pp',
  'performance primary/paths-filter': '-p pp',
  'performance primary/dynamic-filter': '-p pp',
  'performance secondary/dynamic-filter': '-s ps',
  'performance secondary/generate-public-key': '-- -s p- ps',
  'performance secondary/enable': '--',
  'performance secondary/promote': '-s ps',
  'performance secondary/disable': '-s ps -b pb',
  'performance secondary/update-primary': '-s ps',
}

test('each operation is allowed in the states that are listed for it, and refused in every other', () => {
  const seen: string[] = []
  for (const family of REPLICATION_FAMILIES) {
    for (const operation of FAMILY_OPERATIONS) {
      const name = `${family} ${operation}`
      seen.push(name)
      const allowed = (ALLOWED[name] ?? assert.fail(name)).split(' ').map((two) => {
        const [dr = '', performance = ''] = two
        return [MODES[dr], MODES[performance]].join()
      })
      const found = ALL.filter(
        ([dr, performance]) => refusalOfOperation(parts(dr, performance), family, operation) === undefined,
      )
      assert.deepEqual(new Set(found.map(String)), new Set(allowed), name)
    }
  }
  assert.deepEqual(seen, Object.keys(ALLOWED))
})

test('a refusal names the operation or the other family, both modes, and what to do; waiting helps a 503', () => {
  let refused = 0
  for (const family of REPLICATION_FAMILIES)
    for (const operation of FAMILY_OPERATIONS)
      for (const [dr, performance] of ALL) {
        const refusal = refusalOfOperation(parts(dr, performance), family, operation)
        if (refusal === undefined) continue
        refused++
        const waits = parts(dr, performance)[family].mode === 'bootstrapping' && /promote|update/.test(operation)
        const isFollowed = family === 'performance' && refusal.sentence.startsWith('path disabled')
        assert.equal(refusal.status, waits && !isFollowed ? 503 : 400)
        assert.ok(refusal.sentence.endsWith(`in mode ${dr} for dr, and in mode ${performance} for performance`))
        assert.match(refusal.sentence, /first|wait|its primary|makes it|gives it/)
        // The whole is a sentence or two, and without its last period, as all refusals are.
        assert.match(refusal.sentence, /^["A-Zp].*[a-z]$/)
      }
  assert.equal(
    refused,
    ALL.length * REPLICATION_FAMILIES.length * FAMILY_OPERATIONS.length -
      Object.values(ALLOWED).join(' ').split(' ').length,
  )
})

const sentence = (state: FamilyParts, family: 'dr' | 'performance', operation: FamilyOperation): string =>
  refusalOfOperation(state, family, operation)?.sentence ?? ''

test('what users run into says what to do', () => {
  const said: readonly (readonly [RegExp, string])[] = [
    [/"secondary\/promote" makes it/, sentence(parts('secondary', 'disabled'), 'dr', 'primary/enable')],
    [/"primary\/disable" first/, sentence(parts('primary', 'disabled'), 'dr', 'primary/enable')],
    [/"secondary\/update-primary" gives it/, sentence(parts('secondary', 'disabled'), 'dr', 'secondary/enable')],
    [/is the primary already/, sentence(parts('primary', 'disabled'), 'dr', 'secondary/promote')],
    [/"primary\/demote" makes it/, sentence(parts('primary', 'disabled'), 'dr', 'secondary/update-primary')],
    [/"primary\/disable" ends its set/, sentence(parts('primary', 'disabled'), 'dr', 'secondary/disable')],
    [/"primary\/enable" makes/, sentence(parts('disabled', 'disabled'), 'dr', 'primary/secondary-token')],
    [/"secondary\/enable" makes/, sentence(parts('disabled', 'disabled'), 'dr', 'secondary/promote')],
    [/call its primary/, sentence(parts('disabled', 'secondary'), 'performance', 'primary/secondary-token')],
    [/copy is whole/, sentence(parts('bootstrapping', 'disabled'), 'dr', 'secondary/promote')],
    [/would vanish/, sentence(parts('disabled', 'primary'), 'dr', 'secondary/enable')],
    [/disable dr first/, sentence(parts('primary', 'disabled'), 'performance', 'secondary/enable')],
    [/copied for performance/, sentence(parts('disabled', 'bootstrapping'), 'dr', 'primary/enable')],
  ]
  for (const [pattern, text] of said) assert.match(text, pattern)
  for (const operation of FAMILY_OPERATIONS) {
    for (const dr of ['secondary', 'bootstrapping'] as const) {
      const text = sentence(parts(dr, 'disabled'), 'performance', operation)
      assert.match(text, /^path disabled in replication DR secondary mode/)
    }
  }
})

const NOT_BY_A_FENCED_ONE: ReadonlySet<string> = new Set(
  ['secondary-token', 'revoke-secondary', 'rotate-authority', 'paths-filter', 'dynamic-filter'].map(
    (one) => `primary/${one}`,
  ),
)

test('a fenced primary can be demoted and disabled, and does nothing else', () => {
  for (const family of REPLICATION_FAMILIES) {
    const state = family === 'dr' ? parts('primary', 'disabled', 'dr') : parts('disabled', 'primary', 'performance')
    for (const operation of FAMILY_OPERATIONS) {
      const refusal = refusalOfOperation(state, family, operation)
      if (operation === 'primary/demote' || operation === 'primary/disable') assert.equal(refusal, undefined)
      else if (NOT_BY_A_FENCED_ONE.has(operation))
        assert.deepEqual([refusal?.status, /took over/.test(refusal?.sentence ?? '')], [503, true])
      else assert.equal(refusal?.status, 400)
    }
  }
})
