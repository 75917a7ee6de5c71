// A cluster of its own for tests: a real server with a configuration file, its store, its key share, and the token of
// its operator. It is started, killed and started again; a proxy stands before its cluster port.

import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { FaultProxy } from '../../fixtures/fault-proxy.ts'
import { type ApiAnswer, api, type RunningProcess, startConfigured } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

/** What a test may say of the configuration. */
export type ClusterOptions = {
  /** Lines of the stanza `storage`. */
  readonly storage?: string
  /** Lines behind all stanzas. */
  readonly more?: string
  readonly env?: Readonly<Record<string, string>>
}

/** One cluster, with one server. */
export class Cluster {
  readonly name: string
  readonly directory: string
  readonly proxy: FaultProxy
  readonly #config: string
  readonly #env: Readonly<Record<string, string>>
  #process: RunningProcess | undefined
  /** The share that opens it; after an activation that of its primary. */
  share = ''
  token = ''

  private constructor(
    name: string,
    directory: string,
    config: string,
    proxy: FaultProxy,
    env: Readonly<Record<string, string>>,
  ) {
    this.name = name
    this.directory = directory
    this.proxy = proxy
    this.#config = config
    this.#env = env
  }

  /** Makes it below `root`, initialised and open. */
  static async make(name: string, root: string, options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await Cluster.over(name, root, join(root, name, 'data'), options)
    await cluster.start()
    const { body } = await cluster.call('POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')
    cluster.share = String((body.keys as string[])[0])
    cluster.token = String(body.root_token)
    await cluster.unseal()
    return cluster
  }

  /** One over data that are there, or will be. It does not run yet. */
  static async over(name: string, root: string, directory: string, options: ClusterOptions = {}): Promise<Cluster> {
    const [apiPort, clusterPort] = await freePorts(2)
    const proxy = await FaultProxy.start(clusterPort as number)
    mkdirSync(join(root, name), { recursive: true })
    const cluster = new Cluster(name, directory, join(root, name, 'config.hcl'), proxy, options.env ?? {})
    writeFileSync(
      cluster.#config,
      `listener "tcp" {
  address         = "127.0.0.1:${apiPort}"
  cluster_address = "127.0.0.1:${clusterPort}"
  tls_disable     = true
}
storage "sqlite" {
  path = "${cluster.directory}"
  ${options.storage ?? ''}
}
api_addr     = "http://127.0.0.1:${apiPort}"
cluster_addr = "https://127.0.0.1:${proxy.port}"
threads      = 1
${options.more ?? ''}
`,
      { mode: 0o600 },
    )
    return cluster
  }

  get address(): string {
    return this.#running.address
  }

  get pid(): number {
    return this.#running.pid
  }

  get #running(): RunningProcess {
    if (this.#process === undefined) throw new Error(`${this.name} does not run`)
    return this.#process
  }

  /** Starts the server, sealed. */
  async start(): Promise<void> {
    this.#process = await startConfigured(this.#config, this.#env)
  }

  async unseal(): Promise<void> {
    await this.call('POST', 'sys/unseal', { key: this.share }, '')
  }

  /** As an operator brings a server back. */
  async restart(): Promise<void> {
    await this.start()
    await this.unseal()
  }

  kill(): Promise<void> {
    return this.#running.kill()
  }

  async stop(): Promise<void> {
    await this.#running.stop()
  }

  output(): string {
    return this.#running.output()
  }

  call(method: string, path: string, body?: unknown, token = this.token): Promise<ApiAnswer> {
    return api(this.#running, method, path, body, token === '' ? undefined : token)
  }

  /** @throws an error for an answer that is none of success */
  async must(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const answer = await this.call(method, path, body)
    if (answer.status >= 300)
      throw new Error(`${this.name} ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }

  async status(): Promise<Record<string, unknown>> {
    const { body } = await this.call('GET', 'sys/replication/dr/status', undefined, '')
    return body.data ?? {}
  }

  /** Ends what is left of it. */
  async end(): Promise<void> {
    await this.#process?.kill()
    await this.proxy.close()
  }
}

/** Ports that nothing has now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(
    servers.map((server) => {
      server.close()
      return once(server, 'close')
    }),
  )
  return ports
}

/** Makes the secondary follow the primary for disaster recovery, under its name. */
export async function activate(primary: Cluster, secondary: Cluster): Promise<void> {
  if ((await primary.status()).mode === 'disabled') await primary.must('POST', 'sys/replication/dr/primary/enable', {})
  const { body } = await primary.must('POST', 'sys/replication/dr/primary/secondary-token', { id: secondary.name })
  const { token } = body.wrap_info as { readonly token: string }
  await secondary.must('POST', 'sys/replication/dr/secondary/enable', { token })
  secondary.share = primary.share
}

/** True if the secondary has all that the primary had when it was asked. */
export async function isLevel(primary: Cluster, secondary: Cluster): Promise<boolean> {
  const [theirs, ours] = [await primary.status(), await secondary.status()]
  return (
    ours.mode === 'secondary' &&
    ours.state === 'stream-wals' &&
    Number(ours.last_remote_wal) >= Number(theirs.last_dr_wal)
  )
}

/** Resolves when the secondary has all that the primary had at some moment after the call. */
export function levelled(primary: Cluster, secondary: Cluster): Promise<void> {
  return until(() => isLevel(primary, secondary), `${secondary.name} has all of ${primary.name}`)
}
