import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ImportGraph, knotFindings, knotsOf } from './import-knots.ts'
import { formatFinding } from './tree.ts'

/** `a > b c` for each file, with a space between names. */
function graphOf(...files: string[]): ImportGraph {
  return new Map(
    files.map((file) => {
      const [path = '', imported = ''] = file.split(' > ')
      return [path, imported.split(' ').filter((one) => one !== '')]
    }),
  )
}

const TWO = graphOf('a > b', 'b > c', 'c > a d', 'd > e', 'e > d', 'f > a e')

const GRAPHS: readonly { readonly name: string; readonly graph: ImportGraph; readonly knots: string[][] }[] = [
  { name: 'no circle', graph: graphOf('a > b c', 'b > d', 'c > d', 'd'), knots: [] },
  { name: 'a file that imports itself', graph: graphOf('a > a'), knots: [] },
  {
    name: 'two that share no file, one below the other',
    graph: TWO,
    knots: [
      ['d', 'e'],
      ['a', 'b', 'c'],
    ],
  },
  { name: 'two circles with a file of both', graph: graphOf('a > b', 'b > a c', 'c > b'), knots: [['a', 'b', 'c']] },
  {
    name: 'a circle that is entered in its middle',
    graph: graphOf('x > b', 'a > b', 'b > c', 'c > a'),
    knots: [['a', 'b', 'c']],
  },
  { name: 'a file that is not there', graph: graphOf('a > b', 'b > z'), knots: [] },
  { name: 'a way back past what is closed', graph: graphOf('a > b c', 'b', 'c > b a'), knots: [['a', 'c']] },
]

for (const { name, graph, knots } of GRAPHS) {
  test(`knots of a graph with ${name}`, () => {
    assert.deepEqual(knotsOf(graph), knots)
  })
}

const BOUNDS: readonly { readonly name: string; readonly known: [string, number][]; readonly findings: string[] }[] = [
  {
    name: 'none is known',
    known: [],
    findings: [
      'd:1: is in a circle of types, of 2 files: d > e > d',
      'a:1: is in a circle of types, of 3 files: a > b > c > a',
    ],
  },
  {
    name: 'each has as many files as it may',
    known: [
      ['c', 3],
      ['e', 2],
    ],
    findings: [],
  },
  {
    name: 'one has more files',
    known: [
      ['c', 2],
      ['e', 2],
    ],
    findings: ['c:1: its circle of types has 3 files, at most 2 may be in it: a > b > c > a'],
  },
  {
    name: 'one has fewer files',
    known: [
      ['c', 4],
      ['e', 2],
    ],
    findings: ['c:1: its circle of types has 3 files: lower the bound to 3'],
  },
  {
    name: 'a file is not there',
    known: [
      ['c', 3],
      ['e', 2],
      ['z', 2],
    ],
    findings: [],
  },
  {
    name: 'one is gone',
    known: [
      ['c', 3],
      ['e', 2],
      ['f', 2],
    ],
    findings: ['f:1: is in no circle of types any longer: take it out of KNOTS'],
  },
]

for (const { name, known, findings } of BOUNDS) {
  test(`the bounds of knots where ${name}`, () => {
    assert.deepEqual(knotFindings(TWO, new Map(known)).map(formatFinding), findings)
  })
}
