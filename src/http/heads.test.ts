// Requirements of every head, whatever the caller.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { echo, openListener } from '../../test/fixtures/open-listener.ts'
import { RawConnection } from '../../test/fixtures/raw-http.ts'

async function asker(context: TestContext) {
  const handled: string[] = []
  const open = await openListener({
    handle: async (request) => {
      handled.push(request.method)
      return echo(request)
    },
  })
  context.after(() => open.stop())
  const ask = async (method: string, lines: readonly string[], body = '', version = '1.1') => {
    const connection = await RawConnection.open(open.address)
    connection.write(`${method} /v1/x HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`)
    const answer = await connection.read()
    connection.close()
    return answer
  }
  return { ask, handled }
}

test('A request of HTTP/1.1 has one Host, whichever way it is read', async (context) => {
  const { ask, handled } = await asker(context)
  for (const method of ['GET', 'POST', 'LIST', 'SCAN', 'HELP']) {
    for (const lines of [[], ['Host: a', 'Host: a'], ['Host: a', 'hOST: b'], ['X-Host: a']]) {
      const answer = await ask(method, lines)
      assert.equal(answer?.status, 400, `${method} ${lines}`)
      assert.equal(answer.body, '{"errors":["The request is not well-formed HTTP"]}\n')
      assert.equal(answer.headers.get('connection'), 'close')
    }
  }
  assert.deepEqual(handled, [])
  for (const lines of [['Host: a'], ['hOsT:']]) {
    for (const method of ['GET', 'LIST']) assert.equal((await ask(method, lines))?.status, 200, `${method} ${lines}`)
  }
  assert.equal((await ask('GET', [], '', '1.0'))?.status, 200, 'HTTP/1.0 knows no Host')
  assert.equal((await ask('GET', ['Host: a', 'Host: b'], '', '1.0'))?.status, 400)
})

test('N-41: a request names its token, its namespace and its wrapping once', async (context) => {
  const { ask, handled } = await asker(context)
  for (const method of ['GET', 'POST', 'LIST']) {
    for (const name of ['X-Vault-Token', 'X-Vault-Namespace', 'X-Vault-Wrap-TTL']) {
      for (const values of [
        ['a', 'b'],
        ['a', 'a'],
        ['', 'a'],
        ['a', ''],
      ]) {
        const answer = await ask(method, ['Host: a', `${name}: ${values[0]}`, `${name.toLowerCase()}: ${values[1]}`])
        assert.equal(answer?.status, 400, `${method} ${name} ${values}`)
        assert.equal(answer.body, '{"errors":["The request is not well-formed HTTP"]}\n')
      }
      assert.equal((await ask(method, ['Host: a', `${name}: a, b`]))?.status, 200, `${method} ${name} in one line`)
    }
  }
  assert.equal(handled.length, 9)
})

test('A body that is compressed is a 415 and asked for by nobody', async (context) => {
  const { ask, handled } = await asker(context)
  for (const coding of ['gzip', 'GZIP', 'br', 'deflate', 'identity, gzip', 'x', '']) {
    for (const framing of [
      ['Content-Length: 2'],
      ['Transfer-Encoding: chunked'],
      ['Content-Length: 2', 'Expect: 100-continue'],
    ]) {
      const answer = await ask('POST', ['Host: a', `Content-Encoding: ${coding}`, ...framing])
      assert.equal(answer?.status, 415, `${coding} ${framing}`)
      assert.equal(answer.body, '{"errors":["Content-Encoding: only identity is offered"]}\n')
    }
  }
  assert.deepEqual(handled, [])
  const plain = ['Host: a', 'Content-Length: 2']
  for (const coding of ['identity', 'Identity']) {
    assert.equal((await ask('POST', [...plain, `Content-Encoding: ${coding}`], '{}'))?.status, 200, coding)
  }
  assert.equal((await ask('GET', ['Host: a', 'Content-Encoding: gzip']))?.status, 200, 'nothing is encoded')
})
