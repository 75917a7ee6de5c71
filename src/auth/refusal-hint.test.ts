import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT } from '../api/namespace.ts'
import { buildAcl } from './acl.ts'
import { parsePolicy } from './policy.ts'
import { refusalHint } from './refusal-hint.ts'

const ANYWHERE = { isKnownToAll: false, namespace: ROOT, dependsOnExistence: true }

function hintOf(rule: string, isUnread: boolean | undefined): string {
  const acl = buildAcl([{ name: 'p', namespace: '', rules: parsePolicy(`path "a" { ${rule} }`).rules }])
  const request = { operation: 'create', path: 'a', isUnread } as const
  assert.equal(acl.check(request).allowed, false)
  return refusalHint(acl, request, ANYWHERE)
}

test('A-10: a hint names the one of create and update only where the other would surely have been done', () => {
  const free = 'capabilities = ["update"]'
  const judged = 'capabilities = ["update"] required_parameters = ["x"]'
  for (const isUnread of [true, false, undefined]) {
    assert.equal(hintOf(free, isUnread), 'this token needs the capability "create" on "a"')
    assert.equal(hintOf(judged, isUnread), 'this token needs the capability "create" or "update" on "a"')
  }
})
