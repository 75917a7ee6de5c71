// One chain of lines (docs/audit-format.md): the lines that one thread writes to one device from one opening on. Each
// line contains the hash of the one before it, and now and then a signed line covers all before. Lines are gathered
// here until the device writes them together; the chain continues from what was really stored.
import { linkDigest } from '../crypto/primitives/digest.ts'

/** Type of lines that are no entries; their `event` says what happened to the chain. */
export const MARK = 'chain'
/** Events of such lines. 'lost' reports entries that were not stored, and pieces of lines that were. */
export type MarkEvent = 'start' | 'checkpoint' | 'reopen' | 'end' | 'lost'
/** Type of lines that are entries. */
export type EntryType = 'request' | 'response'

/** The parts that a chain is made with. */
export type StreamParts = {
  readonly id: string
  /** Stands before every line and is not hashed; printable ASCII. */
  readonly prefix: string
  /** Returns the current time, RFC 3339. */
  readonly time: () => string
  /** Returns the signature, in base64. */
  readonly sign: (text: string) => string
}

/** The end of a chain: the number of the next line, and the hash of the last. */
export type Head = { readonly id: string; readonly seq: number; readonly last: string }

/** Prefix of what is signed; nothing else that the key signs begins so. */
export const SIGNED_FOR = 'keywright audit chain 1\n'
/** A line is signed up to here; all lines before it are covered through its `prev`. */
export const SIGNATURE = ',"signature":"'

/** Most lines that wait for a signature. A longer unsigned tail was not written by a server. */
export const MOST_UNSIGNED_LINES = 1_000

type Torn = { readonly bytes: number; readonly digest: string }

const FIRST_CAPACITY = 1 << 16
/** A larger buffer, which one large request needed, is not kept. */
const MOST_KEPT_CAPACITY = 1 << 22
const NEWLINE = 0x0a
const END = '}\n'

/** The lines of one chain that wait to be written, and the state to continue from. Not shared between threads. */
export class LineStream {
  readonly id: string
  readonly #parts: StreamParts
  /** Number of the next line, and hash of the last. */
  #seq = 0
  #prev = ''
  #buffer = Buffer.alloc(FIRST_CAPACITY)
  #length = 0
  /** For each gathered line: its end in the buffer, its hash, and whether it is an entry. */
  readonly #ends: number[] = []
  readonly #hashes: string[] = []
  readonly #areEntries: boolean[] = []
  #isSigned = true
  /** Lines since the last signature: now, after each gathered line, and before all of them. */
  #unsigned = 0
  readonly #unsignedAfter: number[] = []
  #unsignedBefore = 0
  /** Losses to report once a line can be stored, and the gathered line that reports them. */
  #lostEntries = 0
  #torn: Torn[] = []
  /** Further losses that the gathered line does not report yet. */
  #skippedEntries = 0
  #tellingLine = -1
  /** Hash of the last line before the gathered ones. */
  #base = ''
  /** True if the file does not end with a whole line. */
  #isMidLine: boolean

  /** `isMidLine`: the file does not end in a newline. */
  constructor(parts: StreamParts, isMidLine = false) {
    this.id = parts.id
    this.#parts = parts
    this.#isMidLine = isMidLine
  }

  /** The next line goes to a file that does not end in a newline. */
  continueMidLine(): void {
    this.#isMidLine = true
  }

  /** Bytes that are gathered. */
  get length(): number {
    return this.#length
  }

  get isStarted(): boolean {
    return this.#seq > 0
  }

  /** True if the last line is signed, and so covers all before it. */
  get isSigned(): boolean {
    return this.#isSigned
  }

  get head(): Head {
    return { id: this.id, seq: this.#seq, last: this.#prev }
  }

  /** Gathers an entry: `body` and `rest` together are its members, in ASCII, at least one. */
  append(type: EntryType, body: string, rest: string): void {
    this.#tellLosses()
    if (this.#unsigned >= MOST_UNSIGNED_LINES - 1) this.mark('checkpoint')
    this.#add(this.#head(type), body, rest, 'entry')
    this.#isSigned = false
  }

  /** Counts an entry that the device cannot take. */
  skip(): void {
    this.#skippedEntries++
    // If no entry follows, the next signed line makes it known.
    if (this.isStarted) this.#isSigned = false
  }

  /** Gathers a signed line. `members` is further content in ASCII; empty, or beginning with a comma. */
  mark(event: Exclude<MarkEvent, 'lost'>, members = ''): void {
    // A chain must begin with its start, so losses are not reported before it.
    if (event !== 'start') this.#tellLosses()
    const body = `"event":"${event}"${members}`
    // Exactly the written text is signed, its time included.
    const head = this.#head(MARK)
    const signature = this.#parts.sign(`${SIGNED_FOR}${head}${body}`)
    this.#add(head, body, `${SIGNATURE}${signature}"`, 'signed')
    this.#isSigned = true
  }

  /** The gathered lines; valid until `settle`. */
  get gathered(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /**
   * Ends the writing of the gathered lines: so many bytes are stored, and the rest never will be. The chain continues
   * after the last line that was stored.
   */
  settle(storedBytes: number): void {
    const { length } = this.#ends
    let stored = 0
    // A line that lacks only its newline counts as stored: the next one begins with that.
    while (stored < length && (this.#ends[stored] ?? 0) - 1 <= storedBytes) stored++
    if (storedBytes < this.#length) this.#lose(stored, storedBytes)
    else this.#forgetLosses(stored)
    this.#seq += stored - length
    this.#length = 0
    this.#ends.length = 0
    this.#hashes.length = 0
    this.#areEntries.length = 0
    this.#unsignedAfter.length = 0
    this.#tellingLine = -1
    if (this.#buffer.length > MOST_KEPT_CAPACITY) this.#buffer = Buffer.alloc(FIRST_CAPACITY)
  }

  #lose(stored: number, storedBytes: number): void {
    this.#forgetLosses(stored)
    if (storedBytes > 0) {
      const end = this.#ends[stored - 1] ?? 0
      // A newline that ends an earlier torn piece is no part of a line.
      const from = end === 0 && this.#buffer[0] === NEWLINE ? 1 : end
      const piece = this.#buffer.subarray(from, Math.max(from, storedBytes))
      this.#isMidLine = piece.length > 0 || storedBytes < end
      if (piece.length > 0) this.#torn.push({ bytes: piece.length, digest: linkDigest(piece) })
    }
    this.#lostEntries += this.#areEntries.slice(stored).filter(Boolean).length
    this.#isSigned = false
    this.#prev = stored === 0 ? this.#base : (this.#hashes[stored - 1] ?? '')
    this.#unsigned = stored === 0 ? this.#unsignedBefore : (this.#unsignedAfter[stored - 1] ?? 0)
  }

  #forgetLosses(stored: number): void {
    if (stored > 0) this.#isMidLine = false
    if (this.#tellingLine === -1 || this.#tellingLine >= stored) return
    this.#lostEntries = 0
    this.#torn = []
  }

  #tellLosses(): void {
    if (this.#tellingLine !== -1) return
    this.#lostEntries += this.#skippedEntries
    this.#skippedEntries = 0
    if (this.#lostEntries === 0 && this.#torn.length === 0) return
    this.#tellingLine = this.#ends.length
    const torn = this.#torn.map(({ bytes, digest }) => `{"bytes":${bytes},"sha256":"${digest}"}`).join(',')
    this.#add(this.#head(MARK), `"event":"lost","entries":${this.#lostEntries},"torn":[${torn}]`, '', 'lost')
  }

  #add(line: string, body: string, rest: string, kind: 'entry' | 'signed' | 'lost'): void {
    const { prefix } = this.#parts
    const head = prefix + line
    if (this.#length === 0) {
      this.#base = this.#prev
      this.#unsignedBefore = this.#unsigned
    }
    this.#unsigned = kind === 'signed' ? 0 : this.#unsigned + 1
    this.#unsignedAfter.push(this.#unsigned)
    this.#makeRoom(head.length + body.length + rest.length + END.length + 1)
    if (this.#length === 0 && this.#isMidLine) this.#buffer[this.#length++] = NEWLINE
    const start = this.#length + prefix.length
    // Written in parts: both entries of a request share one body, whose pieces are then joined only once.
    this.#write(head)
    this.#write(body)
    this.#write(rest + END)
    this.#prev = linkDigest(this.#buffer.subarray(start, this.#length - 1))
    this.#seq++
    this.#ends.push(this.#length)
    this.#hashes.push(this.#prev)
    this.#areEntries.push(kind === 'entry')
  }

  #head(type: string): string {
    const chain = `{"stream":"${this.id}","seq":${this.#seq},"prev":"${this.#prev}"}`
    return `{"time":"${this.#parts.time()}","chain":${chain},"type":"${type}",`
  }

  #write(text: string): void {
    this.#length += this.#buffer.write(text, this.#length, 'latin1')
  }

  #makeRoom(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.alloc(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}
