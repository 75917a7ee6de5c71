import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { fencedBlocks, firstMissing } from './fenced-blocks.ts'

test('fenced blocks come with their language and line', () => {
  const page = 'a\n```sh\necho `date`\n\nls\n```\ntext\n```\n# no language\n```\n'
  assert.deepEqual(fencedBlocks(page), [
    { language: 'sh', text: 'echo `date`\n\nls', line: 2 },
    { language: '', text: '# no language', line: 8 },
  ])
  assert.throws(() => fencedBlocks('```sh\nls\n'), /line 1 does not end/)
})

const SHOWN: readonly {
  readonly name: string
  readonly shown: string
  readonly output: string
  readonly misses?: string
}[] = [
  { name: 'the same line', shown: 'same', output: 'before\nsame\nbehind' },
  { name: 'part of a line', shown: 'same', output: 'the same', misses: 'same' },
  { name: 'nothing', shown: 'same', output: '', misses: 'same' },
  { name: 'lines in order, others between', shown: 'a\n\nb', output: 'a\nx\nb' },
  { name: 'lines in another order', shown: 'a\nb', output: 'b\na', misses: 'b' },
  { name: 'one line for two', shown: 'a\na', output: 'a', misses: 'a' },
  { name: 'a wildcard at the end', shown: 'vault:v2:…', output: 'vault:v2:abc' },
  { name: 'a wildcard at the start', shown: '… ms', output: 'took 12 ms' },
  { name: 'several wildcards', shown: 'a … b … c', output: 'a 1 b 2 c' },
  { name: 'a wildcard for nothing', shown: 'a…', output: 'a' },
  { name: 'parts that would overlap', shown: 'ab…ba', output: 'aba', misses: 'ab…ba' },
  { name: 'a missing middle', shown: 'a … b … c', output: 'a 1 c', misses: 'a … b … c' },
]

for (const { name, shown, output, misses } of SHOWN) {
  test(`shown output is compared: ${name}`, () => assert.equal(firstMissing(shown, output), misses))
}
