// The least that a client of HTTP/1.1 must do, so that it takes little of the machine: connections that stay open, one
// request at a time on each, and of an answer only its status. What finds no free connection waits its turn.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

type Waiting = { readonly text: string; resolve(status: number): void; reject(cause: Error): void }

const END_OF_HEAD = '\r\n\r\n'
/** Of `HTTP/1.1 200 OK`. */
const STATUS_AT = 9

/** A pool of connections to one server. */
export class Sender {
  readonly #host: string
  readonly #sockets: Socket[] = []
  readonly #free: ((waiting: Waiting) => void)[] = []
  readonly #waiting: Waiting[] = []
  #fault: Error | undefined

  private constructor(host: string) {
    this.#host = host
  }

  static async open(address: string, connections: number): Promise<Sender> {
    const { hostname, port, host } = new URL(address)
    const sender = new Sender(host)
    for (let i = 0; i < connections; i++) {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      await once(socket, 'connect')
      sender.#take(socket)
    }
    return sender
  }

  /** Resolves with the status when the whole answer is there. */
  send(method: string, path: string, token: string, body: string): Promise<number> {
    const text =
      `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nX-Vault-Token: ${token}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}${END_OF_HEAD}${body}`
    return new Promise((resolve, reject) => {
      if (this.#fault !== undefined) throw this.#fault
      const waiting = { text, resolve, reject }
      // The one that was idle longest, so that none is until the server closes it.
      const free = this.#free.shift()
      if (free === undefined) this.#waiting.push(waiting)
      else free(waiting)
    })
  }

  close(): void {
    this.#fault = new Error('the sender was closed')
    for (const socket of this.#sockets) socket.destroy()
  }

  #take(socket: Socket): void {
    let [current, received]: [Waiting | undefined, string] = [undefined, '']
    const begin = (waiting: Waiting): void => {
      current = waiting
      socket.write(waiting.text)
    }
    const fail = (): void => {
      this.#fault ??= new Error('the server closed a connection')
      for (const each of [current, ...this.#waiting.splice(0)]) each?.reject(this.#fault)
    }
    socket.setEncoding('latin1')
    socket.on('error', fail).on('close', fail)
    socket.on('data', (chunk: string) => {
      received += chunk
      if (!isWhole(received)) return
      const done = current
      const status = Number(received.slice(STATUS_AT, STATUS_AT + 3))
      received = ''
      const next = this.#waiting.shift()
      if (next !== undefined) begin(next)
      else this.#free.push(begin)
      done?.resolve(status)
    })
    this.#sockets.push(socket)
    this.#free.push(begin)
  }
}

function isWhole(received: string): boolean {
  const end = received.indexOf(END_OF_HEAD)
  if (end === -1) return false
  const head = received.slice(0, end).toLowerCase()
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1]
  if (length === undefined && !/ (?:204|304) /.test(head.slice(0, STATUS_AT + 4)))
    throw new Error(`an answer without a length: ${head}`)
  return received.length >= end + END_OF_HEAD.length + Number(length ?? 0)
}
