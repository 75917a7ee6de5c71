// Threats A-09: deciding about requests keeps nothing of them. ACL_REQUESTS=10000000 node --test … runs the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ROOT } from '../../../src/api/namespace.ts'
import { buildAcl } from '../../../src/auth/acl.ts'
import { parsePolicy } from '../../../src/auth/policy.ts'
import { refusalHint } from '../../../src/auth/refusal-hint.ts'

const REQUESTS = Number(process.env.ACL_REQUESTS ?? 300_000)
/** What the runtime itself may take meanwhile. One path kept a request would be ten times as much. */
const MOST_GROWTH_BYTES = 3_000_000

const { rules } = parsePolicy(`
path "transit/keys/*" { capabilities = ["read"] }
path "transit/+/app-*" {
  capabilities      = ["update"]
  denied_parameters = { "type" = ["rsa-*"] }
}
path "sys/+/+/x" { capabilities = ["deny"] }`)

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

test('A-09: the heap is as it was after many requests with ever other paths', (context) => {
  const acl = buildAcl([{ name: 'p', rules }])
  const scope = { isKnownToAll: false, namespace: ROOT, dependsOnExistence: false }
  let refused = 0
  const run = (from: number, count: number) => {
    for (let at = from; at < from + count; at++) {
      const request = {
        operation: 'update',
        path: `transit/encrypt/app-${at}`,
        parameters: { type: `rsa-${at}` },
      } as const
      if (!acl.check(request).allowed && refusalHint(acl, request, scope) !== '') refused++
      acl.capabilities(`transit/keys/${at}/`)
    }
  }
  run(0, 20_000)
  const before = heapBytes()
  run(20_000, REQUESTS)
  const growth = heapBytes() - before
  context.diagnostic(`grown by ${growth} bytes over ${REQUESTS} requests`)
  assert.equal(refused, REQUESTS + 20_000)
  assert.ok(growth < MOST_GROWTH_BYTES, `${growth} bytes`)
})
