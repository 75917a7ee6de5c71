// Replays recorded exchanges with a server of this API and says what is different.
//
// A scenario: { name, mounts?, auth?, namespaces?, steps: [STEP, …] }. A step: { note?, as?, ns?, headers?,
// req: [METHOD, path, body?], save?, expect? }. `namespaces` are those below the
// root that it makes; `ns` of a step is X-Vault-Namespace.
// "{{x}}" is a value saved before; alone in a string it keeps its type. In `expect` a string that begins with "$" is a
// mask, see `fits`; {"$hash": …} in a request is the hash of an input. Compared are the status and every member that
// the recording has; of errors and warnings only whether there are any. `as: null` sends no token.
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { type MaterialToWrap, wrappedMaterial } from './wrapped-material.ts'

export type Step = {
  readonly note?: string
  readonly as?: string | null
  readonly ns?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly req: readonly [method: string, path: string, body?: unknown]
  readonly save?: Readonly<Record<string, string>>
  readonly wait_ms?: number
  readonly expect?: { readonly status: number | string; readonly body: unknown }
}
export type Scenario = {
  readonly name: string
  readonly mounts?: readonly string[]
  readonly auth?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly steps: readonly Step[]
}
export type Difference = { readonly step: number; readonly what: string }

type Target = { readonly address: string; readonly token: string }
type Reply = { readonly status: number; readonly body: unknown }
type Variables = Record<string, unknown>

/** Raw request: the path goes out as it is written, and LIST is a method. */
export function send(
  target: Target,
  method: string,
  path: string,
  body: unknown,
  token: string | undefined,
  headers = {},
): Promise<Reply> {
  const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const url = new URL(target.address)
  const all: Record<string, string | number> = { ...headers }
  if (token !== undefined) all['X-Vault-Token'] = token
  if (payload !== undefined) {
    all['Content-Type'] ??= 'application/json'
    all['Content-Length'] = Buffer.byteLength(payload)
  }
  return new Promise((resolve, reject) => {
    const outgoing = request({ method, host: url.hostname, port: url.port, path, headers: all }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = incoming.headers['content-type']?.startsWith('application/json') === true
        const body = text === '' ? null : isJson ? JSON.parse(text) : text
        resolve({ status: incoming.statusCode ?? 0, body })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(payload)
  })
}

/** Plays a scenario on fresh mounts and without policies; a server of its own is assumed. */
export async function replay(scenario: Scenario, target: Target): Promise<Difference[]> {
  const variables: Variables = { root: target.token, now: Math.floor(Date.now() / 1000) }
  const mounts = mountsOf(scenario)
  await cleanPolicies(target)
  for (const name of scenario.namespaces ?? []) await dropNamespace(target, '', name)
  for (const { endpoint, type } of mounts) {
    await send(target, 'DELETE', endpoint, undefined, target.token)
    const { status, body } = await send(target, 'POST', endpoint, { type }, target.token)
    if (status !== 204) throw new Error(`mounting ${endpoint}: ${status} ${JSON.stringify(body)}`)
  }
  const differences: Difference[] = []
  for (const [index, step] of scenario.steps.entries()) {
    for (const what of await play(step, target, variables)) differences.push({ step: index, what })
  }
  for (const name of scenario.namespaces ?? []) await dropNamespace(target, '', name)
  for (const { endpoint } of mounts) await send(target, 'DELETE', endpoint, undefined, target.token)
  return differences
}

/** What a scenario wants mounted: `path:type`, engines and login methods. */
function mountsOf({ mounts = ['transit:transit'], auth = [] }: Scenario): { endpoint: string; type: string }[] {
  const under = (folder: string) => (mount: string) => {
    const [path = '', type = ''] = mount.split(':')
    return { endpoint: `/v1/sys/${folder}/${path}`, type }
  }
  return [...mounts.map(under('mounts')), ...auth.map(under('auth'))]
}

async function cleanPolicies(target: Target): Promise<void> {
  const { body } = await send(target, 'GET', '/v1/sys/policies/acl?list=true', undefined, target.token)
  for (const name of (memberAt(body, 'data.keys') ?? []) as string[]) {
    if (name !== 'root' && name !== 'default')
      await send(target, 'DELETE', `/v1/sys/policies/acl/${name}`, undefined, target.token)
  }
}

/** Removes a namespace with all below it, and waits until it is gone. */
async function dropNamespace(target: Target, parent: string, name: string): Promise<void> {
  const ask = (method: string, path: string, within = parent) =>
    send(target, method, `/v1/sys/namespaces${path}`, undefined, target.token, { [NAMESPACE]: within })
  if ((await ask('GET', `/${name}`)).status !== 200) return
  await ask('POST', `/api-lock/unlock/${name}`)
  const inner = `${parent}${name}/`
  const { body } = await ask('LIST', '', inner)
  for (const child of (memberAt(body, 'data.keys') ?? []) as string[])
    await dropNamespace(target, inner, child.slice(0, -1))
  await ask('DELETE', `/${name}`)
  for (let tries = 0; tries < 200 && (await ask('GET', `/${name}`)).status === 200; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50))
}

const NAMESPACE = 'X-Vault-Namespace'

async function play(step: Step, target: Target, variables: Variables): Promise<string[]> {
  if (step.wait_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, step.wait_ms))
  const [method, path, body] = step.req
  const token = step.as === undefined ? target.token : step.as === null ? undefined : String(fill(step.as, variables))
  const reply = await send(
    target,
    method,
    String(fill(path, variables)),
    fill(body, variables),
    token,
    fill({ ...step.headers, ...(step.ns === undefined ? {} : { [NAMESPACE]: step.ns }) }, variables) as object,
  )
  for (const [name, where] of Object.entries(step.save ?? {})) variables[name] = memberAt(reply.body, where)
  if (step.expect === undefined) return []
  const age = Date.now() / 1000 - Number(variables.now)
  return [...statusDifference(step.expect.status, reply), ...difference(step.expect.body, reply.body, '', age)]
}

function statusDifference(wanted: number | string, reply: Reply): string[] {
  const same =
    wanted === '$any' || (wanted === '$4xx' ? reply.status >= 400 && reply.status < 500 : wanted === reply.status)
  return same ? [] : [`status: want ${wanted}, got ${reply.status} ${JSON.stringify(reply.body)?.slice(0, 200)}`]
}

const memberAt = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (at === null || at === undefined ? undefined : (at as Variables)[name]), value)

/** Puts saved values in. */
function fill(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') {
    if (value.startsWith('{{') && value.indexOf('}}') === value.length - 2)
      return memberAt(variables, value.slice(2, -2))
    return value
      .split('{{')
      .map((part, index) => {
        const end = part.indexOf('}}')
        return index === 0 || end === -1 ? part : String(memberAt(variables, part.slice(0, end))) + part.slice(end + 2)
      })
      .join('')
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, variables))
  if (typeof value !== 'object' || value === null) return value
  if ('$hash' in value) return hashOf(value.$hash as HashedInput)
  if ('$import' in value) return wrappedMaterial(fill(value.$import, variables) as MaterialToWrap)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, variables)]))
}

type HashedInput = { readonly alg: string; readonly input: string }

/** Base64 of both. */
function hashOf({ alg, input }: HashedInput): string {
  return createHash(alg).update(Buffer.from(input, 'base64')).digest('base64')
}

const isObject = (value: unknown): value is Variables =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** What of `wanted` is not in `got`; what is given for a time may have lost the age of the scenario, in seconds. */
export function difference(wanted: unknown, got: unknown, where: string, age = 0): string[] {
  const wrong = [
    `${where || 'body'}: want ${JSON.stringify(wanted)?.slice(0, 120)}, got ${JSON.stringify(got)?.slice(0, 160)}`,
  ]
  if (typeof wanted === 'string' && wanted.startsWith('$')) return fits(wanted, got) ? [] : wrong
  if (where === 'errors' || where === 'warnings') return isFilled(wanted) === isFilled(got) ? [] : wrong
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length) return wrong
    return wanted.flatMap((item, index) => difference(item, got[index], `${where}[${index}]`, age))
  }
  if (isObject(wanted) && Array.isArray(wanted.$set)) return setDifference(wanted.$set, got, wrong)
  if (isObject(wanted))
    return isObject(got)
      ? Object.keys(wanted).flatMap((name) => memberDifference(name, wanted[name], got[name], where, age))
      : wrong
  if (typeof wanted === 'number' && typeof got === 'number' && isLifetime(where, wanted))
    return got - wanted <= 3 && wanted - got <= 3 + age ? [] : wrong
  return wanted === got || (wanted === null && got === undefined) ? [] : wrong
}

/** `{"$set": […]}` is an array in any order. */
function setDifference(wanted: readonly unknown[], got: unknown, wrong: string[]): string[] {
  if (!Array.isArray(got) || got.length !== wanted.length) return wrong
  const left = [...got]
  for (const item of wanted) {
    const at = left.findIndex((one) => difference(item, one, '').length === 0)
    if (at === -1) return wrong
    left.splice(at, 1)
  }
  return []
}

/** The wording of an error inside a batch is free. */
function memberDifference(name: string, wanted: unknown, got: unknown, where: string, age: number): string[] {
  const path = where === '' ? name : `${where}.${name}`
  if (name !== 'error' || typeof wanted !== 'string' || wanted === '') return difference(wanted, got, path, age)
  return typeof got === 'string' && got !== '' ? [] : [`${path}: want an error text, got ${JSON.stringify(got)}`]
}

const isLifetime = (where: string, wanted: number): boolean =>
  wanted > 30 && /(^|[._])(ttl|lease_duration)$/.test(where)

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const NAMESPACE_ID = /^[0-9A-Za-z]{5,6}$/
const ENDING = /^(.*)\.[0-9A-Za-z]{5,6}$/s
const VERSIONED = /^vault:v(\d+):/
const DAY_SECONDS = 86_400

function fits(mask: string, got: unknown): boolean {
  const [kind, argument] = mask.slice(1).split(':')
  switch (kind) {
    case 'any':
      return true
    case 'absent-or-null':
      return got === undefined || got === null
    case 'int':
      return Number.isInteger(got)
    case 'number':
      return typeof got === 'number'
    case 'now':
      return typeof got === 'number' && Math.abs(got - Date.now() / 1000) < DAY_SECONDS
    default:
      return typeof got === 'string' && fitsText(kind ?? '', argument ?? '', got)
  }
}

/** A text that a namespace gave: as the mask without `-ns`, with a point and the id of the namespace behind it. */
function fitsEnded(kind: string, got: string): boolean {
  const own = ENDING.exec(got)?.[1]
  return own !== undefined && fitsText(kind, '', own)
}

function fitsText(kind: string, argument: string, got: string): boolean {
  if (kind.endsWith('-ns')) return fitsEnded(kind.slice(0, -'-ns'.length), got)
  switch (kind) {
    case 'nsid':
      return NAMESPACE_ID.test(got)
    case 'string':
      return true
    case 'uuid':
      return UUID.test(got)
    case 'accessor':
      return got !== ''
    case 'time':
      return TIME.test(got)
    case 'token':
      return got.length >= 20
    case 'ciphertext':
    case 'signature':
      return VERSIONED.exec(got)?.[1] === argument.slice(1)
    case 'base64':
      return Buffer.from(got, 'base64').length === Number(argument)
    case 'pem':
      return got.startsWith(`-----BEGIN ${argument}-----`)
    default:
      throw new Error(`The mask $${kind} is not known`)
  }
}
