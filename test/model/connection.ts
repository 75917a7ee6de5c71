// One connection of a client that is kept open, so that its requests are with one serving thread for as long.
import { Agent, request } from 'node:http'

export type Answer = { readonly status: number; readonly data: Record<string, unknown> }

export class Connection {
  readonly #port: number
  #agent = newAgent()

  constructor(address: string) {
    this.#port = Number(new URL(address).port)
  }

  /** The next request comes by another connection, and so perhaps to another thread. */
  renew(): void {
    this.#agent.destroy()
    this.#agent = newAgent()
  }

  call(token: string, method: string, path: string, body?: object): Promise<Answer> {
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = { 'X-Vault-Token': token, 'Content-Length': Buffer.byteLength(text) }
    return new Promise((resolve, reject) => {
      const sent = request({ agent: this.#agent, port: this.#port, path: `/v1/${path}`, method, headers }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, data: dataOf(Buffer.concat(chunks)) }))
      })
      sent.on('error', reject)
      sent.end(text)
    })
  }
}

const newAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 })

function dataOf(body: Buffer): Record<string, unknown> {
  const parsed = body.length === 0 ? {} : JSON.parse(body.toString())
  return parsed.data ?? {}
}
