// Waits until a new secondary follows its primary, and shows how far it is.
import { countIn, lineIn } from './answer-members.ts'
import { RemoteFailure } from './cli-error.ts'
import type { Client } from './client.ts'
import type { Json } from './exact-json.ts'
import { type CliIo, writeAll } from './io.ts'
import { transferText } from './replication-picture.ts'
import { BETWEEN_LOOKS_MS, type FamilyName, familiesIn, readReplication, remainingMs } from './replication-status.ts'

/** Longest silence for one look. A server that changes its keys answers late, or not at all. */
const LOOK_TIMEOUT_MS = 5_000

/**
 * Looks at the status once a second until the secondary follows the log, and returns the last answer. `done` is what
 * was done to it before.
 * @throws RemoteFailure if nothing has moved for the time that `-timeout` gives; a copy that goes on may take longer
 */
export async function waitUntilFollowing(
  io: CliIo,
  client: Client,
  family: FamilyName,
  done = 'is activated',
): Promise<Json> {
  const looking = client.with({ retries: 0, timeoutMs: Math.min(client.timeoutMs, LOOK_TIMEOUT_MS) })
  const progress = new WaitingLine(io)
  // Looks are counted, and not time: a machine that slept for an hour goes on waiting.
  const most = Math.ceil(client.timeoutMs / BETWEEN_LOOKS_MS)
  // What was there before is no move: a link that is tried again and again goes through the same states.
  const seen = new Set<string>()
  let [unmoved, before]: [number, Json] = [0, null]
  while (true) {
    const { answer, status, refusal } = await lookOnce(looking, family)
    if (isFollowing(status)) {
      await progress.end()
      return answer
    }
    const shown = refusal ?? describe(status, remainingMs(before, status))
    await progress.show(shown, refusal ?? stateOf(status))
    const moved = refusal ?? movesOf(status)
    unmoved = seen.has(moved) ? unmoved + 1 : 0
    if (unmoved >= most) {
      await progress.end()
      const what = `Error waiting for the secondary: nothing has moved for ${most} s`
      throw new RemoteFailure(`${what}. ${givingUp(family, shown, done)}`)
    }
    seen.add(moved)
    before = status
    await io.sleep(BETWEEN_LOOKS_MS)
  }
}

const givingUp = (family: FamilyName, shown: string, done: string): string =>
  `The last look: ${shown}\n\nThe cluster ${done}, and goes on by itself: ` +
  `\`keywright operator replication status -family=${family}\` shows how far it is.`

/** For some seconds behind the end of a link the state is still that of before. */
const isFollowing = (status: Json): boolean =>
  lineIn(status, 'mode') === 'secondary' &&
  lineIn(status, 'state') === 'stream-wals' &&
  lineIn(status, 'connection_state') === 'ready'

type Look = { readonly answer: Json; readonly status: Json; readonly refusal: string | undefined }

/** A look that fails is no reason to give up: the server begins anew with the keys of its primary. */
async function lookOnce(client: Client, family: FamilyName): Promise<Look> {
  try {
    const answer = await readReplication(client, family)
    return { answer, status: familiesIn(answer, family)[0]?.[1] ?? null, refusal: undefined }
  } catch (error) {
    if (!(error instanceof RemoteFailure)) throw error
    return { answer: null, status: null, refusal: error.message.split('\n')[0] ?? '' }
  }
}

/** Without the state of the link, which changes with each try. */
const stateOf = (status: Json): string => ['mode', 'state', 'idle_reason'].map((name) => lineIn(status, name)).join(' ')

/** Everything of the status that shows that something goes on. */
const movesOf = (status: Json): string =>
  [...['mode', 'state', 'last_remote_wal'].map((name) => lineIn(status, name)), transferText(status, undefined)].join(
    ' ',
  )

function describe(status: Json, leftMs: number | undefined): string {
  const [mode, state, link] = ['mode', 'state', 'connection_state'].map((name) => lineIn(status, name))
  const behind = countIn(status, 'lag_entries')
  const parts = [
    `${mode}${state === '' ? '' : `, ${state}`}`,
    transferText(status, leftMs),
    link === '' || link === 'ready' ? '' : `link: ${link}`,
    lineIn(status, 'idle_reason'),
    behind === undefined || behind === 0 ? '' : `${behind} records behind`,
    lineIn(status, 'idle_sentence'),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** A line on standard error that is written anew on a terminal. Elsewhere every state has a line of its own. */
class WaitingLine {
  readonly #io: CliIo
  #state = ''
  #isOpen = false

  constructor(io: CliIo) {
    this.#io = io
  }

  async show(text: string, state: string): Promise<void> {
    const { stderr } = this.#io
    if (stderr.isTTY === true) {
      const line = text.slice(0, (stderr.columns ?? 80) - 1)
      // CSI K erases the rest of the line, which the last text may have left longer.
      await writeAll(stderr, `\r${line}\u001b[K`)
      this.#isOpen = true
    } else if (state !== this.#state) await writeAll(stderr, `${text}\n`)
    this.#state = state
  }

  async end(): Promise<void> {
    if (this.#isOpen) await writeAll(this.#io.stderr, '\n')
    this.#isOpen = false
  }
}
