// What the client knows of the process it runs in. Handed in, so that a test runs it without one.
import type { Json } from './exact-json.ts'

/** `process.stdin` or any stream; the members are there where it is a terminal. */
export type CliInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean
  /** Hands every key on at once and without echo. */
  setRawMode?(mode: boolean): unknown
}
export type CliOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  /** Characters in a line of a terminal. */
  readonly columns?: number
}

export type CliIo = {
  readonly stdin: CliInput
  readonly stdout: CliOutput
  readonly stderr: CliOutput
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of this program. */
  readonly version: string
  /** Between the attempts of a request. */
  readonly sleep: (delayMs: number) => Promise<void>
  readonly inspectSnapshot: InspectSnapshot
  readonly diagnose: Diagnose
  readonly verifyAudit: VerifyAudit
}

export type DiagnosedVerdict = 'ok' | 'warn' | 'refuse' | 'unknown'

export type Diagnosed = {
  readonly id: string
  readonly title: string
  readonly group: string
  readonly verdict: DiagnosedVerdict
  readonly sentence: string
}

export type Diagnosis = {
  /** Of what: the configuration file, and where the data are. */
  readonly subject: string
  readonly checks: readonly Diagnosed[]
}

export type Wanted = { readonly config: string | undefined; readonly data: string | undefined }

/** Looks at the machine it runs on; a server may be running or not. */
export type Diagnose = (wanted: Wanted) => Promise<Diagnosis>

/** Reads a snapshot to its end and says what it is. @throws CliError where it is damaged */
export type InspectSnapshot = (parts: AsyncIterable<Buffer>) => Promise<Json>

/** Reads the files of an audit log in their order and says what is wrong with them. */
export type VerifyAudit = (files: readonly AuditLogFile[], options: AuditLogOptions) => Promise<AuditReport>

export type AuditLogFile = { readonly name: string; readonly parts: AsyncIterable<Buffer> }
export type AuditLogOptions = {
  /** Ed25519, 32 bytes in base64; several with commas. */
  readonly publicKey?: string | undefined
  readonly isPart: boolean
  /** What the running server tells of its chains. */
  readonly server?: readonly AuditChain[] | undefined
}
export type AuditChain = {
  readonly stream: string
  readonly device: string
  readonly seq: number
  readonly hash: string
  readonly ended: boolean
}
export type AuditReport = {
  readonly faults: readonly string[]
  /** What no signature covers. */
  readonly unsigned: readonly string[]
  readonly notes: readonly string[]
  readonly entries: number
  readonly chains: readonly {
    readonly stream: string
    readonly device: string
    readonly thread: string
    readonly entries: number
    readonly first: string
    readonly last: string
    readonly state: string
    readonly unsigned: number
  }[]
}

/** Resolves when the stream has taken the data, so that a process that ends afterwards cuts nothing off. */
export function writeAll(stream: CliOutput, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // A failure comes to the callback and then as an event, which would end the process if nobody listened.
    const ignore = (): void => {}
    stream.on('error', ignore)
    stream.write(data, (error) => {
      if (error) return reject(error)
      stream.off('error', ignore)
      resolve()
    })
  })
}
