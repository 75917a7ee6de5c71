// A server for a client under test: new, on a free port, with data of its own.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { api, type RunningProcess, startConfigured, temporaryDirectory } from '../../fixtures/server-process.ts'

export type NewServer = Pick<RunningProcess, 'address'> & {
  /** Stops it and removes its data. */
  end(): Promise<void>
}

export type OpenServer = NewServer & { readonly token: string; readonly unsealKey: string }

/** Not initialised; `more` stands in its configuration too, `env` in its environment. */
export async function newServer(more = '', env: Readonly<Record<string, string>> = {}): Promise<NewServer> {
  const directory = temporaryDirectory()
  const config = join(directory.path, 'server.hcl')
  writeFileSync(
    config,
    `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
     storage "sqlite" { path = ${JSON.stringify(join(directory.path, 'data'))} }
     ${more}`,
  )
  const server = await startConfigured(config, env)
  const end = async (): Promise<void> => {
    await server.stop()
    directory.cleanUp()
  }
  return { address: server.address, end }
}

/** Initialised with one share, and unsealed. */
export async function openServer(): Promise<OpenServer> {
  const server = await newServer()
  const { body } = await api(server, 'POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 })
  const made = body as unknown as { keys: string[]; root_token: string }
  const [unsealKey = ''] = made.keys
  const { status } = await api(server, 'POST', 'sys/unseal', { key: unsealKey })
  assert.equal(status, 200)
  return { ...server, token: made.root_token, unsealKey }
}
