import assert from 'node:assert/strict'
import { test } from 'node:test'
import { devicePartsFor } from '../../test/fixtures/device-parts.ts'
import { Refusal } from '../api/errors.ts'
import { deviceSettings } from './device-options.ts'
import type { Options } from './device-types/device-type.ts'
import { socketAddress } from './device-types/socket.ts'
import { syslogAddress, syslogHeader } from './device-types/syslog.ts'
import { DiscardDevice } from './file-device.ts'
import { openDevice } from './open-device.ts'
import { QueuedDevice } from './queued-device.ts'

const file = (options: Options) => deviceSettings('file', { file_path: '/var/log/a.log', ...options }, false)

test('a file device has the defaults of the reference, and a mode for its owner alone', () => {
  const { target, ...rest } = file({})
  assert.deepEqual(target.file, { path: '/var/log/a.log', mode: 0o600 })
  assert.deepEqual(rest, {
    format: { raw: false, hmacAccessor: true, elideLists: false },
    prefix: '',
    deadlineMs: 5_000,
  })
  const all = file({ log_raw: 'true', hmac_accessor: 'false', elide_list_responses: '1', mode: '0640', format: 'json' })
  assert.deepEqual(all.format, { raw: true, hmacAccessor: false, elideLists: true })
  assert.deepEqual(all.target.file, { path: '/var/log/a.log', mode: 0o640 })
})

test('the old name of the path, standard output and nothing at all are targets', async () => {
  assert.deepEqual(deviceSettings('file', { path: '/a' }, false).target.file, { path: '/a', mode: 0o600 })
  for (const [path, kind] of [
    ['stdout', QueuedDevice],
    ['discard', DiscardDevice],
    ['/dev/null', DiscardDevice],
  ] as const) {
    const { parts } = devicePartsFor('file', { file_path: path })
    assert.equal(parts.settings.target.file, undefined)
    assert.ok((await openDevice(parts)) instanceof kind, path)
  }
})

test('sockets and syslog know their addresses', () => {
  assert.deepEqual(socketAddress({ address: '127.0.0.1:9090' }), { type: 'tcp', host: '127.0.0.1', port: 9090 })
  assert.deepEqual(socketAddress({ address: '[::1]:1', socket_type: 'udp' }), { type: 'udp', host: '::1', port: 1 })
  assert.deepEqual(socketAddress({ address: '/run/a.sock', socket_type: 'unix' }), {
    type: 'unix',
    file: '/run/a.sock',
  })
  // RFC 5424 section 6.2.1: AUTH is 4, informational is 6.
  assert.deepEqual(syslogAddress(undefined), { type: 'unix', file: '/dev/log' })
  assert.equal(syslogHeader({}), '<38>1 - - keywright - - - ')
  assert.deepEqual(syslogAddress('tcp:log:601'), { type: 'tcp', host: 'log', port: 601 })
  assert.equal(syslogHeader({ facility: 'local7', tag: 'kms' }), '<190>1 - - kms - - - ')
})

const REFUSED: readonly {
  readonly name: string
  readonly type: string
  readonly options: Options
  readonly why: RegExp
}[] = [
  { name: 'a type that is none', type: 'nope', options: {}, why: /^unknown backend type: offered are file, socket/ },
  { name: 'no path', type: 'file', options: {}, why: /^file_path is required$/ },
  { name: 'both paths', type: 'file', options: { file_path: '/a', path: '/b' }, why: /give one/ },
  { name: 'a relative path', type: 'file', options: { file_path: 'a.log' }, why: /absolute path/ },
  { name: 'a path with a zero byte', type: 'file', options: { file_path: '/a\0b' }, why: /absolute path/ },
  { name: 'an option that is none', type: 'file', options: { file_path: '/a', log_rwa: '1' }, why: /"log_raw"/ },
  { name: 'an option of another type', type: 'file', options: { file_path: '/a', address: 'x' }, why: /known are/ },
  { name: 'jsonx', type: 'file', options: { file_path: '/a', format: 'jsonx' }, why: /jsonx is not offered/ },
  { name: 'no switch', type: 'file', options: { file_path: '/a', log_raw: 'perhaps' }, why: /log_raw must be true/ },
  { name: 'no address', type: 'socket', options: {}, why: /^address is required$/ },
  { name: 'a port that is none', type: 'socket', options: { address: 'a:70000' }, why: /like 127.0.0.1:9090/ },
  {
    name: 'a kind of socket',
    type: 'socket',
    options: { address: 'a:1', socket_type: 'sctp' },
    why: /tcp, udp or unix/,
  },
  { name: 'a facility', type: 'syslog', options: { facility: 'LOCAL8' }, why: /must be one of KERN/ },
  { name: 'a tag with a blank', type: 'syslog', options: { tag: 'a b' }, why: /without blanks/ },
  { name: 'a deadline of nothing', type: 'socket', options: { address: 'a:1', write_timeout: '0' }, why: /1 to 60/ },
  { name: 'a long deadline', type: 'socket', options: { address: 'a:1', write_timeout: '2m' }, why: /1 to 60/ },
]
for (const { name, type, options, why } of REFUSED) {
  test(`refused by name: ${name}`, () => {
    assert.throws(
      () => deviceSettings(type, options, true),
      (cause) => cause instanceof Refusal && cause.status === 400 && why.test(cause.message),
    )
  })
}

test('U-07: no mode lets anybody run the file, or everybody read it', () => {
  for (const mode of ['0660', '0640', '0600', '600', '0620']) file({ mode })
  for (const mode of ['0700', '0644', '0666', '0770', '1600', '4600', '0400', '0', 'rw', '99', '0600x'])
    assert.throws(() => file({ mode }), /mode must be octal/)
})

test('U-07: a prefix comes from the configuration file only', () => {
  assert.throws(() => file({ prefix: '#!/bin/sh' }), /in the configuration file only/)
  const declared = (prefix: string) => deviceSettings('file', { file_path: '/a', prefix }, true).prefix
  assert.equal(declared('keywright: '), 'keywright: ')
  for (const prefix of ['{"time":"', 'ä', '\n', 'x'.repeat(257)])
    assert.throws(() => declared(prefix), /printable ASCII without/)
})
