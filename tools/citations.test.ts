import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCitations } from './citations.ts'
import { formatFinding } from './tree.ts'

const PAGES = {
  'docs/threats.md': [
    '# Threats',
    '## 1 Advisories',
    '### 1.1 Keys',
    '| Id | What |',
    '|---|---|',
    '| N-02 | plaintext that nobody verified |',
    '| P-34 | what cannot be recorded |',
    '## What was found',
    '| A7 | a lock-out |',
    '| part 4 | smaller finds |',
    '| L1 to L3 | logins |',
  ].join('\n'),
  'docs/interface.md': '# Interface\n\n## 4 Endpoints\n\n### 4.3 Cryptography\n\n| 7.1 | a batch |\n',
  'docs/decisions/0011-nonces.md': '# 11. Nonces',
  'docs/page.md': '# A page\n\n## `GET /v1/x`: it, and more\n\n## Twice\n\n## Twice\n\n```sh\n# no heading\n```\n',
}

const ELSEWHERE = ['src/lib/a.ts', 'docs/api']

function check(path: string, text: string): string[] {
  const tree = new Map(Object.entries({ ...PAGES, [path]: text }))
  return checkCitations(tree, (asked) => ELSEWHERE.includes(asked)).map(formatFinding)
}

test('the pages that the cases cite cite nothing wrong themselves', () => {
  assert.deepEqual(check('src/a.ts', ''), [])
})

test('an id has one row', () => {
  const tree = new Map([['docs/threats.md', '| Id | What |\n|---|---|\n| A7 | a |\n| A8 | b |\n| A7 | c |\n']])
  assert.deepEqual(checkCitations(tree, () => false).map(formatFinding), [
    'docs/threats.md:5: A7 has a row already: take the next free number',
  ])
})

const ALLOWED = [
  { name: 'an id of a comment', path: 'src/a.ts', text: '// What `update` gave is not authenticated (threats N-02).' },
  { name: 'a range of ids', path: 'src/a.ts', text: '// threats N-02 to P-34' },
  { name: 'what only looks like an id', path: 'src/a.ts', text: `const a = ['P-256', 'XN-99', 'N-999', 'a-N-99-b']` },
  { name: 'an id at the head of a test', path: 'src/a.test.ts', text: `test('P-34, N-02: nothing happens', () => {})` },
  { name: 'a row at the head of a test', path: 'src/a.test.ts', text: 'test(`A7: a lock-out`, () => {})' },
  { name: 'a row behind a row', path: 'src/a.test.ts', text: `test('L3, A7: L1: a login', () => {})` },
  { name: 'a part at the head of a test', path: 'src/a.test.ts', text: `test('part 4: a CMAC', () => {})` },
  { name: 'a row in a table of cases', path: 'test/a.ts', text: `{ name: 'L2: a login' }` },
  { name: 'a case that has a letter', path: 'test/a.ts', text: `test('L2 b: a login', () => {})` },
  { name: 'the name of a curve', path: 'test/a.ts', text: `test('X25519 keys, U+0041, and a row', () => {})` },
  { name: 'a heading of the threats', path: 'src/a.ts', text: '// threats 1.1; Threats part 1' },
  { name: 'sections of the interface', path: 'src/a.ts', text: '// Interface 4.3 and 7.1; Interface 4, 4.3' },
  { name: 'a decision', path: 'docs/b.md', text: '[decision 11](decisions/0011-nonces.md), decision 0011' },
  { name: 'a public document', path: 'src/a.ts', text: '// RFC 8439 section 2.8, NIST SP 800-38D section 8.3' },
  { name: 'a page', path: 'src/a.ts', text: '// docs/page.md says so' },
  { name: 'a place in a page', path: 'src/a.ts', text: '// docs/page.md#twice-1' },
  { name: 'a heading in code', path: 'docs/b.md', text: '[x](page.md#get-v1x-it-and-more)' },
  { name: 'a place in the same page', path: 'docs/b.md', text: '# Here it is\n[x](#here-it-is)' },
  { name: 'a file beside the pages', path: 'docs/b.md', text: '[x](../src/lib/a.ts), [y](api/)' },
  { name: 'a file in a comment', path: 'src/b.ts', text: '// src/lib/a.ts says so' },
  { name: 'a file in the text of a page', path: 'docs/b.md', text: '`src/lib/a.ts`, `docs/api/`, `src/**/*.test.ts`' },
  { name: 'files of a test that makes its own', path: 'src/b.test.ts', text: `['src/none.ts', 'docs/none.md']` },
  { name: 'a file that the reader is to make', path: 'docs/b.md', text: '`src/cli/commands/NAME.ts`, `src/ROOM/`' },
  { name: 'a case in a page', path: 'docs/b.md', text: '`a.test.ts` (L1, L3)' },
  { name: 'an address', path: 'docs/b.md', text: '[x](https://www.rfc-editor.org/rfc/rfc9325#section-1)' },
  { name: 'a page in a test that makes its own', path: 'tools/citations.test.ts', text: '// docs/none.md, N-99' },
]

for (const { name, path, text } of ALLOWED) {
  test(`citations allow ${name}`, () => {
    assert.deepEqual(check(path, text), [])
  })
}

const REFUSED = [
  {
    name: 'an id without a row',
    path: 'src/a.ts',
    text: '\n// threats Q-99',
    finding: 'src/a.ts:2: Q-99 has no row in docs/threats.md: give it one, or cite another',
  },
  {
    name: 'an id without a row at the head of a test',
    path: 'src/a.test.ts',
    text: `test('P-34, P-35: nothing happens', () => {})`,
    finding: 'src/a.test.ts:1: P-35 has no row in docs/threats.md: give it one, or cite another',
  },
  {
    name: 'an id without a row in a page',
    path: 'docs/b.md',
    text: '| B-18 | no |',
    finding: 'docs/b.md:1: B-18 has no row in docs/threats.md: give it one, or cite another',
  },
  {
    name: 'a row that nobody wrote',
    path: 'src/a.test.ts',
    text: `test('A7, A8: a lock-out', () => {})`,
    finding: 'src/a.test.ts:1: A8 has no row in docs/threats.md: give it one at the end of the page',
  },
  {
    name: 'a row without a colon',
    path: 'src/a.test.ts',
    text: 'test(`I20 a store forgets`, () => {})',
    finding: 'src/a.test.ts:1: I20 has no row in docs/threats.md: give it one at the end of the page',
  },
  {
    name: 'a number beyond a series',
    path: 'test/a.ts',
    text: `  { name: 'L4: a login' },`,
    finding: 'test/a.ts:1: L4 has no row in docs/threats.md: give it one at the end of the page',
  },
  {
    name: 'a part that nobody wrote',
    path: 'test/a.ts',
    text: `test('part 5: a client', () => {})`,
    finding: 'test/a.ts:1: part 5 has no row in docs/threats.md: give it one at the end of the page',
  },
  {
    name: 'a row of a paper at the head of a test',
    path: 'src/a.test.ts',
    text: `test('row 16: convergent keys', () => {})`,
    finding: 'src/a.test.ts:1: "row 16" is a row of a paper that is not here: say what the test is about',
  },
  {
    name: 'a heading that the threats do not have',
    path: 'src/a.ts',
    text: '// threats part 9',
    finding: 'src/a.ts:1: docs/threats.md has no heading 9: cite one that it has',
  },
  {
    name: 'a section that the interface does not have',
    path: 'src/a.ts',
    text: '/** Interface 4.9. */',
    finding: 'src/a.ts:1: docs/interface.md has no section 4.9: give it one, or cite another',
  },
  {
    name: 'the second of two sections',
    path: 'docs/b.md',
    text: '(Interface 4.3 and 7.2)',
    finding: 'docs/b.md:1: docs/interface.md has no section 7.2: give it one, or cite another',
  },
  {
    name: 'a decision that is no record',
    path: 'src/a.ts',
    text: '// Decisions 4.25, and what follows',
    finding: 'src/a.ts:1: docs/decisions has no record 4.25: cite one that is there, or give the reason itself',
  },
  {
    name: 'a record that nobody wrote',
    path: 'src/a.ts',
    text: '// decision 12',
    finding: 'src/a.ts:1: docs/decisions has no record 12: cite one that is there, or give the reason itself',
  },
  {
    name: 'a row of a paper',
    path: 'src/a.ts',
    text: `'one sentence (transit.md trap 40)'`,
    finding:
      'src/a.ts:1: "transit.md trap 40" is a paper that is not here: give the reason itself, an RFC, or a page of docs',
  },
  {
    name: 'a section of a paper',
    path: 'src/a.ts',
    text: `'28 characters (core.md 2.2)'`,
    finding: 'src/a.ts:1: "core.md 2.2" is a paper that is not here: give the reason itself, an RFC, or a page of docs',
  },
  {
    name: 'a section of a reference',
    path: 'src/a.ts',
    text: '// (transit reference 3.3, 3.4)',
    finding:
      'src/a.ts:1: "reference 3.3" is a paper that is not here: give the reason itself, an RFC, or a page of docs',
  },
  {
    name: 'a paper by its path',
    path: 'docs/b.md',
    text: 'see shared/design',
    finding: 'docs/b.md:1: shared/design is no part of the repository: give the reason itself, or a page of docs',
  },
  {
    name: 'a page that is not there',
    path: 'src/a.ts',
    text: '// docs/none.md',
    finding: 'src/a.ts:1: docs/none.md is not there: cite a file that is',
  },
  {
    name: 'a place that a page does not have',
    path: 'src/a.ts',
    text: '// docs/page.md#no-heading',
    finding: 'src/a.ts:1: docs/page.md has no heading #no-heading: cite one that it has',
  },
  {
    name: 'a file that is gone',
    path: 'src/b.ts',
    text: '// as src/lib/none.ts has it',
    finding: 'src/b.ts:1: src/lib/none.ts is not there: cite a file that is',
  },
  {
    name: 'a page that is gone, in a comment of a test',
    path: 'src/b.test.ts',
    text: `// docs/page.md says so\n'a' // docs/none.md`,
    finding: 'src/b.test.ts:2: docs/none.md is not there: cite a file that is',
  },
  {
    name: 'a folder that is gone',
    path: 'docs/b.md',
    text: 'Kept in `src/none/`.',
    finding: 'docs/b.md:1: src/none is not there: cite a file that is',
  },
  {
    name: 'a case that nobody wrote',
    path: 'docs/b.md',
    text: '`a.test.ts` (L1, L4)',
    finding: 'docs/b.md:1: L4 has no row in docs/threats.md: give it one at the end of the page',
  },
  {
    name: 'a link to nothing',
    path: 'docs/b.md',
    text: '[x](../docs/none.md)',
    finding: 'docs/b.md:1: docs/none.md is not there: cite a file that is',
  },
  {
    name: 'a link to no heading of the same page',
    path: 'docs/b.md',
    text: '# Here\n[x](#there)',
    finding: 'docs/b.md:2: docs/b.md has no heading #there: cite one that it has',
  },
]

for (const { name, path, text, finding } of REFUSED) {
  test(`citations refuse ${name}`, () => {
    assert.deepEqual(check(path, text), [finding])
  })
}
