// `npm run torture:soak`: mixed load for MINUTES (default 60), memory once a minute, and at the end whether it is flat.
// The exit code is 1 if it is not, or if an answer was not the one its request should have. It needs Linux.
import { join } from 'node:path'
import { startAttack } from '../test/fixtures/attack-processes.ts'
import { memoryOf, resetPeak } from '../test/fixtures/process-figures.ts'
import { api, temporaryDirectory } from '../test/fixtures/server-process.ts'
import { startSteadyCaller } from '../test/fixtures/steady-caller.ts'
import { markdownTable, median } from './report.ts'
import { KEY, MOUNT, PLAINTEXT, startKeywright, type Target, USER } from './targets.ts'

const MINUTE_MS = 60_000
const MEBIBYTE = 1 << 20
const ENCRYPT = `${MOUNT}/encrypt/${KEY}`
/** Names are written again and again, so that the store does not grow by itself. */
const NAMES = 50
/** Memory is flat if the later half of the minutes takes at most this factor of the earlier half. */
const MOST_GROWTH = 1.1
/** In the first minute everything runs for the first time. */
const WARM_UP_MINUTES = 1
const LEAST_MINUTES = 5

type Work = {
  readonly name: string
  readonly pauseMs: number
  /** Makes one round. @throws Error if an answer is not what it should be */
  readonly round: (target: Target, count: number) => Promise<void>
}

async function call(target: Target, method: string, path: string, body?: object | string, token = target.rootToken) {
  const answer = await api({ address: target.server.address, token }, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

const batchOf = (items: number): string =>
  JSON.stringify({ batch_input: Array.from({ length: items }, () => ({ plaintext: PLAINTEXT })) })
const BATCH = batchOf(1_000)
const LARGE_BATCH = batchOf(100_000)
const LARGE_BODY = JSON.stringify({ plaintext: 'A'.repeat(8 * MEBIBYTE) })

const WORKS: readonly Work[] = [
  {
    name: 'batches of 1,000',
    pauseMs: 100,
    round: async (target) => void (await call(target, 'POST', ENCRYPT, BATCH)),
  },
  {
    name: 'batches of 100,000',
    pauseMs: 10_000,
    round: async (target) => void (await call(target, 'POST', ENCRYPT, LARGE_BATCH)),
  },
  {
    name: 'bodies of 8 MiB',
    pauseMs: 2_000,
    round: async (target) => void (await call(target, 'POST', ENCRYPT, LARGE_BODY)),
  },
  {
    name: 'logins, revoked',
    pauseMs: 200,
    round: async (target) => {
      const { auth } = await call(target, 'POST', 'auth/approle/login', target.machine, '')
      const token = (auth as { readonly client_token: string }).client_token
      await call(target, 'POST', 'auth/token/revoke-self', {}, token)
    },
  },
  {
    name: 'logins by password',
    pauseMs: 2_000,
    round: async (target) => {
      const { auth } = await call(
        target,
        'POST',
        `auth/userpass/login/${USER.username}`,
        { password: USER.password },
        '',
      )
      const token = (auth as { readonly client_token: string }).client_token
      await call(target, 'POST', 'auth/token/revoke-self', {}, token)
    },
  },
  {
    name: 'tokens made and revoked',
    pauseMs: 100,
    round: async (target) => {
      const { auth } = await call(target, 'POST', 'auth/token/create', { policies: [MOUNT], ttl: '10m' })
      const token = (auth as { readonly client_token: string }).client_token
      await call(target, 'POST', ENCRYPT, { plaintext: PLAINTEXT }, token)
      await call(target, 'POST', 'auth/token/revoke', { token })
    },
  },
  {
    name: 'policies',
    pauseMs: 250,
    round: async (target, count) => {
      const policy = `path "${MOUNT}/keys/soak-${count}" { capabilities = ["read"] }`
      await call(target, 'POST', `sys/policies/acl/soak-${count % NAMES}`, { policy })
    },
  },
  {
    name: 'keys, made and deleted',
    pauseMs: 250,
    round: async (target, count) => {
      const key = `${MOUNT}/keys/soak-${count % NAMES}`
      await call(target, 'POST', key)
      await call(target, 'POST', `${key}/config`, { deletion_allowed: true })
      await call(target, 'DELETE', key)
    },
  },
]

async function keepOn({ pauseMs, round }: Work, target: Target, state: { isOver: boolean }, errors: string[]) {
  let count = 0
  while (!state.isOver) {
    await round(target, count++).catch((cause: unknown) => errors.push(String(cause).slice(0, 300)))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return count
}

async function soak(minutes: number): Promise<boolean> {
  const temporary = temporaryDirectory()
  const target = await startKeywright(join(temporary.path, 'data'), { audit: true })
  const { pid, address } = target.server
  const attacks = await Promise.all(
    (['slow headers', 'slow bodies'] as const).map((name) =>
      startAttack({ name, address, path: ENCRYPT, token: target.token, connections: 50 }),
    ),
  )
  const errors: string[] = []
  const state = { isOver: false }
  const counts = WORKS.map((work) => keepOn(work, target, state, errors))
  const caller = startSteadyCaller({ address, token: target.token, path: ENCRYPT })
  try {
    const now: number[] = []
    const lines: string[][] = []
    for (let minute = 1; minute <= minutes; minute++) {
      resetPeak(pid)
      const seen: number[] = []
      for (let second = 0; second < 60; second++) {
        await new Promise((resolve) => setTimeout(resolve, MINUTE_MS / 60))
        seen.push(memoryOf(pid).bytes / MEBIBYTE)
      }
      now.push(median(seen))
      const line = [String(minute), String(errors.length), median(seen), memoryOf(pid).peakBytes / MEBIBYTE]
      lines.push(line.map((cell) => (typeof cell === 'number' ? cell.toFixed(0) : cell)))
      process.stderr.write(`minute ${lines.at(-1)?.join(', ')}\n`)
    }
    state.isOver = true
    const done = await Promise.all(counts)
    const steady = await caller.stop()
    console.log(markdownTable(['minute', 'errors', 'MiB, median', 'MiB, at most'], lines))
    console.log(WORKS.map(({ name }, i) => `${name}: ${done[i]}`).join('; '))
    console.log(
      `one encryption after another: ${steady.answered}, p50 ${steady.p50Ms.toFixed(1)} ms, ` +
        `p99 ${steady.p99Ms.toFixed(1)} ms, most ${steady.mostMs.toFixed(0)} ms`,
    )
    for (const error of new Set([...errors, ...steady.others])) console.log(`not as it should be: ${error}`)
    const { text, isFlat } = verdict(now)
    console.log(text)
    return errors.length + steady.others.length === 0 && isFlat
  } finally {
    state.isOver = true
    await Promise.all(attacks.map((attack) => attack.stop()))
    await target.server.kill()
    temporary.cleanUp()
  }
}

function verdict(now: readonly number[]): { readonly text: string; readonly isFlat: boolean } {
  if (now.length < LEAST_MINUTES) return { text: `${LEAST_MINUTES} minutes say whether memory is flat.`, isFlat: true }
  const counted = now.slice(WARM_UP_MINUTES)
  const half = Math.floor(counted.length / 2)
  const growth = median(counted.slice(half)) / median(counted.slice(0, half))
  const isFlat = growth <= MOST_GROWTH
  const what = `after the first minute, the later half takes ${growth.toFixed(2)} times what the earlier one took`
  return { text: `${what}: memory is ${isFlat ? '' : 'not '}flat.`, isFlat }
}

const minutes = Number(process.env.MINUTES ?? '60')
if (!Number.isInteger(minutes) || minutes < 1) throw new Error('MINUTES is a whole number from 1')
process.exitCode = (await soak(minutes)) ? 0 : 1
