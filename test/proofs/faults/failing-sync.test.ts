// A device that fails to make a write durable (threats P-02): the server ends, because nothing that it says afterwards
// would be sure. SYNC_FAILURES says how often.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { EXIT_STORAGE_FAILED } from '../../../src/process/writer.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { faultsOf } from '../../fixtures/store-faults.ts'
import { cannotTrace, traced } from '../../fixtures/strace.ts'
import { Ledger, SHARED_KEY } from '../torture/ledger.ts'
import { SharedRotations, Writer } from '../torture/writer.ts'

const FAILURES = Number(process.env.SYNC_FAILURES ?? '5')
const WRITERS = 4
const MOST_SYNCS_BEFORE = 40

test(`P-02 F-03: a failed sync ends the server, ${FAILURES} times, and loses nothing that was acknowledged`, {
  skip: cannotTrace(),
}, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const directory = `${temporary.path}/data`
  const ledger = new Ledger()
  const shared = new SharedRotations(ledger)
  const writers = Array.from(
    { length: WRITERS },
    (_, i) => new Writer(`w${i}`, ledger, shared, pseudoRandom(random.int(2 ** 31))),
  )
  let server = await startServerProcess({ directory, args: ['-threads=2'] })
  context.after(() => server.kill())
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', `transit/keys/${SHARED_KEY}`)

  for (let failures = 1; failures <= FAILURES; failures++) {
    // Only once, as Linux reports it, or for ever: a second try would succeed with data that the first one lost.
    const often = random.pick(['', '+'])
    const inject = `inject=fsync,fdatasync:error=EIO:when=${1 + random.int(MOST_SYNCS_BEFORE)}${often}`
    const tracer = await traced(server.pid, ['-e', 'trace=fsync,fdatasync', '-e', inject])
    const acknowledged = ledger.acknowledged
    await Promise.all(writers.map((writer) => writer.run(server, true)))
    assert.equal(await server.ended(), EXIT_STORAGE_FAILED, server.output())
    assert.match(server.output(), /could not be made durable/)
    tracer.kill('SIGKILL')
    assert.deepEqual(faultsOf(directory), [])
    server = await startServerProcess({ directory, args: ['-threads=2'] })
    await shared.compare(server)
    await ledger.compare(server, random, failures === FAILURES)
    assert.deepEqual(ledger.faults.slice(0, 10), [])
    context.diagnostic(`${ledger.acknowledged - acknowledged} writes were acknowledged before failure ${failures}`)
  }
  assert.ok(ledger.acknowledged > FAILURES, 'the clients wrote next to nothing: this run proves nothing')
  assert.equal(await server.stop(), 0)
})
