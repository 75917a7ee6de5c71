import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Namespace, ROOT } from '../api/namespace.ts'
import { DEFAULT_QUOTA_CONFIG, type RateQuota } from './quota.ts'
import { type CountedAs, QuotaRules } from './quota-rules.ts'

const below = (parent: Namespace, name: string): Namespace => ({
  ...ROOT,
  id: name,
  name,
  parent,
  path: `${parent.path}${name}/`,
})
const team = below(ROOT, 'team')
const inner = below(team, 'inner')
const innermost = below(inner, 'innermost')
const beside = below(ROOT, 'beside')

type Given = Partial<Pick<RateQuota, 'mount' | 'namespace' | 'path' | 'role' | 'inheritable'>>
const quota = (name: string, given: Given): RateQuota => ({
  format: 1,
  name,
  id: name,
  mount: '',
  path: '',
  role: '',
  rate: 1,
  secondaryRate: 1,
  intervalSeconds: 60,
  blockSeconds: 0,
  groupBy: 'ip',
  inheritable: false,
  ...given,
})
const rulesOf = (...quotas: readonly RateQuota[]) => new QuotaRules(quotas, DEFAULT_QUOTA_CONFIG)
const request = (namespace: Namespace, given: Partial<CountedAs> = {}): CountedAs => ({
  namespace,
  mount: '',
  mountPath: '',
  path: '',
  spelling: undefined,
  role: undefined,
  ...given,
})
const counting = (rules: QuotaRules, namespace: Namespace, given?: Partial<CountedAs>): string | undefined =>
  rules.find(request(namespace, given))?.name

const LOGIN = { mount: 'm', mountPath: 'team/auth/up/', path: 'login/ann', role: 'ann' }

test('role, path, mount, namespace, and those around it: the first that there is counts, alone', () => {
  const all = [
    quota('role', { mount: 'm', role: 'ann' }),
    quota('path', { mount: 'm', path: 'login/*' }),
    quota('mount', { mount: 'm' }),
    quota('namespace', { namespace: 'inner' }),
    quota('around', { namespace: 'team', inheritable: true }),
    quota('root', { inheritable: true }),
  ]
  const found = all.map((_, from) => counting(rulesOf(...all.slice(from)), inner, LOGIN))
  assert.deepEqual(found, ['role', 'path', 'mount', 'namespace', 'around', 'root'])
})

test('a quota that is not inheritable counts in its namespace alone, and hides none further out', () => {
  const rules = rulesOf(
    quota('outer', { namespace: 'team', inheritable: true }),
    quota('inner', { namespace: 'inner' }),
  )
  assert.deepEqual(
    [team, inner, innermost, beside, ROOT].map((namespace) => counting(rules, namespace)),
    ['outer', 'inner', 'outer', undefined, undefined],
  )
})

test('the quota of the root counts in others only where it is inheritable', () => {
  for (const inheritable of [true, false]) {
    const rules = rulesOf(quota('root', { inheritable }))
    const expected = inheritable ? 'root' : undefined
    assert.deepEqual([counting(rules, ROOT), counting(rules, innermost)], ['root', expected])
  }
})
