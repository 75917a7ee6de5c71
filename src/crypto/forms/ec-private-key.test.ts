import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import { inlineWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'
import { type Curve, P256, P384, P521, SECP256K1 } from './ec-curves.ts'
import { generateEcKey } from './ec-private-key.ts'

const CURVES: readonly Curve[] = [P256, P384, P521, SECP256K1]
const slow = inlineWork(realWorld())

/** The material made from these draws, and the buffers that were drawn. */
async function generated(curve: Curve, draws: readonly Buffer[]) {
  const left = [...draws]
  const drawn: Buffer[] = []
  const random = () => {
    const next = left.shift() ?? assert.fail('one more was drawn')
    drawn.push(next)
    return next
  }
  const material = await generateEcKey(curve, random, slow)
  assert.equal(left.length, 0)
  return { material, drawn, key: createPrivateKey({ key: material, format: 'der', type: 'pkcs8' }) }
}

const minusOne = (order: Buffer): Buffer => {
  const less = Buffer.from(order)
  less[less.length - 1] = (less[less.length - 1] ?? 0) - 1
  return less
}

for (const curve of CURVES) {
  const { name, order } = curve
  test(`${name}: numbers that are no key are drawn again, the largest one is taken, none stays in memory`, async () => {
    // P-521 uses one bit of the first byte, so one draw in two is taken.
    const wanted = minusOne(order)
    const { key, drawn } = await generated(curve, [
      Buffer.from(order),
      Buffer.alloc(order.length, 0xff),
      Buffer.from(wanted),
    ])
    assert.deepEqual(key.export({ format: 'raw-private' }), wanted)
    assert.ok(drawn.every((draw) => draw.every((byte) => byte === 0)))
  })

  test(`${name}: the material is what the runtime writes itself`, async () => {
    for (const fill of [0x01, 0x5a, 0x80]) {
      const { material, key } = await generated(curve, [Buffer.alloc(order.length, fill)])
      assert.deepEqual(material, key.export({ format: 'der', type: 'pkcs8' }))
    }
  })
}
