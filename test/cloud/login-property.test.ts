// Generated logins. Login and explain agree on every one; whoever is let in is, by the cloud's own records, what the
// role asks for; and where the reference would let in and we do not, docs/differences.md says why. LOGINS sets how
// many; `npm run torture:logins` takes 100,000.

import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { SAMPLE } from '../../emulator/sample-plan.ts'
import { Refusal } from '../../src/api/errors.ts'
import { ROOT } from '../../src/api/namespace.ts'
import type { CloudAuth } from '../../src/engines/cloud/cloud.ts'
import { type CloudServer, startCloudServer } from '../fixtures/cloud-server.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { testSeed } from '../fixtures/seed.ts'
import { type Generated, mayBeAllowed, mayBeNamed, referenceAllows, SUBSCRIPTIONS } from './login-model.ts'

const LOGINS = Number(process.env.LOGINS ?? 2_000)
const ROLES = 150

const server: CloudServer = await startCloudServer()
after(() => server.stop())
const engine = server.node.mounts.engineOf(server.node.mounts.find(ROOT, 'auth/cloud/')?.uuid ?? '') as CloudAuth
server.emulator.machines.addVirtualMachine({ name: 'detached' })

let random: PseudoRandom = pseudoRandom(1)
const chance = (): number => random.int(2 ** 30) / 2 ** 30
const pick = <T>(list: readonly T[]): T => random.pick(list)
const some = <T>(share: number, of: () => T): T | undefined => (random.chance(share) ? of() : undefined)

const GROUPS = ['rg-app', 'RG-App', 'rg-other', 'rg-app-evil', 'rg-evil', 'rg-id']
const MACHINES = ['vm1', 'VM1', 'vm2', 'vm1x', 'noid', 'ss-f_1a2b3c4d', 'ss-f_fake', 'detached', '111web', 'ss-u_0']
const SETS = ['ss-u', 'ss-u2', 'ss-f', 'SS-U']
const DIRECTORY_GROUPS = ['g1', 'g2']

type Token = { readonly jwt: string; readonly claims: Record<string, unknown>; readonly isGood: boolean }

async function tokens(): Promise<Token[]> {
  const { minting } = server.emulator
  const { vm, set, site, identity } = server
  const hosts: [string, string | undefined][] = [
    [vm('vm1'), undefined],
    [vm('vm1'), 'u1'],
    [vm('vm2'), undefined],
    [vm('vm1x'), 'u1'],
    [vm('vm1', 'rg-other'), 'u1'],
    [vm('vm1', 'rg-app', SAMPLE.otherSubscription), 'u1'],
    [vm('ss-f_fake'), 'u2'],
    [vm('ss-f_1a2b3c4d'), 'u2'],
    [set('ss-u'), undefined],
    [set('ss-u'), 'u1'],
    [set('ss-u2'), 'u1'],
    [site('site1'), undefined],
    [site('site9', 'rg-app-evil'), undefined],
    [site('site3', 'rg-evil'), 'u3'],
  ]
  const good = await Promise.all(
    hosts.flatMap(([id, user]) => {
      const userIdentity = user === undefined ? {} : { userIdentity: identity(user) }
      return [{}, { groups: ['g1'] }].map((claims) => minting.ofResource(id, { ...userIdentity, claims }))
    }),
  )
  const federated = await Promise.all(['u1', 'u2', 'u3'].map((user) => minting.ofFederatedIdentity(identity(user))))
  // Its identity was taken away after it got this token.
  const late = await minting.ofFederatedIdentity(identity('u1'), { claims: { xms_az_rid: vm('detached') } })
  // As older services hand them out: what they are of is not told, or only the identity.
  const unplaced = { claims: { xms_az_rid: undefined, xms_mirid: undefined } }
  const hostless = await Promise.all([
    minting.ofResource(vm('vm1x'), { userIdentity: identity('u1'), claims: { xms_az_rid: undefined } }),
    minting.ofResource(vm('vm1'), unplaced),
    minting.ofResource(site('site1'), unplaced),
  ])
  const bad = await Promise.all([
    minting.ofResource(vm('vm1'), { claims: { aud: 'other' } }),
    minting.ofResource(vm('vm1'), { claims: { tid: SAMPLE.otherTenant } }),
    minting.ofResource(vm('vm1'), { key: 'foreign' }),
    minting.ofResource(vm('vm1'), { key: 'none' }),
  ])
  const read = (isGood: boolean) => (jwt: string) => ({
    jwt,
    claims: decodeJwt(jwt) as Record<string, unknown>,
    isGood,
  })
  return [...[...good, ...federated, ...hostless, late].map(read(true)), ...bad.map(read(false))]
}

async function roles(principals: readonly string[]): Promise<Generated['bounds'][]> {
  const all: Generated['bounds'][] = []
  while (all.length < ROLES) {
    const bounds = {
      service_principal_ids: some(0.7, () => (chance() < 0.6 ? ['*'] : [pick(principals), pick(principals)])) ?? [],
      group_ids: some(0.2, () => (chance() < 0.3 ? ['*'] : [pick(DIRECTORY_GROUPS)])) ?? [],
      subscription_ids: some(0.4, () => [pick(SUBSCRIPTIONS)]) ?? [],
      resource_groups: some(0.4, () => [pick(GROUPS), pick(GROUPS)]) ?? [],
      locations: some(0.2, () => [pick(['eastus', 'westus', 'EastUS'])]) ?? [],
      scale_sets: some(0.15, () => [pick(SETS)]) ?? [],
    }
    const fields = Object.fromEntries(Object.entries(bounds).map(([name, list]) => [`bound_${name}`, list]))
    const { status } = await server.role(`r${all.length}`, fields)
    if (status < 300) all.push(bounds)
  }
  return all
}

function generatedInput(): Record<string, string> {
  const subscription = chance() < 0.8 ? SAMPLE.subscription : SAMPLE.otherSubscription
  const group = chance() < 0.7 ? 'rg-app' : pick(GROUPS)
  const site = server.site(pick(['site1', 'site9', 'site3']), group, subscription)
  const which = chance()
  const machine = server.vm(pick(['vm1', 'vm1x']), group, subscription)
  return {
    subscription_id: subscription,
    resource_group_name: chance() < 0.9 ? group : pick(GROUPS),
    vm_name: which < 0.5 ? pick(MACHINES) : '',
    vmss_name: which > 0.4 && which < 0.75 ? pick(SETS) : '',
    resource_id: which > 0.7 ? (which > 0.95 ? machine : site) : '',
  }
}

test(`P-31: ${LOGINS} generated logins`, async (context) => {
  random = pseudoRandom(testSeed(context))
  const made = await tokens()
  const principals = made.flatMap(({ claims }) => (typeof claims.oid === 'string' ? [claims.oid] : []))
  const bounds = await roles(principals)
  const stricter = new Map<string, number>()
  let allowed = 0
  let differs = 0
  for (let i = 0; i < LOGINS; i++) {
    const at = Math.floor(chance() * ROLES)
    const token = pick(made)
    const input = generatedInput()
    const sent = {
      vm_name: '',
      vmss_name: '',
      resource_id: '',
      subscription_id: '',
      resource_group_name: '',
      ...input,
      role: `r${at}`,
      jwt: token.jwt,
      remoteAddress: '127.0.0.1',
    }
    const what = `${i}: ${JSON.stringify({ bounds: bounds[at], input, claims: token.claims })}`
    let told: Readonly<Record<string, string>> = {}
    const refusal = await engine.logIn(sent, 'test').then(
      ({ metadata }) => {
        told = metadata
      },
      (cause: unknown) => cause,
    )
    assert.ok(refusal === undefined || refusal instanceof Refusal, what)
    const explained = await engine.explain(sent)
    assert.deepEqual(
      [explained.status, explained.reason],
      [refusal?.status ?? 200, refusal?.message ?? ''],
      `login and explain disagree on ${what}`,
    )
    const generated: Generated = { bounds: bounds[at] ?? {}, input, claims: token.claims, isGood: token.isGood }
    if (refusal === undefined) {
      allowed += 1
      assert.ok(mayBeAllowed(server.emulator, generated), `let in, and should not be: ${what}`)
      const names = ['vm_name', 'vmss_name', 'resource_id'].filter((name) => told[name] !== undefined)
      if (names.length > 0) assert.ok(mayBeNamed(server.emulator, generated), `is told ${names}: ${what}`)
    } else if (referenceAllows(server.emulator, generated)) {
      differs += 1
      const reason = refusal.message.replace(/^permission denied: /, '').split(/[:;]/)[0] ?? ''
      stricter.set(reason, (stricter.get(reason) ?? 0) + 1)
    }
  }
  assert.ok(allowed > LOGINS / 500, `only ${allowed} were let in: the cases say nothing`)
  assert.ok(differs > 0)
  context.diagnostic(
    `${allowed} let in, ${differs} that the reference would let in: ${[...stricter.keys()].join(', ')}`,
  )
  const page = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8')
  for (const reason of stricter.keys())
    assert.ok(page.includes(`\`${reason}\``), `docs/differences.md does not name "${reason}"`)
})

test('a bound more never lets in who was refused, and another case changes nothing', async () => {
  const made = await tokens()
  const input = {
    subscription_id: SAMPLE.subscription,
    resource_group_name: 'rg-app',
    vm_name: 'vm1',
    vmss_name: '',
    resource_id: '',
  }
  const wide = { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] }
  await server.role('wide', wide)
  await server.role('narrow', { ...wide, bound_resource_groups: ['rg-app'], bound_locations: ['eastus'] })
  for (const { jwt } of made) {
    const verdict = async (role: string, changed = {}) =>
      (await engine.explain({ ...input, ...changed, role, jwt, remoteAddress: '127.0.0.1' })).status
    const [one, two] = [await verdict('wide'), await verdict('narrow')]
    if (one !== 200) assert.notEqual(two, 200)
    const upper = Object.fromEntries(Object.entries(input).map(([name, text]) => [name, text.toUpperCase()]))
    assert.equal(await verdict('WIDE', upper), one)
  }
})

test('L-08: a token of which any part was changed lets nobody in', async () => {
  const jwt = await server.emulator.minting.ofResource(server.vm('vm1'))
  await server.role('mangled', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] })
  const input = {
    subscription_id: SAMPLE.subscription,
    resource_group_name: 'rg-app',
    vm_name: 'vm1',
    vmss_name: '',
    resource_id: '',
  }
  const status = async (text: string) =>
    (await engine.explain({ ...input, role: 'mangled', jwt: text, remoteAddress: '127.0.0.1' })).status
  assert.equal(await status(jwt), 200)
  const [header = '', payload = '', signature = ''] = jwt.split('.')
  const mangled = [
    `${jwt}\n`,
    ` ${jwt}`,
    `${jwt}=`,
    `${jwt}.x`,
    `${payload}.${header}.${signature}`,
    `${header}.${payload}`,
    `${header}.${payload}.`,
    JSON.stringify({ payload, signatures: [{ protected: header, signature }] }),
  ]
  for (let i = 0; i < 200; i++) {
    const place = Math.floor(chance() * (jwt.length - 1))
    if (jwt[place] === '.') continue
    const letter = jwt[place] === 'A' ? 'Q' : 'A'
    mangled.push(`${jwt.slice(0, place)}${letter}${jwt.slice(place + 1)}`)
  }
  for (const text of mangled) assert.ok([400, 403].includes(await status(text)), text.slice(0, 60))
})
