// The servers under load, each in a process of its own with the packaged runtime.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { api, type RunningProcess, startServerProcess, watchServer } from '../test/fixtures/server-process.ts'

/** A server under load, with all that the loads need of it. */
export type Target = {
  /** `control`, or `keywright` with the settings that were asked for. */
  readonly name: string
  readonly server: RunningProcess
  /** Token of an administrator. The load uses `token`, which has a policy. */
  readonly rootToken: string
  readonly token: string
  /** Tokens by the number of their policies, from two on. */
  readonly tokens: ReadonlyMap<number, string>
  /** A ciphertext that the target made, for the load that decrypts. */
  readonly ciphertext: string
  /** Signatures of PLAINTEXT that the target made, for the loads that verify. */
  readonly signatures: ReadonlyMap<SigningType, string>
  /** The credentials of a login by approle. */
  readonly machine: { readonly role_id: string; readonly secret_id: string }
}

/** Mount path of the transit engine under load. */
export const MOUNT = 'bench'
/** Name of the key. */
export const KEY = 'key'
/** The plaintext of the load, 128 bytes in base64. */
export const PLAINTEXT = Buffer.alloc(128, 'p').toString('base64')
/** Credentials of the load that logs in by password. */
export const USER = { username: 'kim', password: 'correct horse' }
const POLICY = `
path "${MOUNT}/encrypt/*" { capabilities = ["update"] }
path "${MOUNT}/decrypt/*" { capabilities = ["update"] }
path "${MOUNT}/hmac/*" { capabilities = ["update"] }
path "${MOUNT}/datakey/+/*" { capabilities = ["update"] }
path "${MOUNT}/sign/*" { capabilities = ["update"] }
path "${MOUNT}/verify/*" { capabilities = ["update"] }
path "${MOUNT}/keys/+" { capabilities = ["read"] }`

/** Key types that sign. Each target has a key of each, by the name of the type. */
export const SIGNING_TYPES = ['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'rsa-2048', 'rsa-4096'] as const
/** One of them. */
export type SigningType = (typeof SIGNING_TYPES)[number]

/** Numbers of policies in the loads. */
const MANY_POLICIES = [10, 100]

/** A policy with rules near the one that grants, which the search has to pass. */
const otherPolicy = (name: string): string => `
path "${MOUNT}/encrypt/${name}-*" { capabilities = ["update"] }
path "${MOUNT}/+/${name}" { capabilities = ["read"] }
path "${MOUNT}/keys/${name}" { capabilities = ["deny"] }`

/** Starts the control. The caller ends its process. */
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

/** Settings of a server to compare. */
export type Setting = {
  /** Serving threads; undefined for the server's own default. */
  readonly threads?: number | undefined
  /** True if each request is recorded, in a file beside the data. */
  readonly audit: boolean
}

/** Starts a server with its data in `directory`, and makes a mount, keys, policies, tokens and two logins. */
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

/** Returns the name of a server in tables. */
export function keywrightName({ threads, audit }: Setting): string {
  const name = threads === undefined ? 'keywright' : `keywright -threads=${threads}`
  return audit ? name : `${name}, no audit`
}
