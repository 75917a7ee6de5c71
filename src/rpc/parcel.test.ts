import assert from 'node:assert/strict'
import { createSecretKey, KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { contentOf, movedWith, type Parcel, parcelOf } from './parcel.ts'

/** As the other thread gets it. */
function sent<T>(parcel: Parcel<T>): Parcel<T> {
  const { port1, port2 } = new MessageChannel()
  port1.postMessage(parcel, [...movedWith(parcel)] as ArrayBuffer[])
  const received = receiveMessageOnPort(port2)?.message
  port1.close()
  return received
}

const VALUE = {
  text: 'x',
  nothing: undefined,
  none: null,
  number: 1,
  list: [Buffer.from('one'), 'two', [Buffer.from('three')]],
  inner: { bytes: Buffer.from('four'), empty: Buffer.alloc(0) },
}

test('data come back as they were, with buffers at every depth', () => {
  const received = contentOf(sent(parcelOf(VALUE)))
  assert.deepEqual(received, VALUE)
  assert.ok(Buffer.isBuffer(received.list[0]) && Buffer.isBuffer(received.inner.empty))
})

test('a buffer alone comes back as one', () => {
  assert.deepEqual(contentOf(sent(parcelOf(Buffer.from('alone')))), Buffer.from('alone'))
})

test('data without bytes are sent as they are, with nothing handed over', () => {
  const value = { a: [1, { b: 'c' }] }
  const parcel = parcelOf(value)
  assert.equal(parcel.data, value)
  assert.deepEqual(movedWith(parcel), [])
  assert.deepEqual(contentOf(sent(parcel)), value)
})

test('all bytes are handed over in one piece that holds nothing else', () => {
  const pool = Buffer.alloc(64, 'secret of another')
  const parcel = parcelOf([pool.subarray(0, 6), pool.subarray(20, 26)])
  assert.equal(parcel.bytes?.byteLength, 12)
  assert.deepEqual(movedWith(parcel), [parcel.bytes])
})

test('what is sent stays whole at the sending end, where others have views of the same memory', () => {
  const message = Buffer.alloc(1 << 20, 7)
  const records = [message.subarray(16, 1000), message.subarray(1000, 1 << 20)]
  const parcel = parcelOf(records)
  const received = contentOf(sent(parcel))
  assert.equal(parcel.bytes?.byteLength, 0, 'it was moved')
  assert.equal(message.byteLength, 1 << 20)
  assert.deepEqual(received, records)
})

test('buffers of one message share its memory at the receiving end: nothing is copied there', () => {
  const parcel = sent(parcelOf([Buffer.from('a'), { b: Buffer.from('b') }] as const))
  const [a, { b }] = contentOf(parcel)
  assert.equal(a.buffer, parcel.bytes)
  assert.equal(b.buffer, parcel.bytes)
})

test('a key passes as the same key', () => {
  const key = createSecretKey(Buffer.alloc(32, 1))
  const received = contentOf(sent(parcelOf({ key, certificate: Buffer.from('leaf') })))
  assert.ok(received.key instanceof KeyObject && received.key.equals(key))
})
