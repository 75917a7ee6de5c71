// The cost of our way to the cryptography, beside one call of the runtime and beside the openssl program, in one run.
//   npm run bench:crypto                          every type that signs or seals, about a minute
//   npm run bench:crypto -- --types ed25519,rsa-2048 --rounds 9
// The ratio is what counts: microseconds compare only on the same machine.
import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { KEY_TYPES } from '../src/crypto/key-types/key-types.ts'
import { inlineWork } from '../src/lib/slow-work.ts'
import { realWorld } from '../src/lib/world.ts'
import { INPUT_BYTES, type Load, loadsOf } from './crypto-loads.ts'
import { cryptoTable, type Measured, readSpeed, type Speed } from './crypto-report.ts'

const ROUND_MS = 30
const WARM_UP_MS = 60

/** Returns microseconds for one call, averaged over `forMs`. */
function time(work: () => unknown, forMs: number): number {
  const start = process.hrtime.bigint()
  const end = start + BigInt(forMs) * 1_000_000n
  let calls = 0
  let now = start
  while (now < end) {
    for (let call = 0; call < 4; call += 1) work()
    calls += 4
    now = process.hrtime.bigint()
  }
  return Number(now - start) / 1_000 / calls
}

/** Measures both ways by turns, so that a machine that slows down slows both. */
function measure({ type, work, ours, raw, speed }: Load, rounds: number, speeds: Speeds): Measured {
  time(ours, WARM_UP_MS)
  if (raw !== undefined) time(raw, WARM_UP_MS)
  const own: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    own.push(time(ours, ROUND_MS))
    if (raw !== undefined) bare.push(time(raw, ROUND_MS))
  }
  const program = speed && speeds(speed.args)
  return {
    type,
    work,
    ours: own,
    ...(raw === undefined ? {} : { raw: bare }),
    ...(program === undefined || speed === undefined ? {} : { opensslPerSecond: program[speed.which] }),
  }
}

type Speeds = (args: readonly string[]) => Speed | undefined

/** Runs `openssl speed` once for each algorithm: a run takes seconds. */
function opensslSpeeds(): Speeds {
  const known = new Map<string, Speed | undefined>()
  return (args) => {
    const name = args.join(' ')
    if (!known.has(name)) {
      const { status, stdout } = spawnSync('openssl', ['speed', '-mr', '-seconds', '1', ...args], { timeout: 30_000 })
      known.set(name, status === 0 ? readSpeed(stdout.toString(), INPUT_BYTES) : undefined)
    }
    return known.get(name)
  }
}

const { values } = parseArgs({
  options: { types: { type: 'string' }, rounds: { type: 'string', default: '7' } },
})
const wanted = values.types?.split(',') ?? [...KEY_TYPES.keys()]
const world = realWorld()
const slow = inlineWork(world)
const speeds = opensslSpeeds()
const version = spawnSync('openssl', ['version']).stdout
console.log(`Runtime ${process.version}, its OpenSSL ${process.versions.openssl}, load ${loadavg()[0]?.toFixed(1)}`)
console.log(
  `Program: ${version === null ? 'none' : version.toString().trim()}; inputs of ${INPUT_BYTES} bytes, SHA-256, PSS`,
)
const rows: Measured[] = []
for (const name of wanted) {
  const type = KEY_TYPES.get(name)
  if (type === undefined) throw new Error(`No key type is named ${name}: there are ${[...KEY_TYPES.keys()].join(', ')}`)
  const key = type.load(await type.generate(world.random.bytes, slow))
  for (const load of loadsOf(type, key)) rows.push(measure(load, Number(values.rounds), speeds))
}
console.log(cryptoTable(rows))
