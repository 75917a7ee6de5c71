import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseExactText } from './exact-json.ts'
import { formatYaml } from './yaml.ts'

for (const { name, json, yaml } of [
  { name: 'members', json: '{"a":1,"b":"x y","c":true,"d":null}', yaml: 'a: 1\nb: x y\nc: true\nd: null\n' },
  {
    name: 'lists and objects inside',
    json: '{"a":{"b":{"c":1}},"d":[1,[2,3],{"e":4,"f":[5]}]}',
    yaml: 'a:\n  b:\n    c: 1\nd:\n- 1\n- - 2\n  - 3\n- e: 4\n  f:\n  - 5\n',
  },
  { name: 'empty ones', json: '{"a":[],"b":{},"c":""}', yaml: 'a: []\nb: {}\nc: ""\n' },
  { name: 'a list alone', json: '["a","b/"]', yaml: '- a\n- b/\n' },
  { name: 'a text alone', json: '"a"', yaml: 'a\n' },
  { name: 'exact numbers', json: '{"a":18446744073709551615}', yaml: 'a: 18446744073709551615\n' },
  {
    name: 'texts that look like something else',
    json:
      '["1","null","Yes","no","~","a: b","#a","- a","a\\nb","2026-01-02","1h","*","%a","!a"," a","a #b",".inf",' +
      '"y"]',
    yaml:
      '- "1"\n- "null"\n- "Yes"\n- "no"\n- "~"\n- "a: b"\n- "#a"\n- "- a"\n- "a\\nb"\n- "2026-01-02"\n- "1h"\n- "*"\n' +
      '- "%a"\n- "!a"\n- " a"\n- "a #b"\n- ".inf"\n- "y"\n',
  },
]) {
  test(`yaml: ${name}`, () => assert.equal(formatYaml(parseExactText(json) ?? null), yaml))
}
