import { strict as assert } from 'node:assert'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import { SECOND_CERTIFICATE } from '../../test/fixtures/more-certificates.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { authorityFiles } from './authority-files.ts'

const temporary = temporaryDirectory()
after(() => temporary.cleanUp())
const SECRET = 'a secret that no sentence may hold'

let directories = 0
/** A new directory with these files. */
function directory(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const path = join(temporary.path, `d${directories++}`)
  mkdirSync(path)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

const file = (path: string, allowed: readonly string[]) => authorityFiles(allowed).read({ caFile: path, caPath: '' })
const path = (path: string, allowed: readonly string[]) => authorityFiles(allowed).read({ caFile: '', caPath: path })
async function refused(found: ReturnType<typeof file>, says: RegExp): Promise<void> {
  const sentence = (await found) as { readonly sentence?: string }
  assert.match(sentence.sentence ?? 'it was taken', says)
  assert.ok(!JSON.stringify(sentence).includes(SECRET))
}

test('without files the authorities of the system count, whatever is allowed', async () => {
  assert.deepEqual(await file('', []), { ca: undefined, trust: 'system' })
})

test('a file gives its certificates, and nothing else that it holds', async () => {
  const allowed = directory({ 'ca.pem': `${SECRET}\n${LOOPBACK_CERTIFICATE}${LOOPBACK_KEY}${SECOND_CERTIFICATE}` })
  const wanted = { ca: LOOPBACK_CERTIFICATE + SECOND_CERTIFICATE, trust: 'ca_file' }
  assert.deepEqual(await file(join(allowed, 'ca.pem'), ['/nowhere', allowed]), wanted)
  mkdirSync(join(allowed, 'below'))
  writeFileSync(join(allowed, 'below', 'ca.pem'), LOOPBACK_CERTIFICATE)
  assert.deepEqual(await file(join(allowed, 'below', 'ca.pem'), [allowed]), { ...wanted, ca: LOOPBACK_CERTIFICATE })
})

test('a directory gives the certificates of its files, each file once, and none of directories in it', async () => {
  const allowed = directory({ 'b.pem': SECOND_CERTIFICATE, 'a.pem': LOOPBACK_CERTIFICATE })
  symlinkSync('a.pem', join(allowed, 'c.0'))
  mkdirSync(join(allowed, 'below'))
  writeFileSync(join(allowed, 'below', 'x'), SECRET)
  const wanted = { ca: LOOPBACK_CERTIFICATE + SECOND_CERTIFICATE, trust: 'ca_path' }
  assert.deepEqual(await path(allowed, [allowed]), wanted)
  assert.deepEqual(await path(`${allowed}/`, [`${allowed}/`]), wanted)
})

test('R-09: without an allowed directory no file is read, whether it is there or not', async () => {
  const there = join(directory({ 'ca.pem': LOOPBACK_CERTIFICATE }), 'ca.pem')
  for (const given of [there, '/nowhere/ca.pem'])
    await refused(file(given, []), /^"ca_file" is not allowed here: .*"allowed_ca_paths" of the stanza "replication"$/)
  await refused(path('/etc', []), /^"ca_path" is not allowed here: /)
})

test('R-09: outside of the allowed directories the answer is the same for what is there and what is not', async () => {
  const [allowed, other] = [directory(), directory({ 'ca.pem': LOOPBACK_CERTIFICATE })]
  const outside = /^"ca_file" leads out of the directories of "allowed_ca_paths"/
  for (const given of [join(other, 'ca.pem'), join(other, 'none'), `${allowed}-beside`, '/', temporary.path])
    await refused(file(given, [allowed]), outside)
  await refused(path(other, [allowed]), /^"ca_path" leads out/)
  await refused(file(join(other, 'ca.pem'), ['/nowhere']), outside)
})

test('R-09: a path with "..", a relative one and one with control characters are none', async () => {
  const allowed = directory({ 'ca.pem': LOOPBACK_CERTIFICATE })
  const given = [`${allowed}/../${allowed.split('/').at(-1)}/ca.pem`, 'ca.pem', './ca.pem', `${allowed}/..`]
  for (const each of [...given, `${allowed}/ca.pem\0`, `${allowed}/ca\n.pem`, `${allowed}/${'a'.repeat(4_097)}`])
    await refused(file(each, [allowed]), /^"ca_file" must be an absolute path without "\.\."/)
})

test('R-09: a link is followed to where an allowed directory is, and no further', async () => {
  const [allowed, other] = [directory(), directory({ 'ca.pem': LOOPBACK_CERTIFICATE, secret: SECRET })]
  symlinkSync(join(other, 'ca.pem'), join(allowed, 'ca.pem'))
  symlinkSync(other, join(allowed, 'below'))
  await refused(file(join(allowed, 'ca.pem'), [allowed]), /^"ca_file" leads out of the directories/)
  await refused(file(join(allowed, 'below', 'ca.pem'), [allowed]), /^"ca_file" leads out of the directories/)
  await refused(path(allowed, [allowed]), /^The file "below" of "ca_path" leads out .*: add its own to them$/)
  assert.equal(((await file(join(allowed, 'ca.pem'), [allowed, other])) as { ca: string }).ca, LOOPBACK_CERTIFICATE)
  const link = join(temporary.path, 'link')
  symlinkSync(other, link)
  for (const given of [join(link, 'ca.pem'), join(other, 'ca.pem')])
    assert.equal(((await file(given, [link])) as { ca: string }).ca, LOOPBACK_CERTIFICATE)
})

test('what holds no certificates is told by its name, and nothing in it', async () => {
  const broken = `-----BEGIN CERTIFICATE-----\n${SECRET}\n-----END CERTIFICATE-----\n`
  const allowed = directory({ none: SECRET, empty: '', broken, cut: `-----BEGIN CERTIFICATE-----\n${SECRET}` })
  const told = (name: string, says: RegExp) => refused(file(join(allowed, name), [allowed]), says)
  await told('none', /^"ca_file" holds no certificate in PEM form$/)
  await told('empty', /^"ca_file" holds no certificate in PEM form$/)
  await told('broken', /^"ca_file" holds a certificate that cannot be read$/)
  await told('cut', /^"ca_file" holds a certificate that cannot be read$/)
  await told('missing', /^"ca_file" cannot be read \(ENOENT\)$/)
  await told('', /^"ca_file" is a directory: "ca_path" takes one$/)
  await refused(path(join(allowed, 'none'), [allowed]), /^The directory "ca_path" cannot be read \(ENOTDIR\)$/)
  await refused(path(allowed, [allowed]), /^The file "broken" of "ca_path" holds a certificate that cannot be read$/)
  await refused(path(directory(), [temporary.path]), /^The directory "ca_path" has no file$/)
})

test('both fields together are refused', async () => {
  const found = authorityFiles([temporary.path]).read({ caFile: '/a', caPath: '/b' })
  await refused(found, /^Give "ca_file" or "ca_path", not both$/)
})

test('files have a limit each and in all, and a directory one of its entries', async () => {
  const of = (bytes: number): Buffer => Buffer.concat([Buffer.from(LOOPBACK_CERTIFICATE)], bytes)
  const large = directory({ fits: of(1 << 20), not: of((1 << 20) + 1) })
  assert.ok('ca' in (await file(join(large, 'fits'), [large])))
  await refused(file(join(large, 'not'), [large]), /^"ca_file" has more than 1048576 bytes$/)
  const four = directory({ a: of(1 << 20), b: of(1 << 20), c: of(1 << 20), d: of(1 << 20) })
  assert.ok('ca' in (await path(four, [four])))
  writeFileSync(join(four, 'e'), LOOPBACK_CERTIFICATE)
  await refused(path(four, [four]), /^The files of "ca_path" have more than 4194304 bytes in all$/)
  const names = Array.from({ length: 1_000 }, (_, index) => [`f${index}`, LOOPBACK_CERTIFICATE] as const)
  const many = directory(Object.fromEntries(names))
  assert.ok('ca' in (await path(many, [many])))
  writeFileSync(join(many, 'more'), LOOPBACK_CERTIFICATE)
  await refused(path(many, [many]), /^The directory "ca_path" has more than 1000 entries$/)
})
