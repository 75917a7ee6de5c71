// All that the client knows of the process it runs in. It is passed in, so that tests run commands without a process.
// The functions for work without a server come from src/offline, which this room may not import.
import type { Json } from './exact-json.ts'

/** `process.stdin` or any stream. Terminals have the two members. */
export type CliInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean
  /** Passes every key on at once, and without echo. */
  setRawMode?(mode: boolean): unknown
}
/** `process.stdout` or any stream. Terminals have the two members. */
export type CliOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  /** Characters in a line. */
  readonly columns?: number
}

/** The process, as a command sees it; src/main.ts makes the real one. */
export type CliIo = {
  readonly stdin: CliInput
  readonly stdout: CliOutput
  readonly stderr: CliOutput
  readonly env: Readonly<Record<string, string | undefined>>
  /** The version of this program. */
  readonly version: string
  /** Waits between the attempts of a request. */
  readonly sleep: (delayMs: number) => Promise<void>
  /** Does work instead of ending the process at the first Ctrl-C; a second one ends it. Returns what undoes that. */
  readonly onInterrupt?: (work: () => void) => () => void
  readonly inspectSnapshot: InspectSnapshot
  readonly diagnose: Diagnose
  readonly verifyAudit: VerifyAudit
}

/** `refuse` would keep a server from starting; `unknown` is a check that cannot be made from here. */
export type DiagnosedVerdict = 'ok' | 'warn' | 'refuse' | 'unknown'

/** The result of one check, as src/hardening and sys/hardening give it. */
export type Diagnosed = {
  readonly id: string
  readonly title: string
  readonly group: string
  readonly verdict: DiagnosedVerdict
  readonly sentence: string
}

/** The results of all checks. */
export type Diagnosis = {
  /** The thing that was checked: configuration file and data directory, or the address of a server. */
  readonly subject: string
  readonly checks: readonly Diagnosed[]
}

/** The files that `operator diagnose` is about; undefined where the person named none. */
export type Wanted = { readonly config: string | undefined; readonly data: string | undefined }

/** Checks the machine it runs on, whether a server is running or not. */
export type Diagnose = (wanted: Wanted) => Promise<Diagnosis>

/** Reads a snapshot to its end and returns what it says of itself. @throws CliError if it is damaged */
export type InspectSnapshot = (parts: AsyncIterable<Buffer>) => Promise<Json>

/** Reads the files of an audit log in their order and reports every fault (docs/audit-format.md). */
export type VerifyAudit = (files: readonly AuditLogFile[], options: AuditLogOptions) => Promise<AuditReport>

/** A file of an audit log. `parts` is read once, front to back. */
export type AuditLogFile = { readonly name: string; readonly parts: AsyncIterable<Buffer> }
/** The things besides the files that a log is checked against. */
export type AuditLogOptions = {
  /** Trusted Ed25519 keys of 32 bytes, in base64; several have commas between them. */
  readonly publicKey?: string | undefined
  /** Chains may begin before the files and go on behind them. */
  readonly isPart: boolean
  /** The heads of its chains as the running server tells them: the log must reach them. */
  readonly server?: readonly AuditChain[] | undefined
}
/** The head of a chain: number and hash of its last entry (sys/audit-streams). */
export type AuditChain = {
  readonly stream: string
  readonly device: string
  readonly seq: number
  readonly hash: string
  readonly ended: boolean
}
/** The result of a check, in sentences for a person. */
export type AuditReport = {
  readonly faults: readonly string[]
  /** Lines that no signature covers. */
  readonly unsigned: readonly string[]
  /** Remarks that are no fault. */
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

/** Resolves when the stream has taken the data: a process that ends afterwards cuts nothing off. */
export function writeAll(stream: CliOutput, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // A failure comes to the callback and then as an event, which ends the process if it has no listener. After a
    // failure the listener stays, since the event comes later.
    const ignore = (): void => {}
    stream.on('error', ignore)
    stream.write(data, (error) => {
      if (error) return reject(error)
      stream.off('error', ignore)
      resolve()
    })
  })
}
