// The status code of sys/health in every state of a node, with every code that a caller may choose.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole } from '../../api/node-role.ts'

type Server = Awaited<ReturnType<typeof startMemoryServer>>
type Kind = 'uninit' | 'sealed' | 'drsecondary' | 'performancestandby' | 'active'

const USUAL: Readonly<Record<Kind, number>> = {
  uninit: 501,
  sealed: 503,
  drsecondary: 472,
  performancestandby: 473,
  active: 200,
}
const KINDS = Object.keys(USUAL) as readonly Kind[]
/** Codes for states that no node here has: they change nothing. */
const OF_OTHERS = ['standbycode=290', 'removedcode=291', 'haunhealthycode=292', 'standbyok=true', 'standbyok=false']
const CHOSEN: Readonly<Record<Kind, number>> = {
  uninit: 295,
  sealed: 296,
  drsecondary: 297,
  performancestandby: 298,
  active: 299,
}

const FAMILY_STATES = ['disabled', 'bootstrapping', 'primary', 'secondary'] as const
/** Every role, with what it is to a load balancer: by the first that holds. */
const ROLES = FAMILY_STATES.flatMap((dr) =>
  FAMILY_STATES.flatMap((performance) =>
    [false, true].flatMap((isStandby) =>
      [false, true].map((isFenced): { readonly role: NodeRole; readonly kind: Kind } => {
        const follows = dr === 'secondary' || dr === 'bootstrapping'
        const readsAlone = isStandby || isFenced || performance === 'bootstrapping'
        const kind = follows ? 'drsecondary' : readsAlone ? 'performancestandby' : 'active'
        return { role: { ...ACTIVE_PRIMARY, dr, performance, isStandby, isFenced }, kind }
      }),
    ),
  ),
)

const given = (kind: Kind): string => `${kind}code=${CHOSEN[kind]}`

/** Each code alone, all of them, and those of other states; each with what it makes of a node of this kind. */
function asked(kind: Kind): readonly (readonly [query: string, status: number])[] {
  const asActive = (code: number, active: number): number => (kind === 'performancestandby' ? active : code)
  return [
    ['', USUAL[kind]],
    ...KINDS.map((one): [string, number] => [given(one), one === kind ? CHOSEN[kind] : USUAL[kind]]),
    [KINDS.map(given).join('&'), CHOSEN[kind]],
    ...OF_OTHERS.map((other): [string, number] => [other, USUAL[kind]]),
    ['perfstandbyok=false', USUAL[kind]],
    ['perfstandbyok=true', asActive(USUAL[kind], 200)],
    [`perfstandbyok=true&${given('active')}`, asActive(kind === 'active' ? 299 : USUAL[kind], 299)],
    [`perfstandbyok=true&${given('performancestandby')}`, asActive(USUAL[kind], 200)],
  ]
}

async function requireCodes({ call }: Server, kind: Kind, what: string): Promise<void> {
  for (const [query, status] of asked(kind))
    for (const method of ['GET', 'HEAD'])
      assert.equal((await call(method, `sys/health?${query}`, undefined, '')).status, status, `${what} ?${query}`)
}

test(`T95: each of ${ROLES.length} roles answers its code, or the one that was chosen for it`, async () => {
  const server = await startMemoryServer()
  for (const { role, kind } of ROLES) {
    await server.node.changeRole({ ...FOLLOWS_NONE, role })
    await requireCodes(server, kind, JSON.stringify(role))
  }
})

test('T95: a sealed node is sealed before anything else, and one that was never initialised is that', async () => {
  for (const kind of KINDS)
    for (const { role } of ROLES.filter((one) => one.kind === kind).slice(0, 2)) {
      const server = await startMemoryServer()
      await server.node.changeRole({ ...FOLLOWS_NONE, role })
      await server.node.operations.seal()
      await requireCodes(server, 'sealed', JSON.stringify(role))
    }
  await requireCodes(await startMemoryServer({ shares: 0, threshold: 0 }), 'uninit', 'new')
})

test('T95: a code that is no status, and a switch that is none, are refused by name', async () => {
  const { call } = await startMemoryServer()
  const codes = [...KINDS, 'standby', 'removed', 'haunhealthy'].map((kind) => `${kind}code`)
  const wrong = [
    ...codes.flatMap((field) => ['x', '', '99', '199', '600', '2e2', '200.5', '-200'].map((value) => [field, value])),
    ...['standbyok', 'perfstandbyok'].flatMap((field) => ['x', '2', 'yes please'].map((value) => [field, value])),
  ]
  for (const [field = '', value = ''] of wrong) {
    const { status, body } = await call('GET', `sys/health?${field}=${encodeURIComponent(value)}`, undefined, '')
    assert.equal(status, 400, `${field}=${value}`)
    assert.match(String(body.errors), new RegExp(field), `${field}=${value}`)
  }
})
