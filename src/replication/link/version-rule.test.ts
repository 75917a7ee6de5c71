import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agreedProtocol, ownSpeech, type Speaks } from './version-rule.ts'

const primary = (changed: Partial<Speaks> = {}): Speaks => ({ ...ownSpeech('1.2.0'), ...changed })

test('P-55: a secondary of the same version or a newer one may follow', () => {
  for (const version of ['1.2.0', '1.2.1', '2.0.0-rc.1']) assert.equal(agreedProtocol(primary(), ownSpeech(version)), 1)
  assert.equal(agreedProtocol(primary({ newest: 3 }), { ...ownSpeech('1.2.0'), newest: 2 }), 2)
})

const CASES: readonly (readonly [string, Speaks, Speaks, RegExp])[] = [
  [
    'an older version',
    primary(),
    ownSpeech('1.1.9'),
    /1\.2\.0, and the secondary 1\.1\.9: upgrade the secondary first/,
  ],
  ['an older format', primary({ recordFormat: 9 }), ownSpeech('1.2.0'), /cannot read.*upgrade the secondary first/],
  ['a protocol that is too old', primary({ oldest: 2, newest: 2 }), ownSpeech('1.2.0'), /upgrade the secondary first/],
  ['one that is too new', primary(), { ...ownSpeech('1.2.0'), oldest: 2, newest: 2 }, /upgrade the primary first/],
  ['no version', primary(), ownSpeech('\u001b[31m'), /^One of the two clusters does not say which version it has$/],
]

for (const [what, one, other, sentence] of CASES) {
  test(`a secondary with ${what} is refused`, () => {
    const agreed = agreedProtocol(one, other)
    assert.ok(typeof agreed === 'object', String(agreed))
    assert.match(agreed.sentence, sentence)
  })
}
