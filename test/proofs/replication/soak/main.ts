// `npm run torture:clusters`: the soak of scenario T100 for SECONDS (7200 if not said), from SEED or a new one. Says
// each step, a row each minute, and tables at the end. The exit code is 1 if something was not as it should be. What
// the clusters stored and said stays then, and where is said. It needs Linux, and uses loopback alone.
import { randomInt } from 'node:crypto'
import { temporaryDirectory } from '../../../fixtures/server-process.ts'
import { soak } from './soak.ts'

const given = process.env.SEED
const seed = given === undefined || given === 'new' ? randomInt(2 ** 31) : Number(given)
const seconds = Number(process.env.SECONDS ?? '7200')
if (!Number.isSafeInteger(seed)) throw new Error('SEED must be an integer, or "new"')
if (!Number.isInteger(seconds) || seconds < 1) throw new Error('SECONDS is a whole number from 1')

const temporary = temporaryDirectory()
console.log(`seed=${seed}, ${seconds} s, ${temporary.path}`)
let isWell = false
try {
  const { faults, growing } = await soak({
    root: temporary.path,
    seed,
    steps: { seconds },
    span: { leastMs: 2_000, mostMs: 20_000 },
    isCalmJudged: true,
    pauseMs: 230,
    say: console.log,
  })
  for (const each of [...faults, ...growing]) console.log(`NOT AS IT SHOULD BE: ${each}`)
  isWell = faults.length + growing.length === 0
} catch (cause) {
  console.log(cause)
}
if (isWell) temporary.cleanUp()
console.log(isWell ? 'All is well.' : `Not all is well: see ${temporary.path}, and SEED=${seed}`)
process.exitCode = isWell ? 0 : 1
