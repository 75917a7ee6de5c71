// One chain of lines (docs/audit-format.md): what one thread writes to one device from one opening on. Each line names
// the hash of the one before it; now and then a signed one vouches for all before. Lines are gathered here until the
// device writes them together, and the chain goes on from what was really stored.
import { linkDigest } from '../crypto/primitives/digest.ts'

/** Of a line that is no entry of a request: `chain` holds what happened to the stream. */
export const MARK = 'chain'
export type MarkEvent = 'start' | 'checkpoint' | 'reopen' | 'end' | 'lost'
export type EntryType = 'request' | 'response'

export type StreamParts = {
  readonly id: string
  /** Before every line, and no part of what is hashed; printable ASCII. */
  readonly prefix: string
  /** RFC 3339, of now. */
  readonly time: () => string
  /** In base64. */
  readonly sign: (text: string) => string
}

export type Head = { readonly id: string; readonly seq: number; readonly last: string }

/** Before the signed line: nothing else that the key signs begins so. */
export const SIGNED_FOR = 'keywright audit chain 1\n'
/** The line is signed up to here; all lines before it follow from its `prev`. */
export const SIGNATURE = ',"signature":"'

/** So many lines at most wait for a signature: a tail that is longer was not written by a server. */
export const MOST_UNSIGNED_LINES = 1_000

type Torn = { readonly bytes: number; readonly digest: string }

const FIRST_CAPACITY = 1 << 16
/** A buffer that one large request needed is not kept for all time. */
const MOST_KEPT_CAPACITY = 1 << 22
const NEWLINE = 0x0a
const END = '}\n'

export class LineStream {
  readonly id: string
  readonly #parts: StreamParts
  /** The number of the next line, and the hash of the last. */
  #seq = 0
  #prev = ''
  #buffer = Buffer.alloc(FIRST_CAPACITY)
  #length = 0
  /** Of each gathered line: where it ends, its hash, and whether it is an entry. */
  readonly #ends: number[] = []
  readonly #hashes: string[] = []
  readonly #areEntries: boolean[] = []
  #isSigned = true
  /** Lines behind the last signature, as they are gathered; behind each gathered line; and before those. */
  #unsigned = 0
  readonly #unsignedAfter: number[] = []
  #unsignedBefore = 0
  /** What has to be told as soon as a line can be stored, and which of the gathered lines does. */
  #lostEntries = 0
  #torn: Torn[] = []
  /** Lost, too, but not told of by the line that waits. */
  #skippedEntries = 0
  #tellingLine = -1
  /** The last hash before the gathered lines. */
  #base = ''
  /** What stands at the end of the file is not a whole line. */
  #isMidLine: boolean

  /** `isMidLine`: the file ends with something that no newline follows. */
  constructor(parts: StreamParts, isMidLine = false) {
    this.id = parts.id
    this.#parts = parts
    this.#isMidLine = isMidLine
  }

  /** What comes next goes to a file that ends with something that no newline follows. */
  continueMidLine(): void {
    this.#isMidLine = true
  }

  /** Bytes that wait to be written. */
  get length(): number {
    return this.#length
  }

  get isStarted(): boolean {
    return this.#seq > 0
  }

  /** Whether the last line vouches for all before it. */
  get isSigned(): boolean {
    return this.#isSigned
  }

  get head(): Head {
    return { id: this.id, seq: this.#seq, last: this.#prev }
  }

  /** `body` and `rest` together: members of the line behind its type, in ASCII, at least one. */
  append(type: EntryType, body: string, rest: string): void {
    this.#tellLosses()
    if (this.#unsigned >= MOST_UNSIGNED_LINES - 1) this.mark('checkpoint')
    this.#add(this.#head(type), body, rest, 'entry')
    this.#isSigned = false
  }

  /** An entry that the device cannot take. */
  skip(): void {
    this.#skippedEntries++
    // The next signed line tells of it where no entry follows.
    if (this.isStarted) this.#isSigned = false
  }

  /** `members`: what else it tells, in ASCII; empty or beginning with a comma. */
  mark(event: Exclude<MarkEvent, 'lost'>, members = ''): void {
    // What a stream begins with is its start.
    if (event !== 'start') this.#tellLosses()
    const body = `"event":"${event}"${members}`
    // What is signed is what is written: its time, too.
    const head = this.#head(MARK)
    const signature = this.#parts.sign(`${SIGNED_FOR}${head}${body}`)
    this.#add(head, body, `${SIGNATURE}${signature}"`, 'signed')
    this.#isSigned = true
  }

  /** The gathered lines; they stay as they are until `settle`. */
  get gathered(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Of the gathered lines so many bytes are stored, and no more will be. */
  settle(storedBytes: number): void {
    const { length } = this.#ends
    let stored = 0
    // A line that lacks nothing but its newline is there: the next one begins with it.
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
      // A newline that ends what was torn before is no part of a line.
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
    // In parts: the body of both entries of a request is one text, and is made of its pieces only once.
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
