// A wrapped token gives its bundle once: what becomes of it where the primary refuses.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { primaryOfSet, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import type { ActivationKnock, Knocked } from '../../replication/link/link-sides.ts'
import { activationText } from '../../replication/set/activation-token.ts'
import { Activating } from './activating.ts'

const part = (of: object): string => Buffer.from(JSON.stringify(of)).toString('base64url')
const JWT = [
  part({ alg: 'ES512', typ: 'JWT' }),
  part({ type: 'wrapping', jti: 'hvs.x', addr: 'https://a:8200' }),
  Buffer.alloc(132).toString('base64url'),
].join('.')
const GIVEN = { token: JWT, primaryApiAddress: '', caFile: '', caPath: '' }

/** A cluster to be activated whose primary refuses with this code; `asked` are the questions that it was asked. */
async function stage(code: Extract<Knocked, { readonly kind: 'refused' }>['code']) {
  const { bundle } = await primaryOfSet(51)
  const cluster = new SetCluster(52)
  const asked: ActivationKnock[] = []
  let unwrapped = 0
  const activating = new Activating({
    view: cluster.view,
    links: {
      knock: async (knock) => {
        asked.push(knock as ActivationKnock)
        return { kind: 'refused', code, sentence: `Refused with ${code}` }
      },
    },
    primaryApi: {
      unwrap: async () => {
        unwrapped++
        if (unwrapped > 1) return { kind: 'failed', sentence: 'The token was used already' }
        return { kind: 'bundle', text: activationText(bundle) }
      },
      look: () => assert.fail('nothing is looked at'),
    },
    world: { clock: { nowMs: () => cluster.nowMs, monotonicMs: () => 0 }, random: cluster.random },
    facts: () => ({ version: '1.0.0', clusterId: 'c', clusterAddresses: [], apiAddress: '' }),
    activate: () => assert.fail('nothing is activated'),
    requireOwnRoot: () => assert.fail('no shares are looked at'),
  })
  return { cluster, asked, enable: () => activating.enable('dr', GIVEN) }
}

for (const code of ['busy', 'not-active', 'clock', 'version'] as const) {
  test(`a primary that says "${code}" can be asked again with the same token, by the same key`, async () => {
    const { asked, enable } = await stage(code)
    for (let tries = 0; tries < 2; tries++) await assert.rejects(enable(), new RegExp(`Refused with ${code}`))
    const [first, second] = asked
    assert.deepEqual(first?.receiver, second?.receiver)
  })
}

for (const code of ['token', 'revoked', 'unknown-id', 'other-set', 'not-primary', 'fenced'] as const) {
  test(`of a token that is refused with "${code}" nothing is kept`, async () => {
    const { cluster, enable } = await stage(code)
    await assert.rejects(enable(), new RegExp(`Refused with ${code}`))
    assert.deepEqual([...cluster.view.entries.keys()], [])
  })
}
