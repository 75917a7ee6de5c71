// Finds changes of an audit log: lines that were edited, removed, inserted or moved. It needs only the files. With the
// public key of the cluster it also detects chains that were made anew. With the heads that the running server reports
// it detects a cut-off end. docs/audit-format.md says what each can show.
import { linkDigest } from '../crypto/primitives/digest.ts'
import { importPublicKey } from '../crypto/signatures/text-signature.ts'
import { isJsonObject, type JsonObject } from '../lib/json.ts'
import { ChainCheck, type FoundEnd, foundBy, type PlacedLine } from './verify-chain.ts'
import { isPromised, type Piece, type Promised, pieceOf, unexplained } from './verify-pieces.ts'
import { wholeLines } from './whole-lines.ts'

/** The head of a chain as `sys/audit-streams` reports it. */
export type ServerChain = {
  readonly stream: string
  readonly device: string
  readonly seq: number
  readonly hash: string
  readonly ended: boolean
}

/** Facts that a verification may have besides the files. */
export type AuditVerifyOptions = {
  /** Public keys in base64, separated by commas; undefined: each chain is checked by the key in its own start. */
  readonly publicKey?: string | undefined
  /** True if the files are only a part of the log: chains may begin before them and continue after them. */
  readonly isPart?: boolean
  /** Heads of the running server, read before the files are. */
  readonly server?: readonly ServerChain[] | undefined
}

/** What the check found about one chain, and how far signatures cover it. */
export type ChainReport = {
  readonly stream: string
  readonly device: string
  readonly thread: string
  readonly entries: number
  readonly first: string
  readonly last: string
  /**
   * complete: from start to end. running: the server still writes it, and everything is here. open: it has no
   * end. part: it has no beginning.
   */
  readonly state: 'complete' | 'running' | 'open' | 'part'
  /** Lines at its end that no signature covers. */
  readonly unsigned: number
}

/**
 * The result of a verification. Without faults nothing was found changed; `unsigned` and
 * `notes` say what is not proven.
 */
export type AuditVerifyReport = {
  readonly faults: readonly string[]
  /** Given a key: what no signature by it covers. */
  readonly unsigned: readonly string[]
  /** Observations that are no faults, but prove nothing either. */
  readonly notes: readonly string[]
  readonly chains: readonly ChainReport[]
  readonly entries: number
}

/** Takes the lines of a log in their order, and reports at the end what is wrong with them. */
export class Verification {
  readonly #options: AuditVerifyOptions
  readonly #keys: readonly NonNullable<ReturnType<typeof importPublicKey>>[]
  readonly #chains = new Map<string, ChainCheck>()
  readonly #faults: string[] = []
  readonly #notes: string[] = []
  readonly #unsigned: string[] = []
  readonly #pieces: Piece[] = []
  readonly #promised: Promised[] = []
  readonly #matched = new Set<string>()

  /** @throws Error if `publicKey` is no key */
  constructor(options: AuditVerifyOptions = {}) {
    this.#options = options
    this.#keys = (options.publicKey?.split(',') ?? []).map((text) => {
      const key = importPublicKey(text)
      if (key !== undefined) return key
      throw new Error('the public key must be the base64 of 32 bytes, as sys/audit-streams gives it')
    })
  }

  /** Takes the next line of the files, without its newline. `place` is file and number, for people. */
  take(line: Buffer, place: string): void {
    if (line.length === 0) return
    const text = line.toString('latin1')
    const lines = wholeLines(text)
    for (const { before, text: hashed, head, members } of lines) {
      // The text before a line is its prefix, or the rest of a write that was cut.
      const isPiece = before.includes('{')
      if (isPiece) this.#pieces.push(pieceOf(before, place))
      const front = isPiece ? undefined : before
      this.#takeLine({ place, front, head, text: hashed, hash: linkDigest(Buffer.from(hashed, 'latin1')), members })
    }
    if (lines.length === 0) this.#pieces.push(pieceOf(text, place))
  }

  #takeLine(line: PlacedLine): void {
    const { stream } = line.head
    let chain = this.#chains.get(stream)
    if (chain === undefined) {
      chain = new ChainCheck(line, this.#keys, (place, what) => this.#faults.push(`${place}: ${what}`))
      this.#chains.set(stream, chain)
    }
    const before = chain.lastSeq
    chain.take(line)
    if (chain.lastSeq === before) return
    this.#compareWithServer(line)
    // True if the line itself has a valid signature.
    const isSigned = chain.unsigned === 0
    for (const found of foundBy(line)) this.#checkFound(found, line.place, isSigned)
    this.#noteOrigin(line)
    if (line.members.event === 'lost') this.#promised.push(...promisedBy(line.members))
  }

  #compareWithServer({ head, hash, place }: PlacedLine): void {
    for (const known of this.#options.server ?? []) {
      if (known.stream !== head.stream || known.seq !== head.seq) continue
      this.#matched.add(known.stream)
      if (known.hash !== hash) this.#faults.push(`${place}: the server wrote another line here (chain ${head.stream})`)
    }
  }

  /** Checks an end that a start found: what was there then must be there now. */
  #checkFound({ stream, seq, hash }: FoundEnd, place: string, isSigned: boolean): void {
    const chain = this.#chains.get(stream)
    if (chain === undefined) {
      const what = `chain ${stream} was in the log when this line was written, and is not`
      ;(this.#options.isPart === true ? this.#notes : this.#faults).push(`${place}: ${what}`)
    } else if (chain.lastSeq < seq)
      this.#faults.push(`${place}: lines ${chain.lastSeq + 1} to ${seq} of chain ${stream} missing before it`)
    else if (chain.lastSeq === seq && chain.lastHash !== hash)
      this.#faults.push(`${chain.lastPlace}: a line of chain ${stream} was changed: ${place} found another`)
    else if (isSigned) chain.vouchFor(seq)
  }

  /** Notes how the state began. After a restore the key may be another from here on. */
  #noteOrigin({ members: { event, restored, promoted }, head, place }: PlacedLine): void {
    if (event !== 'start') return
    if (isJsonObject(promoted)) {
      const { at, epoch } = promoted
      const when = `${String(at)}, epoch ${String(epoch)}`
      this.#notes.push(`${place}: chain ${head.stream} is of a state that was promoted at ${when}`)
    }
    if (!isJsonObject(restored)) return
    const { at, before } = restored
    const key = typeof before === 'string' && before !== '' ? `, before which ${before} signed` : ''
    this.#notes.push(`${place}: chain ${head.stream} is of a state that was restored at ${String(at)}${key}`)
  }

  /** Returns the result; no line may follow. */
  finish(): AuditVerifyReport {
    for (const chain of this.#chains.values()) {
      chain.finish()
      this.#checkFronts(chain)
    }
    const { faults, notes } = unexplained(this.#pieces, this.#promised, [...this.#chains.values()])
    this.#faults.push(...faults)
    this.#notes.push(...notes)
    this.#checkServer()
    const chains = [...this.#chains.values()].map((chain) => this.#report(chain))
    if (chains.length === 0) this.#faults.push('there is no line of an audit log')
    if (this.#keys.length === 0)
      this.#notes.push('no public key was given: whoever can write the log could have made its chains anew')
    const entries = chains.reduce((sum, chain) => sum + chain.entries, 0)
    return { faults: this.#faults, unsigned: this.#unsigned, notes: this.#notes, chains, entries }
  }

  /**
   * Checks the text in front of lines: hashes do not cover it, but the start of the chain
   * says what the device writes there.
   */
  #checkFronts({ id, prefix, fronts }: ChainCheck): void {
    for (const [front, place] of fronts) {
      if (front === prefix) continue
      if (prefix === undefined) {
        if (front !== '') this.#unsigned.push(`${place}: the text in front of the lines of chain ${id} is not signed`)
        continue
      }
      // A write that was cut may have left the beginning of a prefix.
      const rest = front.endsWith(prefix) ? front.slice(0, front.length - prefix.length) : undefined
      if (rest !== undefined && this.#promised.some((one) => isPromised(pieceOf(rest, place), one))) continue
      this.#faults.push(`${place}: text in front of a line of chain ${id} that its device does not put there`)
    }
  }

  /**
   * Checks the server's heads: for devices in the files, every chain that the server
   * writes must be here up to its head.
   */
  #checkServer(): void {
    const devices = new Set([...this.#chains.values()].map(({ device }) => device))
    for (const { stream, device, seq, ended } of this.#options.server ?? []) {
      const chain = this.#chains.get(stream)
      if (chain !== undefined ? this.#matched.has(stream) : !devices.has(device)) continue
      const end = chain === undefined ? 'has nothing of it' : `ends at ${chain.lastSeq}`
      const what = `the server wrote chain ${stream} up to number ${seq}, the log ${end}`
      if (chain === undefined && ended) this.#notes.push(what)
      else this.#faults.push(what)
    }
  }

  #report(chain: ChainCheck): ChainReport {
    const { isPart = false, server = [] } = this.#options
    const { id, device, thread, entries, firstTime, lastTime, unsigned, isEnded, firstSeq, lastSeq } = chain
    const tell = isPart ? this.#notes : this.#faults
    if (firstSeq > 0)
      tell.push(`${chain.firstPlace}: chain ${id} begins at number ${firstSeq}, and lacks what was before`)
    const isRunning = server.some((one) => one.stream === id && !one.ended) && this.#matched.has(id)
    // The server itself confirms lines up to its head; later ones are at most those that wait for the next signature.
    if (unsigned > 0 && this.#keys.length > 0 && !isRunning)
      this.#unsigned.push(
        `${chain.lastPlace}: ${unsigned} ${unsigned === 1 ? 'line' : 'lines'} at the end of chain ${id}, from number ` +
          `${lastSeq - unsigned + 1} on, are covered by no signature: anybody could have written them`,
      )
    if (!isEnded && !isRunning)
      tell.push(
        `${chain.lastPlace}: chain ${id} has no end behind number ${lastSeq}: the server runs or was killed, or ` +
          `lines are missing; ${unsigned} of its last lines are not signed`,
      )
    const state = isEnded ? 'complete' : isRunning ? 'running' : 'open'
    return {
      stream: id,
      device,
      thread,
      entries,
      first: firstTime,
      last: lastTime,
      state: firstSeq > 0 ? 'part' : state,
      unsigned,
    }
  }
}

function promisedBy({ torn }: JsonObject): Promised[] {
  if (!Array.isArray(torn)) return []
  return torn.flatMap((one) =>
    isJsonObject(one) && typeof one.bytes === 'number' && typeof one.sha256 === 'string'
      ? [{ bytes: one.bytes, digest: one.sha256 }]
      : [],
  )
}
