import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameOrigin } from './same-origin.ts'

const CASES: readonly (readonly [Record<string, string>, boolean, boolean])[] = [
  [{ origin: 'https://keys.example.com', host: 'keys.example.com' }, true, true],
  [{ origin: 'https://keys.example.com', host: 'keys.example.com' }, false, true],
  [{ origin: 'https://KEYS.example.com', host: 'keys.EXAMPLE.com:443' }, true, true],
  [{ origin: 'http://keys.example.com:8200', host: 'keys.example.com:8200' }, false, true],
  [{ origin: 'http://[::1]:8200', host: '[::1]:8200' }, false, true],
  [{ origin: 'http://[::1]', host: '[::1]:80' }, false, true],
  [{ origin: 'http://keys.example.com', host: 'keys.example.com' }, true, false],
  [{ origin: 'http://keys.example.com:8201', host: 'keys.example.com:8200' }, false, false],
  [{ origin: 'https://keys.example.com:8443', host: 'keys.example.com' }, true, false],
  [{ origin: 'https://evil.example.com', host: 'keys.example.com' }, true, false],
  [{ origin: 'https://keys.example.com.evil.example', host: 'keys.example.com' }, true, false],
  [{ origin: 'https://evil.example@keys.example.com', host: 'keys.example.com' }, true, false],
  [{ origin: 'null', host: 'null' }, false, false],
  [{ origin: 'file://', host: '' }, false, false],
  [{ origin: 'chrome-extension://keys.example.com', host: 'keys.example.com' }, false, false],
  [{ host: 'keys.example.com' }, false, false],
  [{ origin: 'http://keys.example.com' }, false, false],
  // The browser's own header wins, whatever a proxy made of the host.
  [{ origin: 'https://keys.example.com', host: 'inside:8200', 'sec-fetch-site': 'same-origin' }, false, true],
  [{ origin: 'http://keys.example.com', host: 'keys.example.com', 'sec-fetch-site': 'same-site' }, false, false],
  [{ origin: 'https://keys.example.com', host: 'keys.example.com', 'sec-fetch-site': 'cross-site' }, true, false],
]

for (const [headers, isTls, expected] of CASES) {
  const name = `${JSON.stringify(headers)} ${isTls ? 'over TLS' : 'in clear'}`
  test(`C10: ${name} is ${expected ? '' : 'not '}of the same origin`, () => {
    assert.equal(isSameOrigin(headers, isTls), expected)
  })
}
