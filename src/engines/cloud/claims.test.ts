import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { JsonObject } from '../../lib/json.ts'
import { audiencesOf, clientIdOf, groupsOf, isOfUser, textClaim, timeClaim } from './claims.ts'

test('a claim that is a text is read, one that is empty or no member of its own is none', () => {
  assert.equal(textClaim({ a: 'b' }, 'a'), 'b')
  for (const claims of [{}, { a: null }, { a: '' }]) assert.equal(textClaim(claims, 'a'), undefined)
  assert.equal(textClaim({}, 'constructor'), undefined)
  for (const a of [0, false, ['b'], {}]) assert.throws(() => textClaim({ a }, 'a'), /claim type: a is not a text/)
})

test('a time is a finite number', () => {
  for (const a of [0, -1, 1.5]) assert.equal(timeClaim({ a }, 'a'), a)
  for (const a of ['1', null, true, Infinity]) assert.equal(timeClaim({ a } as JsonObject, 'a'), undefined)
})

test('an audience is a text, or each text of a list that has nothing else', () => {
  assert.deepEqual(audiencesOf({ aud: 'a' }), ['a'])
  assert.deepEqual(audiencesOf({ aud: ['a', 'b'] }), ['a', 'b'])
  for (const claims of [{}, { aud: ['a', 1] }, { aud: { a: 'b' } }])
    assert.deepEqual(audiencesOf(claims as JsonObject), [])
})

test('groups are listed without empty ones, and whether the token has too many for that is told', () => {
  assert.deepEqual(groupsOf({ groups: ['', 'a', 'b'] }), { ids: ['a', 'b'], isOverage: false })
  for (const claims of [{}, { groups: null }, { groups: [] }])
    assert.deepEqual(groupsOf(claims), { ids: [], isOverage: false })
  const overage: JsonObject[] = [{ hasgroups: true }, { hasgroups: 'true' }, { _claim_names: { groups: 'src1' } }]
  for (const claims of overage) {
    assert.deepEqual(groupsOf(claims), { ids: [], isOverage: true })
    assert.deepEqual(groupsOf({ ...claims, groups: ['a'] }), { ids: ['a'], isOverage: true })
  }
  const none: JsonObject[] = [{ hasgroups: false }, { hasgroups: 'false' }, { _claim_names: { other: 'src1' } }]
  for (const claims of none) assert.equal(groupsOf(claims).isOverage, false)
  assert.equal(groupsOf({ groups: Array(1_000).fill('a') }).ids.length, 1_000)
  assert.throws(() => groupsOf({ groups: Array(1_001).fill('a') }), /more than 1000 entries/)
  for (const groups of ['a', ['a', 1], {}]) assert.throws(() => groupsOf({ groups } as JsonObject), /a list of texts/)
})

test('the application is named by version 1 before version 2, and a person by either sign', () => {
  assert.equal(clientIdOf({ appid: 'a', azp: 'b' }), 'a')
  assert.equal(clientIdOf({ azp: 'b' }), 'b')
  assert.equal(clientIdOf({}), '')
  for (const claims of [{ idtyp: 'user' }, { scp: '' }]) assert.equal(isOfUser(claims), true)
  for (const claims of [{}, { idtyp: 'app' }, { scp: 1 }]) assert.equal(isOfUser(claims), false)
})
