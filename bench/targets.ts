// The servers under load, each in a process of its own with the packaged runtime.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { api, type RunningProcess, startServerProcess, watchServer } from '../test/fixtures/server-process.ts'

export type Target = {
  /** `control`, or `keywright` and how many threads serve where that was asked for. */
  readonly name: string
  readonly server: RunningProcess
  /** Of an administrator; the load itself comes with `token`, which has a policy. */
  readonly rootToken: string
  readonly token: string
  /** Tokens by how many policies they carry, where that is more than one. */
  readonly tokens: ReadonlyMap<number, string>
  /** One that the target made, for the load that decrypts. */
  readonly ciphertext: string
  /** Signatures of PLAINTEXT that the target made, for the loads that verify. */
  readonly signatures: ReadonlyMap<SigningType, string>
  /** What a login by approle sends. */
  readonly machine: { readonly role_id: string; readonly secret_id: string }
}

export const MOUNT = 'bench'
export const KEY = 'key'
/** What the load sends: 128 bytes. */
export const PLAINTEXT = Buffer.alloc(128, 'p').toString('base64')
/** Of the load that logs in. */
export const USER = { username: 'kim', password: 'correct horse' }
const POLICY = `
path "${MOUNT}/encrypt/*" { capabilities = ["update"] }
path "${MOUNT}/decrypt/*" { capabilities = ["update"] }
path "${MOUNT}/hmac/*" { capabilities = ["update"] }
path "${MOUNT}/datakey/+/*" { capabilities = ["update"] }
path "${MOUNT}/sign/*" { capabilities = ["update"] }
path "${MOUNT}/verify/*" { capabilities = ["update"] }
path "${MOUNT}/keys/+" { capabilities = ["read"] }`

/** A key of each type that signs, by its name; and what it signed in the target. */
export const SIGNING_TYPES = ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-4096'] as const
export type SigningType = (typeof SIGNING_TYPES)[number]

/** Of the loads. */
const MANY_POLICIES = [10, 100]

/** Rules near the one that grants, so that finding it has something to pass by. */
const otherPolicy = (name: string): string => `
path "${MOUNT}/encrypt/${name}-*" { capabilities = ["update"] }
path "${MOUNT}/+/${name}" { capabilities = ["read"] }
path "${MOUNT}/keys/${name}" { capabilities = ["deny"] }`

export async function startControl(): Promise<Target> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'control.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const server = await watchServer(child)
  return {
    name: 'control',
    server,
    rootToken: '',
    token: '',
    tokens: new Map(),
    ciphertext: '',
    signatures: new Map(),
    machine: { role_id: '', secret_id: '' },
  }
}

export type Setting = {
  /** How many serve; undefined: its own default. */
  readonly threads?: number | undefined
  /** Whether each request is recorded in a file beside the data. */
  readonly audit: boolean
}

/** Its data in `directory`; with a mount, a key, a policy, its token, and two who may log in. */
export async function startKeywright(directory: string, setting: Setting): Promise<Target> {
  const { threads, audit } = setting
  const server = await startServerProcess({ directory, args: threads === undefined ? [] : [`-threads=${threads}`] })
  const must = async (method: string, path: string, body?: object) => {
    const answer = await api(server, method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  if (audit) await must('POST', 'sys/audit/file', { type: 'file', options: { file_path: `${directory}-audit.log` } })
  await must('POST', `sys/mounts/${MOUNT}`, { type: 'transit' })
  await must('POST', `${MOUNT}/keys/${KEY}`)
  await must('POST', `sys/policies/acl/${MOUNT}`, { policy: POLICY })
  const tokenWith = async (policies: readonly string[]): Promise<string> => {
    const { auth } = await must('POST', 'auth/token/create', { policies, ttl: '4h' })
    return (auth as { readonly client_token: string }).client_token
  }
  const others: string[] = []
  const tokens = new Map<number, string>()
  for (const count of MANY_POLICIES) {
    while (others.length < count - 1) {
      const name = `other-${others.length}`
      await must('POST', `sys/policies/acl/${name}`, { policy: otherPolicy(name) })
      others.push(name)
    }
    tokens.set(count, await tokenWith([MOUNT, ...others]))
  }
  const { data } = await must('POST', `${MOUNT}/encrypt/${KEY}`, { plaintext: PLAINTEXT })
  const signatures = new Map<SigningType, string>()
  for (const type of SIGNING_TYPES) {
    await must('POST', `${MOUNT}/keys/${type}`, { type })
    const signed = await must('POST', `${MOUNT}/sign/${type}`, { input: PLAINTEXT })
    signatures.set(type, String(signed.data?.signature))
  }
  for (const type of ['approle', 'userpass']) await must('POST', `sys/auth/${type}`, { type })
  await must('POST', `auth/userpass/users/${USER.username}`, { password: USER.password, token_policies: MOUNT })
  const role = `auth/approle/role/${MOUNT}`
  await must('POST', role, { token_policies: MOUNT })
  const { role_id } = (await must('GET', `${role}/role-id`)).data ?? {}
  const { secret_id } = (await must('POST', `${role}/secret-id`)).data ?? {}
  return {
    name: keywrightName(setting),
    server,
    rootToken: server.token,
    token: await tokenWith([MOUNT]),
    tokens,
    ciphertext: String(data?.ciphertext),
    signatures,
    machine: { role_id: String(role_id), secret_id: String(secret_id) },
  }
}

/** As it stands in the tables. */
export function keywrightName({ threads, audit }: Setting): string {
  const name = threads === undefined ? 'keywright' : `keywright -threads=${threads}`
  return audit ? name : `${name}, no audit`
}
